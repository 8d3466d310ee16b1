//! Pacing: when the next segment may leave.
//!
//! A segment of `n` bytes payload moves the release of the next one by `n / rate`. A segment that leaves later than it might have shortens the next
//! gap by its lateness, by half at most, so that late timers do not slow a flow down. The first ten segments of a connection are not held back.
//! *Source*: Linux 6.12 (fair queue scheduler and internal pacing).

use goodqueue_units::{Bytes, Rate};

/// Segments that leave unpaced at the start.
const UNPACED: u32 = 10;

/// Release times of one connection, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next: u64,
    sent: u32,
}

impl Pacer {
    /// Nothing leaves before this time.
    pub(crate) const fn next_release(&self) -> u64 {
        self.next
    }

    /// A segment leaves.
    pub(crate) fn on_sent(&mut self, now: u64, payload: u32, rate: Option<Rate>) {
        let late = now.saturating_sub(self.next);
        self.next = self.next.max(now);
        let warm = self.sent >= UNPACED;
        self.sent = self.sent.saturating_add(1);
        if let Some(rate) = rate
            && warm
            && !rate.is_zero()
        {
            let gap = rate.transmission_time(Bytes::new(u64::from(payload))).as_nanos();
            self.next = self.next.saturating_add(gap - late.min(gap / 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: u64 = 1_000_000;

    fn warm() -> Pacer {
        Pacer { next: 0, sent: UNPACED }
    }

    #[test]
    fn the_first_ten_leave_at_once() {
        let mut pacer = Pacer::default();
        for _ in 0..10 {
            pacer.on_sent(5, 1_000, Some(Rate::mbit(8)));
            assert_eq!(pacer.next_release(), 5);
        }
        pacer.on_sent(5, 1_000, Some(Rate::mbit(8)));
        assert_eq!(pacer.next_release(), 5 + GAP);
    }

    #[test]
    fn punctual_segments_leave_at_the_rate() {
        let mut pacer = warm();
        for number in 0..10 {
            pacer.on_sent(number * GAP, 1_000, Some(Rate::mbit(8)));
            assert_eq!(pacer.next_release(), (number + 1) * GAP);
        }
    }

    #[test]
    fn lateness_is_made_up_for_within_half_a_gap() {
        let mut pacer = warm();
        pacer.on_sent(0, 1_000, Some(Rate::mbit(8)));
        pacer.on_sent(GAP + 10, 1_000, Some(Rate::mbit(8)));
        assert_eq!(pacer.next_release(), 2 * GAP);
        pacer.on_sent(100 * GAP, 1_000, Some(Rate::mbit(8)));
        assert_eq!(pacer.next_release(), 100 * GAP + GAP / 2);
    }
}
