//! The mapping of a flow's number to its place in a table.

use crate::aqm::FlowHash;
use alloc::vec::Vec;

const FREE: u32 = u32::MAX;

/// A hash table with open addressing, at most half full, whose order nothing depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowIndex {
    /// (flow, place in the table), [`FREE`] where there is no flow; a power of two of them.
    slots: Vec<(u32, u32)>,
    used: usize,
}

impl FlowIndex {
    #[inline]
    fn place(&self, flow: FlowHash) -> usize {
        // Numbered flows differ in a few low bits; a multiplication spreads them over the upper
        // ones.
        let hash = u64::from(flow.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    /// The slot of a flow.
    #[inline]
    fn find(&self, flow: FlowHash) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.place(flow);
        loop {
            match self.slots[at] {
                (_, FREE) => return None,
                (known, _) if known == flow.0 => return Some(at),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, flow: FlowHash) -> Option<u32> {
        self.find(flow).map(|at| self.slots[at].1)
    }

    /// Takes memory for `flows` flows.
    pub(super) fn reserve(&mut self, flows: usize) {
        self.resize((flows * 2 + 1).next_power_of_two());
    }

    fn resize(&mut self, slots: usize) {
        if slots > self.slots.len() {
            let old = core::mem::replace(&mut self.slots, alloc::vec![(0, FREE); slots]);
            old.into_iter().filter(|slot| slot.1 != FREE).for_each(|(flow, queue)| self.put(FlowHash(flow), queue));
        }
    }

    /// Adds a flow that is not there yet.
    pub(super) fn insert(&mut self, flow: FlowHash, queue: u32) {
        if self.used * 2 >= self.slots.len() {
            self.resize((self.slots.len() * 2).max(16));
        }
        self.put(flow, queue);
        self.used += 1;
    }

    fn put(&mut self, flow: FlowHash, queue: u32) {
        let mut at = self.place(flow);
        while self.slots[at].1 != FREE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = (flow.0, queue);
    }

    /// Forgets a flow. Those behind it that would no longer be found move up.
    pub(super) fn remove(&mut self, flow: FlowHash) {
        let Some(mut gap) = self.find(flow) else { return };
        let last = self.slots.len() - 1;
        self.used -= 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            let (other, queue) = self.slots[at];
            if queue == FREE {
                self.slots[gap].1 = FREE;
                return;
            }
            // As far from its first choice as from the gap, or farther: the gap is on its way.
            let wanted = self.place(FlowHash(other));
            if at.wrapping_sub(wanted) & last >= at.wrapping_sub(gap) & last {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_is_found_again() {
        let mut index = FlowIndex::default();
        assert_eq!(index.get(FlowHash(7)), None);
        let flows = || (0..5_000u32).map(|n| n.wrapping_mul(0x1234_5679));
        flows().enumerate().for_each(|(queue, flow)| index.insert(FlowHash(flow), queue as u32));
        assert!(flows().enumerate().all(|(queue, flow)| index.get(FlowHash(flow)) == Some(queue as u32)));
        assert_eq!(index.get(FlowHash(3)), None);
    }

    #[test]
    fn removed_flows_are_gone_and_others_are_found() {
        let mut index = FlowIndex::default();
        index.reserve(500);
        let flow = |n: u32| FlowHash(n.wrapping_mul(0x1234_5679));
        (0..500).for_each(|n| index.insert(flow(n), n));
        for n in 500..5_000 {
            index.remove(flow(n - 500));
            index.insert(flow(n), n);
        }
        assert!((0..4_500).all(|n| index.get(flow(n)).is_none()));
        assert!((4_500..5_000).all(|n| index.get(flow(n)) == Some(n)));
        assert_eq!(index.slots.len(), 1024);
    }
}
