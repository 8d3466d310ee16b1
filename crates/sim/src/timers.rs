//! Timers of hosts and rare events, ordered by (time, order of setting).
//!
//! Hosts set many timers that are due much later and mostly never matter, so setting one must cost little: it goes into a bucket a quarter of a
//! millisecond wide, unsorted. Only the bucket that time has reached is sorted. What lies beyond the wheel of buckets waits in a heap.

use goodqueue_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a timer concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A sender's timer.
    Sender(u32),
    /// A receiver's timer.
    Receiver(u32),
    /// A UDP source sends its next packet.
    Source(u32),
    /// Something that happens rarely; an index into the world's list.
    Control(u32),
}

const INDEX_BITS: u32 = 21;
const TARGET_BITS: u32 = 23;

/// Largest index a target may have.
pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

impl Target {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, index) = match self {
            Self::Sender(i) => (0, i),
            Self::Receiver(i) => (1, i),
            Self::Source(i) => (2, i),
            Self::Control(i) => (3, i),
        };
        debug_assert!(index <= MAX_INDEX);
        (kind << INDEX_BITS) | u64::from(index)
    }

    #[inline]
    fn unpack(bits: u64) -> Self {
        let index = (bits & u64::from(MAX_INDEX)) as u32;
        match (bits >> INDEX_BITS) & 0b11 {
            0 => Self::Sender(index),
            1 => Self::Receiver(index),
            2 => Self::Source(index),
            _ => Self::Control(index),
        }
    }
}

/// Time, then 41 bits of sequence number, then the target: one comparison orders two timers.
type Key = u128;

const fn time_of(key: Key) -> u64 {
    (key >> 64) as u64
}

#[inline]
fn target_of(key: Key) -> Target {
    Target::unpack(key as u64 & ((1 << TARGET_BITS) - 1))
}

/// A bucket covers 2^18 ns.
const BUCKET_SHIFT: u32 = 18;
/// The wheel covers 268 ms.
const BUCKETS: u64 = 1024;

/// No timer stands here.
const NONE: u32 = u32::MAX;
/// So many timers are kept together.
const TOGETHER: usize = 3;

/// Timers of one bucket that fill a cache line, or a free place.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Waiting {
    keys: [Key; TOGETHER],
    len: u32,
    /// The next ones of the bucket, or the next free place.
    next: u32,
}

/// Pending timers.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// Those of the earliest bucket that holds any, latest first; empty when nothing is pending.
    near: Vec<Key>,
    /// Number of that bucket.
    open: u64,
    /// Bucket of the timer taken last.
    reached: u64,
    /// First timers of each bucket later than `open` and earlier than `reached + BUCKETS`, by number modulo their count.
    wheel: Box<[u32]>,
    /// The timers of all these buckets, so that few of them take little memory, and the first place that is free.
    waiting: Vec<Waiting>,
    free: u32,
    /// A bit for each bucket that is not empty.
    occupied: [u64; (BUCKETS / 64) as usize],
    /// Those beyond the wheel when they were set.
    far: BinaryHeap<Reverse<Key>>,
    sequence: u64,
}

impl Timers {
    pub(crate) fn new() -> Self {
        Self {
            near: Vec::new(),
            open: 0,
            reached: 0,
            wheel: vec![NONE; BUCKETS as usize].into_boxed_slice(),
            waiting: Vec::new(),
            free: NONE,
            occupied: [0; (BUCKETS / 64) as usize],
            far: BinaryHeap::new(),
            sequence: 0,
        }
    }

    /// The earliest time; [`Instant::MAX`] when nothing is pending.
    #[inline]
    pub(crate) fn earliest(&self) -> Instant {
        self.near.last().map_or(Instant::MAX, |&key| Instant::from_nanos(time_of(key)))
    }

    /// Adds a timer, not before any that was taken; true when it may be the earliest.
    #[inline]
    #[must_use]
    pub(crate) fn set(&mut self, at: Instant, target: Target) -> bool {
        let sequence = self.sequence & ((1 << (64 - TARGET_BITS)) - 1);
        self.sequence += 1;
        let key = Key::from(at.as_nanos()) << 64 | Key::from(sequence << TARGET_BITS | target.pack());
        let bucket = at.as_nanos() >> BUCKET_SHIFT;
        let early = bucket <= self.open || self.near.is_empty();
        if early {
            self.set_near(bucket, key);
        } else {
            self.put_away(bucket, key);
        }
        early
    }

    #[inline]
    fn put_away(&mut self, bucket: u64, key: Key) {
        if bucket - self.reached >= BUCKETS {
            self.far.push(Reverse(key));
            return;
        }
        let place = (bucket % BUCKETS) as usize;
        let head = self.wheel[place];
        if let Some(line) = self.waiting.get_mut(head as usize)
            && (line.len as usize) < TOGETHER
        {
            line.keys[line.len as usize] = key;
            line.len += 1;
            return;
        }
        self.wheel[place] = self.store(Waiting { keys: [key; TOGETHER], len: 1, next: head });
        self.occupied[place / 64] |= 1 << (place % 64);
    }

    /// Puts timers into a free place; which one.
    #[inline]
    fn store(&mut self, timers: Waiting) -> u32 {
        let place = self.free;
        if let Some(free) = self.waiting.get_mut(place as usize) {
            self.free = free.next;
            *free = timers;
            return place;
        }
        self.waiting.push(timers);
        self.waiting.len() as u32 - 1
    }

    /// A timer in the open bucket or an earlier one, or the only one.
    fn set_near(&mut self, bucket: u64, key: Key) {
        if bucket != self.open {
            while let Some(later) = self.near.pop() {
                self.put_away(self.open, later);
            }
            self.open = bucket;
        }
        let place = self.near.partition_point(|&other| other > key);
        self.near.insert(place, key);
    }

    /// Takes the earliest timer.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Target> {
        let key = self.near.pop()?;
        self.reached = self.open;
        if self.near.is_empty() {
            self.open_next();
        }
        Some(target_of(key))
    }

    /// What the next timer concerns.
    #[inline]
    pub(crate) fn next(&self) -> Option<Target> {
        self.near.last().map(|&key| target_of(key))
    }

    /// Sorts the next bucket that holds anything, with what the heap holds for it.
    #[cold]
    #[inline(never)]
    fn open_next(&mut self) {
        let in_wheel = self.next_occupied();
        let in_heap = self.far.peek().map(|key| time_of(key.0) >> BUCKET_SHIFT);
        let Some(next) = in_wheel.into_iter().chain(in_heap).min() else { return };
        if in_wheel == Some(next) {
            let place = (next % BUCKETS) as usize;
            self.occupied[place / 64] &= !(1 << (place % 64));
            let mut line = std::mem::replace(&mut self.wheel[place], NONE);
            while let Some(Waiting { keys, len, next }) = self.waiting.get_mut(line as usize) {
                self.near.extend_from_slice(&keys[..*len as usize]);
                let after = std::mem::replace(next, self.free);
                self.free = std::mem::replace(&mut line, after);
            }
        }
        self.open = next;
        while let Some(&Reverse(key)) = self.far.peek()
            && time_of(key) >> BUCKET_SHIFT == next
        {
            self.far.pop();
            self.near.push(key);
        }
        if self.near.len() > 1 {
            self.near.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    /// Number of the first bucket of the wheel that holds anything.
    fn next_occupied(&self) -> Option<u64> {
        let first = self.reached;
        let start = (first % BUCKETS) as usize;
        let words = self.occupied.len();
        // The first word is looked at twice: its bits from `start` on, and at the end those below.
        (0..=words).find_map(|step| {
            let word = (start / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == words {
                bits &= !(u64::MAX << (start % 64));
            }
            let place = u64::from(bits.trailing_zeros()) + word as u64 * 64;
            (bits != 0).then(|| first + (place + BUCKETS - start as u64) % BUCKETS)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rng;

    #[test]
    fn timers_come_in_order_of_time_then_of_setting() {
        let mut rng = Rng::new(1);
        let mut timers = Timers::new();
        let mut plain: Vec<(u64, u32)> = Vec::new();
        let (mut now, mut number) = (0, 0);
        for round in 0..200_000_u32 {
            for _ in 0..rng.below(if round % 1000 < 500 { 3 } else { 2 }) {
                let ahead = match rng.below(4) {
                    0 => 0,
                    1 => rng.below(1 << 16),
                    2 => rng.below(1 << 27),
                    _ => rng.below(1 << 31),
                };
                let before = timers.earliest();
                let early = timers.set(Instant::from_nanos(now + ahead), Target::Sender(number & MAX_INDEX));
                assert!(early || timers.earliest() == before);
                plain.push((now + ahead, number & MAX_INDEX));
                number += 1;
            }
            let Some((place, &(at, expected))) = plain.iter().enumerate().min_by_key(|(_, entry)| entry.0) else {
                assert_eq!((timers.earliest(), timers.take()), (Instant::MAX, None));
                continue;
            };
            assert_eq!(timers.earliest().as_nanos(), at);
            assert_eq!(timers.take(), Some(Target::Sender(expected)));
            plain.remove(place);
            now = at;
        }
    }

    #[test]
    fn targets_survive_packing() {
        for target in [Target::Sender(0), Target::Receiver(77), Target::Source(5), Target::Control(MAX_INDEX)] {
            assert_eq!(Target::unpack(target.pack()), target);
        }
    }
}
