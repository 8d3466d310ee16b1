//! Pacing: the time at which the next segment may leave.
//!
//! A segment of `n` bytes payload moves the release of the next one by `n / rate`. A segment that
//! leaves later than it might have shortens the next gap by its lateness, by half at most, so that
//! late timers do not slow a flow down. The first ten segments of a connection are not held back. A
//! control may ask for *bursts*: several segments leave at one release, like those that a sender
//! hands to its network card in one piece, and the gap after them is that of all. A burst ends
//! early where the window or the data does. A retransmission is a burst of its own. *Source*: Linux
//! 6.12 (fair queue scheduler, internal pacing, `tcp_xmit_retransmit_queue`).

use goodqueue_base::units::{Bytes, Rate};

/// Segments that leave unpaced at the start.
const UNPACED: u32 = 10;

/// Release times of one connection, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next: u64,
    sent: u32,
    /// Segments that may still leave with the one before, and what is left of its lateness.
    companions: u32,
    credit: u64,
}

impl Pacer {
    /// Nothing leaves before this time.
    pub(crate) const fn next_release(&self) -> u64 {
        if self.companions > 0 { 0 } else { self.next }
    }

    /// Records that a segment leaves, in a burst of at most `burst` segments.
    pub(crate) fn on_sent(&mut self, now: u64, payload: u32, rate: Option<Rate>, burst: u32) {
        if self.companions > 0 {
            self.companions -= 1;
        } else {
            self.companions = burst.saturating_sub(1);
            self.credit = now.saturating_sub(self.next);
            self.next = self.next.max(now);
        }
        let warm = self.sent >= UNPACED;
        self.sent = self.sent.saturating_add(1);
        if let Some(rate) = rate
            && warm
            && !rate.is_zero()
        {
            let gap = rate.transmission_time(Bytes::new(u64::from(payload))).as_nanos();
            let used = self.credit.min(gap / 2);
            self.credit -= used;
            self.next = self.next.saturating_add(gap - used);
        }
    }

    /// Nothing more leaves for now.
    pub(crate) const fn end_burst(&mut self) {
        self.companions = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: u64 = 1_000_000;

    fn warm() -> Pacer {
        Pacer { sent: UNPACED, ..Pacer::default() }
    }

    #[test]
    fn the_first_ten_leave_at_once() {
        let mut pacer = Pacer::default();
        for _ in 0..10 {
            pacer.on_sent(5, 1_000, Some(Rate::mbit(8)), 1);
            assert_eq!(pacer.next_release(), 5);
        }
        pacer.on_sent(5, 1_000, Some(Rate::mbit(8)), 1);
        assert_eq!(pacer.next_release(), 5 + GAP);
    }

    #[test]
    fn punctual_segments_leave_at_the_rate() {
        let mut pacer = warm();
        for number in 0..10 {
            pacer.on_sent(number * GAP, 1_000, Some(Rate::mbit(8)), 1);
            assert_eq!(pacer.next_release(), (number + 1) * GAP);
        }
    }

    #[test]
    fn lateness_is_made_up_for_within_half_a_gap() {
        let mut pacer = warm();
        pacer.on_sent(0, 1_000, Some(Rate::mbit(8)), 1);
        pacer.on_sent(GAP + 10, 1_000, Some(Rate::mbit(8)), 1);
        assert_eq!(pacer.next_release(), 2 * GAP);
        pacer.on_sent(100 * GAP, 1_000, Some(Rate::mbit(8)), 1);
        assert_eq!(pacer.next_release(), 100 * GAP + GAP / 2);
    }

    #[test]
    fn burst_leaves_at_once_and_the_next_after_its_whole_time() {
        let mut pacer = warm();
        pacer.on_sent(0, 1_000, Some(Rate::mbit(8)), 2);
        assert_eq!(pacer.next_release(), 0, "its companion may leave");
        pacer.on_sent(0, 1_000, Some(Rate::mbit(8)), 2);
        assert_eq!(pacer.next_release(), 2 * GAP);
    }

    #[test]
    fn a_burst_cut_short_counts_what_has_left() {
        let mut pacer = warm();
        pacer.on_sent(0, 1_000, Some(Rate::mbit(8)), 2);
        pacer.end_burst();
        assert_eq!(pacer.next_release(), GAP);
    }

    #[test]
    fn a_late_burst_makes_up_for_half_of_its_own_time() {
        let mut pacer = warm();
        pacer.on_sent(100 * GAP, 1_000, Some(Rate::mbit(8)), 2);
        pacer.on_sent(100 * GAP, 1_000, Some(Rate::mbit(8)), 2);
        assert_eq!(pacer.next_release(), 101 * GAP);
    }
}
