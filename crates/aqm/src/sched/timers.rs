//! The earliest update among many algorithms.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use goodqueue_units::Instant;

/// Which flow's algorithm wants its update when. Entries are replaced lazily: an outdated one wakes the owner early, which by
/// contract changes nothing. Empty, and free of cost, for algorithms without timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
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
            self.heap.push(Reverse((due, flow)));
        }
    }

    /// No later than the earliest update.
    #[inline]
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes out a flow whose time has come; it must be asked, and noted again.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<u32> {
        while let Some(&Reverse((due, flow))) = self.heap.peek() {
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
