//! The event queue: 16-byte keys ordered by (time, sequence).
//!
//! A key packs 64 bits of time, 40 bits of sequence number and 24 bits of target, so that one 128-bit comparison orders two
//! events and ties are broken by the order in which they were scheduled. Lanes and transmitters schedule a few events that are
//! due very soon, hosts schedule many timers that are due much later and mostly never matter: so the earliest few dozen events
//! stand in a sorted array, where a new one moves a handful of places, and the rest wait in a heap.

use goodqueue_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What an event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The first packet of a lane reaches the lane's end.
    Lane(u32),
    /// A transmitter may send its next packet.
    Service(u32),
    /// A queue's own timer.
    QueueTimer(u32),
    /// A sender's timer.
    SenderTimer(u32),
    /// A receiver's timer.
    ReceiverTimer(u32),
    /// A UDP source sends its next packet.
    Source(u32),
    /// Something that happens rarely; an index into the world's list.
    Control(u32),
}

const INDEX_BITS: u32 = 21;
const TARGET_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 64 - TARGET_BITS;

/// Largest index a target may have.
pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

impl Target {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, index) = match self {
            Self::Lane(i) => (0, i),
            Self::Service(i) => (1, i),
            Self::QueueTimer(i) => (2, i),
            Self::SenderTimer(i) => (3, i),
            Self::ReceiverTimer(i) => (4, i),
            Self::Source(i) => (5, i),
            Self::Control(i) => (6, i),
        };
        debug_assert!(index <= MAX_INDEX);
        (kind << INDEX_BITS) | u64::from(index)
    }

    #[inline]
    fn unpack(bits: u64) -> Self {
        let index = (bits & u64::from(MAX_INDEX)) as u32;
        match (bits >> INDEX_BITS) & 0b111 {
            0 => Self::Lane(index),
            1 => Self::Service(index),
            2 => Self::QueueTimer(index),
            3 => Self::SenderTimer(index),
            4 => Self::ReceiverTimer(index),
            5 => Self::Source(index),
            _ => Self::Control(index),
        }
    }
}

/// Pending events in order of time, ties in order of scheduling.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    /// The earliest events, latest first; every one of them is earlier than all of `far`.
    near: Vec<u128>,
    far: BinaryHeap<Reverse<u128>>,
    /// The earliest of `far`, or `MAX`.
    far_first: u128,
    sequence: u64,
}

/// Most events kept sorted; beyond it the later half moves to the heap.
const NEAR_MOST: usize = 24;
/// Events fetched from the heap at once when none is left in the sorted part.
const REFILL: usize = 12;

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { near: Vec::with_capacity(NEAR_MOST + 1), far: BinaryHeap::new(), far_first: u128::MAX, sequence: 0 }
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn schedule(&mut self, at: Instant, target: Target) {
        let sequence = self.sequence & ((1 << SEQUENCE_BITS) - 1);
        self.sequence += 1;
        let key = u128::from(at.as_nanos()) << 64 | u128::from(sequence << TARGET_BITS | target.pack());
        if key > self.far_first {
            self.far.push(Reverse(key));
            return;
        }
        self.near.push(key);
        let near = &mut self.near[..];
        let mut place = near.len() - 1;
        while place > 0 && near[place - 1] < key {
            near[place] = near[place - 1];
            place -= 1;
        }
        near[place] = key;
        if self.near.len() > NEAR_MOST {
            self.spill();
        }
    }

    #[cold]
    fn spill(&mut self) {
        self.far.extend(self.near.drain(..NEAR_MOST / 2).map(Reverse));
        self.far_first = self.far.peek().map_or(u128::MAX, |key| key.0);
    }

    #[cold]
    fn refill(&mut self) {
        for _ in 0..REFILL {
            let Some(Reverse(key)) = self.far.pop() else { break };
            self.near.push(key);
        }
        self.near.reverse();
        self.far_first = self.far.peek().map_or(u128::MAX, |key| key.0);
    }

    /// Takes the earliest event if it is not later than `until`.
    #[inline]
    pub(crate) fn take(&mut self, until: Instant) -> Option<(Instant, Target)> {
        if self.near.is_empty() {
            self.refill();
        }
        let first = *self.near.last()?;
        let at = Instant::from_nanos((first >> 64) as u64);
        if at > until {
            return None;
        }
        self.near.pop();
        Some((at, Target::unpack(first as u64 & ((1 << TARGET_BITS) - 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rng;

    #[test]
    fn events_come_in_order_of_time_then_of_scheduling() {
        let mut rng = Rng::new(1);
        let mut queue = EventQueue::new();
        let mut reference: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        let mut number = 0;
        for _ in 0..100_000 {
            for _ in 0..rng.below(3) {
                let at = now + if rng.fires(0.3) { rng.below(5_000) } else { rng.below(50) };
                queue.schedule(Instant::from_nanos(at), Target::Lane(number & MAX_INDEX));
                reference.push((at, number & MAX_INDEX));
                number += 1;
            }
            let until = now + 20;
            let expected = reference.iter().enumerate().min_by_key(|(_, e)| e.0).map(|(i, e)| (i, *e));
            match (queue.take(Instant::from_nanos(until)), expected) {
                (Some((at, target)), Some((i, (time, n)))) => {
                    assert_eq!((at.as_nanos(), target), (time, Target::Lane(n)));
                    reference.remove(i);
                    now = time;
                }
                (None, Some((_, (time, _)))) => {
                    assert!(time > until);
                    now = until;
                }
                (None, None) => {}
                (some, none) => panic!("{some:?} {none:?}"),
            }
        }
    }

    #[test]
    fn targets_survive_packing() {
        for target in [Target::Lane(0), Target::Service(5), Target::Control(MAX_INDEX), Target::ReceiverTimer(77)] {
            assert_eq!(Target::unpack(target.pack()), target);
        }
    }
}
