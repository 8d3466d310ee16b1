//! The event queue: a four-way heap of 16-byte keys ordered by (time, sequence).
//!
//! A key packs 64 bits of time, 40 bits of sequence number and 24 bits of target, so that one 128-bit comparison orders two
//! events and ties are broken by the order in which they were scheduled. Taking the earliest event leaves a hole at the root
//! that the next scheduled event fills: the common "handle one, schedule one" costs a single sift.

use goodqueue_units::Instant;

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
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<u128>,
    /// The root was taken and nothing has filled its place yet.
    hole: bool,
    sequence: u64,
}

impl EventQueue {
    /// Adds an event.
    #[inline]
    pub(crate) fn schedule(&mut self, at: Instant, target: Target) {
        let sequence = self.sequence & ((1 << SEQUENCE_BITS) - 1);
        self.sequence += 1;
        let key = u128::from(at.as_nanos()) << 64 | u128::from(sequence << TARGET_BITS | target.pack());
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.heap.push(key);
            self.sift_up(key);
        }
    }

    /// Takes the earliest event if it is not later than `until`.
    #[inline]
    pub(crate) fn take(&mut self, until: Instant) -> Option<(Instant, Target)> {
        if self.hole {
            self.hole = false;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sift_down(last);
            }
        }
        let first = *self.heap.first()?;
        let at = Instant::from_nanos((first >> 64) as u64);
        if at > until {
            return None;
        }
        self.hole = true;
        Some((at, Target::unpack(first as u64 & ((1 << TARGET_BITS) - 1))))
    }

    /// Puts `key` into the empty last place and moves it up to where it belongs.
    #[inline]
    fn sift_up(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let mut at = heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if heap[parent] <= key {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = key;
    }

    /// Puts `key` into the empty root and moves it down to where it belongs.
    #[inline]
    fn sift_down(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let len = heap.len();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let least = if let Some(&[a, b, c, d]) = heap.get(first..first + 4) {
                let (left, left_key) = if b < a { (first + 1, b) } else { (first, a) };
                let (right, right_key) = if d < c { (first + 3, d) } else { (first + 2, c) };
                if right_key < left_key { right } else { left }
            } else if first < len {
                let mut least = first;
                for child in first + 1..len {
                    if heap[child] < heap[least] {
                        least = child;
                    }
                }
                least
            } else {
                break;
            };
            if heap[least] >= key {
                break;
            }
            heap[at] = heap[least];
            at = least;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rng;

    #[test]
    fn events_come_in_order_of_time_then_of_scheduling() {
        let mut rng = Rng::new(1);
        let mut queue = EventQueue::default();
        let mut reference: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        let mut number = 0;
        for _ in 0..200_000 {
            for _ in 0..rng.below(3) {
                let at = now + rng.below(50);
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
