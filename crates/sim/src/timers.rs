//! Timers of hosts and control events, ordered by (time, order of setting).
//!
//! Hosts set many timers that are due much later and mostly never matter, so setting one must be
//! cheap: it goes into a bucket a quarter of a millisecond wide, unsorted. Only the bucket that
//! time has reached is sorted. Timers beyond the wheel of buckets wait in a heap, and so do the
//! later ones of a sorted bucket into which a timer would have to be inserted far from its end.

use crate::ids::{ControlId, TcpId, UdpId};
use goodqueue_base::units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The host or event that a timer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A TCP sender's timer.
    Sender(TcpId),
    /// A TCP receiver's timer.
    Receiver(TcpId),
    /// A UDP source sends its next packet.
    Source(UdpId),
    /// A control event.
    Control(ControlId),
}

const INDEX_BITS: u32 = 23;
const TARGET_BITS: u32 = INDEX_BITS + 2;

/// Largest index a target may have.
pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

impl Target {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, index) = match self {
            Self::Sender(id) => (0, id.get()),
            Self::Receiver(id) => (1, id.get()),
            Self::Source(id) => (2, id.get()),
            Self::Control(id) => (3, id.get()),
        };
        debug_assert!(index <= MAX_INDEX);
        (kind << INDEX_BITS) | u64::from(index)
    }

    #[inline]
    fn unpack(bits: u64) -> Self {
        let index = (bits & u64::from(MAX_INDEX)) as u32;
        match (bits >> INDEX_BITS) & 0b11 {
            0 => Self::Sender(TcpId::new(index)),
            1 => Self::Receiver(TcpId::new(index)),
            2 => Self::Source(UdpId::new(index)),
            _ => Self::Control(ControlId::new(index)),
        }
    }
}

/// Time, then 39 bits of sequence number, then the target: one comparison orders two timers.
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

/// Marks the end of a list of lines.
const NONE: u32 = u32::MAX;
/// Timers per line.
const PER_LINE: usize = 3;
/// Timers of the sorted bucket that an inserted timer may shift. Beyond that the heap is cheaper.
const MAX_SHIFTED: usize = 256;
/// Timers that the heap hands to the sorted bucket at once, where the wheel has none for it.
const REFILL: usize = 2 * MAX_SHIFTED;

/// Timers of one bucket that fill a cache line, or a free line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    keys: [Key; PER_LINE],
    len: u32,
    /// The next line of the bucket, or the next free line.
    next: u32,
}

/// Pending timers.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// The earliest timers, latest first, all of one bucket; empty when nothing is pending.
    near: Vec<Key>,
    /// Number of that bucket.
    open: u64,
    /// Bucket of the timer taken last.
    reached: u64,
    /// First line of each bucket later than `open` and earlier than `reached + BUCKETS`, by bucket
    /// number modulo `BUCKETS`.
    wheel: Box<[u32]>,
    /// The lines of all buckets, so that few timers take little memory, and the first free line.
    lines: Vec<Line>,
    free: u32,
    /// One bit per bucket, set when it is not empty.
    occupied: [u64; (BUCKETS / 64) as usize],
    /// Timers beyond the wheel when they were set, and timers of the open bucket later than `near`.
    far: BinaryHeap<Reverse<Key>>,
    sequence: u64,
    #[cfg(test)]
    shifted: usize,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            near: Vec::new(),
            open: 0,
            reached: 0,
            wheel: vec![NONE; BUCKETS as usize].into_boxed_slice(),
            lines: Vec::new(),
            free: NONE,
            occupied: [0; (BUCKETS / 64) as usize],
            far: BinaryHeap::new(),
            sequence: 0,
            #[cfg(test)]
            shifted: 0,
        }
    }
}

impl Timers {
    /// The earliest time; [`Instant::MAX`] when nothing is pending.
    #[inline]
    pub(crate) fn earliest(&self) -> Instant {
        self.near.last().map_or(Instant::MAX, |&key| Instant::from_nanos(time_of(key)))
    }

    /// Adds a timer, not before any that was taken. Returns whether it may be the earliest.
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
        let index = (bucket % BUCKETS) as usize;
        let head = self.wheel[index];
        if let Some(line) = self.lines.get_mut(head as usize)
            && (line.len as usize) < PER_LINE
        {
            line.keys[line.len as usize] = key;
            line.len += 1;
            return;
        }
        self.wheel[index] = self.add_line(Line { keys: [key; PER_LINE], len: 1, next: head });
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    /// Stores a line in a free place and returns its index.
    #[inline]
    fn add_line(&mut self, line: Line) -> u32 {
        let index = self.free;
        if let Some(free) = self.lines.get_mut(index as usize) {
            self.free = free.next;
            *free = line;
            return index;
        }
        self.lines.push(line);
        self.lines.len() as u32 - 1
    }

    /// Adds a timer to the open bucket, or opens an earlier bucket for it.
    fn set_near(&mut self, bucket: u64, key: Key) {
        if bucket != self.open {
            while let Some(later) = self.near.pop() {
                self.put_away(self.open, later);
            }
            self.open = bucket;
        }
        if self.far.peek().is_some_and(|first| first.0 < key) {
            debug_assert!(!self.near.is_empty(), "the heap's timers are later than those of the open bucket");
            self.far.push(Reverse(key));
            return;
        }
        let place = self.near.partition_point(|&other| other > key);
        if self.near.len() - place > MAX_SHIFTED {
            self.far.extend(self.near.drain(..place).chain([key]).map(Reverse));
            return;
        }
        #[cfg(test)]
        {
            self.shifted += self.near.len() - place;
        }
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

    /// The target of the next timer.
    #[inline]
    pub(crate) fn next(&self) -> Option<Target> {
        self.near.last().map(|&key| target_of(key))
    }

    /// Opens the next bucket that holds a timer, in the wheel or in the heap.
    #[cold]
    #[inline(never)]
    fn open_next(&mut self) {
        let in_wheel = self.next_occupied();
        let in_heap = self.far.peek().map(|key| time_of(key.0) >> BUCKET_SHIFT);
        let Some(next) = in_wheel.into_iter().chain(in_heap).min() else { return };
        let mut most = REFILL;
        if in_wheel == Some(next) {
            let index = (next % BUCKETS) as usize;
            self.occupied[index / 64] &= !(1 << (index % 64));
            let mut line = std::mem::replace(&mut self.wheel[index], NONE);
            while let Some(Line { keys, len, next }) = self.lines.get_mut(line as usize) {
                self.near.extend_from_slice(&keys[..*len as usize]);
                let after = std::mem::replace(next, self.free);
                self.free = std::mem::replace(&mut line, after);
            }
            // The timers of the wheel are unsorted: any of the heap may come before them.
            most = usize::MAX;
        }
        self.open = next;
        while self.near.len() < most
            && let Some(&Reverse(key)) = self.far.peek()
            && time_of(key) >> BUCKET_SHIFT == next
        {
            self.far.pop();
            self.near.push(key);
        }
        if self.near.len() > 1 {
            self.near.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    /// Number of the first bucket of the wheel that is not empty.
    fn next_occupied(&self) -> Option<u64> {
        let first = self.reached;
        let start = (first % BUCKETS) as usize;
        let words = self.occupied.len();
        // The first word is visited twice: first for its bits from `start` on, last for those
        // below.
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
    use goodqueue_base::units::Rng;

    const fn sender(number: u32) -> Target {
        Target::Sender(TcpId::new(number))
    }

    #[test]
    fn timers_come_in_order_of_time_then_of_setting() {
        let mut rng = Rng::new(1);
        let mut timers = Timers::default();
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
                let early = timers.set(Instant::from_nanos(now + ahead), sender(number & MAX_INDEX));
                assert!(early || timers.earliest() == before);
                plain.push((now + ahead, number & MAX_INDEX));
                number += 1;
            }
            let Some((place, &(at, expected))) = plain.iter().enumerate().min_by_key(|(_, entry)| entry.0) else {
                assert_eq!((timers.earliest(), timers.take()), (Instant::MAX, None));
                continue;
            };
            assert_eq!(timers.earliest().as_nanos(), at);
            assert_eq!(timers.take(), Some(sender(expected)));
            plain.remove(place);
            now = at;
        }
    }

    #[test]
    fn crowded_instants_keep_the_order_of_setting() {
        let mut rng = Rng::new(2);
        let mut timers = Timers::default();
        let mut plain: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        for number in 0..20_000_u32 {
            // Two instants of one bucket, one of a later bucket, and one anywhere between.
            let at = now + [0, 7, 300_000, rng.below(200_000)][rng.below(4) as usize];
            let _ = timers.set(Instant::from_nanos(at), sender(number));
            let place = plain.partition_point(|entry| entry.0 <= at);
            plain.insert(place, (at, number));
            for _ in 0..rng.below(if number % 8_000 < 5_000 { 2 } else { 4 }).min(plain.len() as u64) {
                let (at, expected) = plain.remove(0);
                assert_eq!(timers.earliest().as_nanos(), at);
                assert_eq!(timers.take(), Some(sender(expected)));
                now = at;
            }
        }
        for (_, expected) in plain {
            assert_eq!(timers.take(), Some(sender(expected)));
        }
        assert_eq!(timers.take(), None);
    }

    #[test]
    fn a_hundred_thousand_timers_at_one_instant_shift_few_each() {
        const COUNT: u32 = 100_000;
        let mut timers = Timers::default();
        for number in 0..COUNT {
            let _ = timers.set(Instant::ZERO, sender(number));
        }
        for number in 0..COUNT {
            assert_eq!(timers.take(), Some(sender(number)));
            let _ = timers.set(Instant::from_nanos(u64::from(number % 3)), Target::Receiver(TcpId::new(number)));
        }
        assert!(timers.shifted < MAX_SHIFTED * 2 * COUNT as usize, "{} timers shifted", timers.shifted);
    }

    #[test]
    fn targets_survive_packing() {
        for target in [
            sender(0),
            Target::Receiver(TcpId::new(77)),
            Target::Source(UdpId::new(5)),
            Target::Control(ControlId::new(MAX_INDEX)),
        ] {
            assert_eq!(Target::unpack(target.pack()), target);
        }
    }
}
