//! Packets on their way: queues ordered by arrival time.
//!
//! All packets that leave one transmitter toward ends of equal distance share a lane, and so do
//! the access links of equal rate and delay. Arrival times within a lane are nearly sorted: a
//! packet is inserted from the tail of a ring in a few steps, and ten thousand flows need no more
//! slots in the event queue than ten.
//!
//! When many hosts send at one instant, the order in which packets enter a lane is far from sorted.
//! A packet that would have to pass more than [`MAX_PASSED`] others makes the lane keep only its
//! first packets in the ring and the rest in a heap. Insertion then takes logarithmic time. When as
//! many packets have entered the heap as wait there, they are sorted into the ring again, so that a
//! lane whose packets were far out of order once does not stay slow.

use crate::ids::LinkId;
use crate::packet::SimPacket;
use crate::sys::prefetch;
use goodqueue_base::units::{Duration, Instant};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A packet and its arrival time, in a cache line of their own: with many flows each is fetched
/// from memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) packet: SimPacket,
}

const NOTHING: Arrival = Arrival { at: Instant::ZERO, packet: SimPacket::NONE };
const FIRST_CAPACITY: usize = 16;
/// Distance from the first packet at which packets are prefetched.
const PREFETCH_DISTANCE: usize = 8;
/// Packets that an inserted packet may pass within the ring. A longer way is more expensive than
/// the heap.
const MAX_PASSED: usize = 128;
/// Packets that the heap hands to the empty ring at once.
const REFILL: usize = MAX_PASSED;

/// The place at which all packets of a lane come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneExit {
    /// No route uses the lane yet.
    Unknown,
    /// The ends of the packets' routes.
    End,
    /// The queue of this link.
    Queue(LinkId),
    /// Different places, or a wire: each packet's route tells.
    PerPacket,
    /// The queue whose processing is deferred.
    DeferredQueue,
    /// A wire whose processing is deferred.
    DeferredWire,
    /// Receivers that take their packets late.
    DeferredReceivers,
}

impl LaneExit {
    /// The common exit of two routes, or `PerPacket` if they differ.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Unknown || self == other { other } else { Self::PerPacket }
    }
}

/// A packet of the heap. The greatest is the one that arrives first.
#[derive(Clone, Copy, Debug)]
struct Overflowed {
    at: Instant,
    /// Orders packets with equal arrival times.
    order: i64,
    packet: SimPacket,
}

impl Ord for Overflowed {
    fn cmp(&self, other: &Self) -> Ordering {
        #[cfg(test)]
        tests::COMPARISONS.with(|count| count.set(count.get() + 1));
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Overflowed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Overflowed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Overflowed {}

/// The later packets of a lane whose packets enter far out of order.
///
/// Every packet of the heap comes after every packet of the ring.
#[derive(Clone, Debug, Default)]
struct Overflow {
    heap: BinaryHeap<Overflowed>,
    /// Order of the next packet that enters the heap itself; rises.
    entered: i64,
    /// Order of the last packet that the ring handed over; falls, since it comes before all packets
    /// of the heap that arrive at the same time.
    handed_over: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Packets in a ring whose length is a power of two.
    ring: Box<[Arrival]>,
    /// Index of the first packet.
    first: usize,
    len: usize,
    /// Arrival time of the last packet; [`Instant::MAX`] while packets overflow. An empty lane has
    /// that of an earlier packet, which is not later than now.
    last: Instant,
    pub(crate) exit: LaneExit,
    /// Time from the arrival of its first packet to the lane's event.
    pub(crate) deferral: Duration,
    /// Time of something else that is due at its exit.
    pub(crate) alarm: Instant,
    overflow: Option<Box<Overflow>>,
    #[cfg(test)]
    moved: usize,
}

impl Lane {
    pub(crate) fn new() -> Self {
        Self { ring: vec![NOTHING; FIRST_CAPACITY].into_boxed_slice(), ..Self::absent() }
    }

    /// Stands in the place of a lane that is elsewhere. Takes no packet.
    pub(crate) fn absent() -> Self {
        Self {
            ring: Box::default(),
            first: 0,
            len: 0,
            last: Instant::ZERO,
            exit: LaneExit::Unknown,
            deferral: Duration::ZERO,
            alarm: Instant::MAX,
            overflow: None,
            #[cfg(test)]
            moved: 0,
        }
    }

    /// The time of the event of a lane whose first packet arrives at `first`.
    #[inline(always)]
    pub(crate) fn due(&self, first: Instant) -> Instant {
        first.min(self.alarm) + self.deferral
    }

    #[inline(always)]
    fn place(&self, number: usize) -> usize {
        self.first.wrapping_add(number) & (self.ring.len() - 1)
    }

    /// Adds the packet of `make` that arrives at `at`, which is not past, as packet of hop `hop`.
    /// Returns whether it is now the first.
    // Made in its place: whether from its parts or from another place, it is moved once.
    #[inline(always)]
    #[must_use]
    pub(crate) fn push(&mut self, at: Instant, hop: u8, make: impl Fn() -> SimPacket) -> bool {
        if self.len == self.ring.len() {
            self.grow();
        }
        if at < self.last {
            return self.insert(at, make(), hop);
        }
        let place = self.place(self.len);
        self.ring[place] = Arrival { at, packet: SimPacket { hop, ..make() } };
        self.len += 1;
        self.last = at;
        self.len == 1
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = vec![NOTHING; self.ring.len() * 2].into_boxed_slice();
        for number in 0..self.len {
            larger[number] = self.ring[self.place(number)];
        }
        self.ring = larger;
        self.first = 0;
    }

    /// Adds a packet that arrives before others, behind those that arrive at the same time.
    // The packet is written once, long after it was put together: reading it as a whole right after
    // its parts were written would defeat store forwarding.
    #[inline(never)]
    fn insert(&mut self, at: Instant, packet: SimPacket, hop: u8) -> bool {
        if self.overflow.is_some() && self.ring_ends_by(at) {
            self.push_overflow(at, SimPacket { hop, ..packet });
            return false;
        }
        let least = self.len.saturating_sub(MAX_PASSED);
        let mut number = self.len;
        while number > least && self.ring[self.place(number - 1)].at > at {
            number -= 1;
        }
        if number > 0 && number == least && self.ring[self.place(number - 1)].at > at {
            self.overflow_behind(at);
            return self.insert(at, packet, hop);
        }
        let (from, to) = (self.place(number), self.place(self.len));
        if from <= to {
            self.ring.copy_within(from..to, from + 1);
        } else {
            // The packets to pass stand on both sides of the ring's seam.
            for passed in (number..self.len).rev() {
                self.ring[self.place(passed + 1)] = self.ring[self.place(passed)];
            }
        }
        #[cfg(test)]
        {
            self.moved += self.len - number;
        }
        self.ring[from] = Arrival { at, packet: SimPacket { hop, ..packet } };
        self.len += 1;
        number == 0
    }

    /// Whether all packets of the ring arrive by `at`.
    fn ring_ends_by(&self, at: Instant) -> bool {
        self.len > 0 && self.ring[self.place(self.len - 1)].at <= at
    }

    fn push_overflow(&mut self, at: Instant, packet: SimPacket) {
        let overflow = self.overflow.get_or_insert_default();
        overflow.heap.push(Overflowed { at, order: overflow.entered, packet });
        overflow.entered += 1;
    }

    /// Hands the packets of the ring that arrive after `at` to the heap.
    #[cold]
    fn overflow_behind(&mut self, at: Instant) {
        let overflow = self.overflow.get_or_insert_default();
        while self.len > 0 {
            let last = &self.ring[self.first.wrapping_add(self.len - 1) & (self.ring.len() - 1)];
            if last.at <= at {
                break;
            }
            overflow.handed_over -= 1;
            overflow.heap.push(Overflowed { at: last.at, order: overflow.handed_over, packet: last.packet });
            self.len -= 1;
        }
        self.last = Instant::MAX;
    }

    /// The first packet. Only for a lane with a packet.
    #[inline(always)]
    pub(crate) fn first(&self) -> &SimPacket {
        debug_assert!(self.len > 0, "a lane with a time in the agenda has a packet");
        &self.ring[self.first].packet
    }

    /// Removes the first packet. Returns the arrival time of the next one ([`Instant::MAX`] if none
    /// is left). Only for a lane with a packet.
    #[inline(always)]
    pub(crate) fn advance(&mut self) -> Instant {
        self.first = self.place(1);
        self.len -= 1;
        if self.len == 0 && self.overflow.is_some() {
            self.refill();
        }
        self.first_at()
    }

    /// Moves the heap's first packets into the empty ring; all of them if as many have entered the
    /// heap as are there, since handing them over again later then costs each of those one step.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let Some(overflow) = &mut self.overflow else { return };
        if overflow.entered >= overflow.heap.len() as i64 {
            let heap = std::mem::take(&mut overflow.heap);
            self.overflow = None;
            self.refill_with_all(heap);
            return;
        }
        while self.len < REFILL
            && let Some(Overflowed { at, packet, .. }) = overflow.heap.pop()
        {
            // A ring that has overflowed holds `MAX_PASSED` packets and more.
            self.ring[self.first.wrapping_add(self.len) & (self.ring.len() - 1)] = Arrival { at, packet };
            self.len += 1;
            self.last = at;
        }
        if overflow.heap.is_empty() {
            self.overflow = None;
        } else {
            self.last = Instant::MAX;
        }
    }

    fn refill_with_all(&mut self, heap: BinaryHeap<Overflowed>) {
        let mut packets = heap.into_vec();
        packets.sort_unstable_by(|a, b| b.cmp(a));
        while self.ring.len() < packets.len() {
            self.grow();
        }
        self.len = packets.len();
        for (number, Overflowed { at, packet, .. }) in packets.into_iter().enumerate() {
            let place = self.place(number);
            self.ring[place] = Arrival { at, packet };
            self.last = at;
        }
    }

    /// The first packets in order, as far as they lie side by side.
    #[inline(always)]
    pub(crate) fn first_packets(&self) -> &[Arrival] {
        let end = self.ring.len().min(self.first + self.len);
        &self.ring[self.first..end]
    }

    /// Removes several of the [first packets](Self::first_packets). Returns whether these were all,
    /// and others follow.
    #[inline(always)]
    pub(crate) fn advance_by(&mut self, count: usize) -> bool {
        let end = self.first + count;
        let all = end == self.ring.len() || count == self.len;
        self.first = end & (self.ring.len() - 1);
        self.len -= count;
        if self.len == 0 && self.overflow.is_some() {
            self.refill();
        }
        all && self.len > 0
    }

    /// Arrival time of the first packet; [`Instant::MAX`] if there is none.
    #[inline(always)]
    pub(crate) fn first_at(&self) -> Instant {
        if self.len == 0 { Instant::MAX } else { self.ring[self.first].at }
    }

    /// The packet `number` places behind the first one, if it is in the ring.
    #[inline(always)]
    pub(crate) fn peek(&self, number: usize) -> Option<&SimPacket> {
        if number < self.len { Some(&self.ring[self.place(number)].packet) } else { None }
    }

    /// Prefetches a packet behind the one `number` places behind the first: lanes with thousands of
    /// packets have none of them in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_packet(&self, number: usize) {
        prefetch(&self.ring[self.place(number + PREFETCH_DISTANCE)], size_of::<Arrival>());
    }

    pub(crate) fn len(&self) -> usize {
        self.len + self.overflow.as_ref().map_or(0, |overflow| overflow.heap.len())
    }
}

#[cfg(test)]
mod tests;
