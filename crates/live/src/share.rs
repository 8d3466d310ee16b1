//! Limits the share of a processor that the thread that moves packets takes.

use crate::sys::scheduling;
use goodqueue_base::units::{Duration, Instant};

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::ms(1);
/// A real-time thread leaves a sixteenth of its processor to others. Linux gives those a twentieth
/// of each second in any case, but in one piece: 50 ms in which no packet moves. What they get bit
/// by bit counts.
const LEFT: u64 = 16;
/// Shorter sleeps are not worth their price.
const MIN: Duration = Duration::us(40);

/// Counts what the thread uses, so that it sleeps before it is put to sleep.
#[derive(Debug)]
pub(crate) struct Share {
    looked: Instant,
    /// Processor time of the thread then.
    used: Duration,
    debt: Duration,
}

impl Share {
    /// `None` for a thread that shares its processor anyway.
    pub(crate) fn of_this_thread(now: Instant) -> Option<Self> {
        scheduling::is_real_time().then(|| Self { looked: now, used: scheduling::thread_time(), debt: Duration::ZERO })
    }

    /// Returns how long the thread ought to sleep now: zero except for threads that hardly ever
    /// sleep.
    #[inline]
    pub(crate) fn owed(&mut self, now: Instant) -> Duration {
        let elapsed = now.since(self.looked);
        if elapsed < LOOK_EVERY { Duration::ZERO } else { self.look(now, elapsed, scheduling::thread_time()) }
    }

    #[cold]
    fn look(&mut self, now: Instant, elapsed: Duration, used: Duration) -> Duration {
        self.debt = (self.debt + used.saturating_sub(self.used)).saturating_sub(elapsed.saturating_sub(elapsed.div(LEFT)));
        (self.looked, self.used) = (now, used);
        if self.debt < MIN { Duration::ZERO } else { self.debt }
    }
}

#[cfg(test)]
mod tests {
    use super::Share;
    use goodqueue_base::units::{Duration, Instant};

    /// The share of CPU time of a thread that sleeps when `Share` asks it to and otherwise is
    /// awake for `busy` of each millisecond.
    fn part_used(busy: Duration) -> f64 {
        let mut share = Share { looked: Instant::ZERO, used: Duration::ZERO, debt: Duration::ZERO };
        let (mut now, mut used) = (Instant::ZERO, Duration::ZERO);
        let mut longest = Duration::ZERO;
        for _ in 0..1000 {
            now += Duration::ms(1);
            used += busy;
            let owed = share.look(now, now.since(share.looked), used);
            longest = longest.max(owed);
            now += owed;
        }
        assert!(longest <= Duration::us(130), "{longest:?}");
        used.as_secs_f64() / now.since(Instant::ZERO).as_secs_f64()
    }

    #[test]
    fn a_thread_that_never_sleeps_is_told_to() {
        assert!(part_used(Duration::ms(1)) < 0.95);
        // And loses no more than that.
        assert!(part_used(Duration::ms(1)) > 0.93);
    }

    #[test]
    fn others_are_left_alone() {
        assert!((part_used(Duration::us(900)) - 0.9).abs() < 1e-9);
    }
}
