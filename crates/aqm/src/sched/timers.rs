//! The earliest update among many algorithms.

mod ring;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use goodqueue_base::units::Instant;
use ring::{Ring, bucket};

/// The times of flows' updates. Entries are replaced lazily: an outdated one may
/// wake the owner early, which by contract changes nothing. Empty, and free of cost, for algorithms
/// without timers.
///
/// The earliest stand in a heap and are taken from there in order. With a thousand flows it would
/// be ten levels deep; so those after the earliest one's bucket of time wait in a ring of buckets,
/// in no order, until it is their bucket's turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    later: Ring,
    /// A flow's entry that counts, `Instant::MAX` for none; grown when a flow first asks.
    armed: Vec<Instant>,
}

impl Timers {
    /// Sets the update of flow `flow` to `due`, `None` for never.
    #[inline]
    pub(super) fn note(&mut self, flow: u32, due: Option<Instant>) {
        if let Some(due) = due {
            // The common case: it is known.
            if self.armed.get(flow as usize).is_none_or(|&armed| due < armed) {
                self.arm(flow, due);
            }
        }
    }

    fn arm(&mut self, flow: u32, due: Instant) {
        let index = flow as usize;
        if index >= self.armed.len() {
            self.armed.resize(index + 1, Instant::MAX);
        }
        self.armed[index] = due;
        let is_later = self.next().is_some_and(|first| self.later.takes(flow, bucket(due), bucket(first)));
        if !is_later {
            self.heap.push(Reverse((due, flow)));
        }
    }

    /// Takes memory for `flows` flows.
    pub(super) fn reserve(&mut self, flows: usize) {
        // An entry that a rate change has replaced stays until its time.
        self.heap.reserve(2 * flows);
        self.armed.reserve_exact(flows.saturating_sub(self.armed.len()));
        self.later.reserve(flows);
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
            self.refill();
            let armed = &mut self.armed[flow as usize];
            if *armed == due {
                *armed = Instant::MAX;
                return Some(flow);
            }
        }
        None
    }

    /// Puts buckets into the heap until the earliest of all is there.
    #[inline]
    fn refill(&mut self) {
        while let Some(first) = self.later.first()
            && self.next().is_none_or(|due| bucket(due) >= first)
        {
            let Self { heap, later, armed } = self;
            later.empty_first(|flow| {
                let due = armed[flow as usize];
                // It may have been armed again since, and then is in the heap.
                if bucket(due) == first {
                    heap.push(Reverse((due, flow)));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::{Duration, Rng};
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Takes everything due out of both, which must be the same in the same order.
    fn pop_all(timers: &mut Timers, wanted: &mut BTreeSet<(Instant, u32)>, now: Instant) -> Vec<u32> {
        let mut popped = Vec::new();
        while let Some(flow) = timers.pop_due(now) {
            let first = wanted.pop_first().expect("something is due");
            assert!(first.0 <= now && first.1 == flow, "{flow} instead of {first:?} at {now:?}");
            popped.push(flow);
        }
        assert!(wanted.first().is_none_or(|&(due, _)| due > now));
        popped
    }

    /// Spans from nothing to far more than a ring holds, dues that move forward, steps of time of
    /// all lengths.
    #[test]
    fn entries_come_in_the_order_of_their_times() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let (mut timers, mut wanted) = (Timers::default(), BTreeSet::new());
            let mut now = Instant::from_nanos(rng.below(1 << 40));
            let span = 1 << (4 + rng.below(30));
            let flows = 1 + rng.below(300);
            for _ in 0..3000 {
                let flow = rng.below(flows) as u32;
                let due = now + Duration::ns(rng.below(span));
                let known = wanted.iter().find(|&&(_, known)| known == flow).copied();
                timers.note(flow, Some(due));
                if known.is_none_or(|(before, _)| due < before) {
                    known.map(|entry| wanted.remove(&entry));
                    wanted.insert((due, flow));
                }
                assert!(timers.next() <= wanted.first().map(|&(due, _)| due));
                assert!(timers.next().is_some());
                if rng.fires(0.3) {
                    now += Duration::ns(rng.below(span / 8 + 1));
                    pop_all(&mut timers, &mut wanted, now);
                }
            }
            pop_all(&mut timers, &mut wanted, Instant::MAX);
            assert_eq!((timers.next(), wanted.len()), (None, 0));
        }
    }

    #[test]
    fn at_one_time_flows_come_by_their_numbers() {
        let (mut timers, mut wanted) = (Timers::default(), BTreeSet::new());
        let due = Instant::from_nanos(16_000_000);
        timers.note(500, Some(Instant::from_nanos(1)));
        wanted.insert((Instant::from_nanos(1), 500));
        for flow in (0..400).rev() {
            timers.note(flow, Some(due));
            wanted.insert((due, flow));
        }
        assert_eq!(timers.heap.len(), 1, "the others are in the ring");
        let popped = pop_all(&mut timers, &mut wanted, due);
        assert!(popped[1..].iter().copied().eq(0..400));
    }
}
