//! The earliest update among many algorithms.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use goodqueue_units::Instant;

/// A time, and a flow in the lower 32 bits: one number, as a heap guesses the outcome of two comparisons wrong too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alarm(u128);

impl Alarm {
    #[inline]
    fn new(due: Instant, flow: u32) -> Self {
        Self(u128::from(due.as_nanos()) << 32 | u128::from(flow))
    }

    #[inline]
    fn due(self) -> Instant {
        Instant::from_nanos((self.0 >> 32) as u64)
    }

    #[inline]
    const fn flow(self) -> u32 {
        self.0 as u32
    }
}

/// Which flow's algorithm wants its update when. Entries are replaced lazily: an outdated one wakes the owner early, which by
/// contract changes nothing. Empty, and free of cost, for algorithms without timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<Alarm>>,
    /// A flow's entry in the heap that counts, `Instant::MAX` for none; grown when a flow first asks.
    armed: Vec<Instant>,
}

impl Timers {
    /// Flow `flow` wants its update at `due`, `None` for never.
    #[inline]
    pub(super) fn note(&mut self, flow: u32, due: Option<Instant>) {
        if let Some(due) = due {
            self.arm(flow, due);
        }
    }

    fn arm(&mut self, flow: u32, due: Instant) {
        let index = flow as usize;
        if index >= self.armed.len() {
            self.armed.resize(index + 1, Instant::MAX);
        }
        if due < self.armed[index] {
            self.armed[index] = due;
            self.heap.push(Reverse(Alarm::new(due, flow)));
        }
    }

    /// No later than the earliest update.
    #[inline]
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(alarm)| alarm.due())
    }

    /// Takes out a flow whose time has come; it must be asked, and noted again.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<u32> {
        while let Some(&Reverse(alarm)) = self.heap.peek() {
            let (due, flow) = (alarm.due(), alarm.flow());
            if due > now {
                return None;
            }
            self.heap.pop();
            let armed = &mut self.armed[flow as usize];
            if *armed == due {
                *armed = Instant::MAX;
                return Some(flow);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn flows_come_by_their_times_and_numbers_in_whatever_order_they_ask() {
        let at = |ns| Instant::from_nanos(ns);
        let mut timers = Timers::default();
        for (flow, due) in [(3, 50), (1, 20), (2, 50), (4, 60), (5, 55), (0, 50)] {
            timers.note(flow, Some(at(due)));
        }
        // A flow that asks for less than before counts from then on, one that asks for more from its first time on.
        timers.note(4, Some(at(10)));
        timers.note(1, Some(at(70)));
        assert_eq!(timers.next(), Some(at(10)));
        assert_eq!(timers.pop_due(at(9)), None);
        let order: Vec<u32> = core::iter::from_fn(|| timers.pop_due(at(100))).collect();
        assert_eq!(order, [4, 1, 0, 2, 3, 5]);
        assert_eq!(timers.next(), None);
    }
}
