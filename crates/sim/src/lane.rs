//! Packets on their way: rings ordered by arrival time.
//!
//! All packets that leave one transmitter towards ends of equal distance share a lane, and so do all hosts' access links of
//! equal rate and delay. Arrival times within a lane are nearly sorted, so a packet is inserted from the tail in a few steps,
//! and ten thousand flows need no more places in the agenda than ten.

use crate::packet::SimPacket;
use crate::sys::fetch_ahead;
use goodqueue_units::{Duration, Instant};

/// A packet and when it arrives, in a cache line of their own: with many flows each is fetched from memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Arrival {
    at: Instant,
    packet: SimPacket,
}

const NOTHING: Arrival = Arrival { at: Instant::ZERO, packet: SimPacket::NONE };
const FIRST_CAPACITY: usize = 16;
/// A packet so far behind the first one is fetched ahead of time.
const AHEAD: usize = 8;

/// Where all packets of a lane come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// No route uses the lane yet.
    Unknown,
    /// At their ends.
    End,
    /// At the queue of this link.
    Queue(u32),
    /// At different places, or at a wire: each packet's route tells.
    Varied,
    /// At the queue that lags.
    LateQueue,
    /// At a wire that lags.
    LateWire,
}

impl Stop {
    /// Where packets come out that come out here or there.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Unknown || self == other { other } else { Self::Varied }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// As many places as a power of two.
    ring: Box<[Arrival]>,
    /// Place of the first packet.
    first: usize,
    len: usize,
    /// When the last packet arrives. An empty lane has that of an earlier one, which is not later than now.
    last: Instant,
    pub(crate) stop: Stop,
    /// How much later than its first packet arrives the agenda is to look at it.
    pub(crate) lag: Duration,
}

impl Lane {
    pub(crate) fn new() -> Self {
        let ring = vec![NOTHING; FIRST_CAPACITY].into_boxed_slice();
        Self { ring, first: 0, len: 0, last: Instant::ZERO, stop: Stop::Unknown, lag: Duration::ZERO }
    }

    #[inline(always)]
    fn place(&self, number: usize) -> usize {
        self.first.wrapping_add(number) & (self.ring.len() - 1)
    }

    /// Adds a packet that arrives at `at`, which is not past, `hop` links along its way; true when it is now the first.
    #[inline(always)]
    #[must_use]
    pub(crate) fn push(&mut self, at: Instant, packet: SimPacket, hop: u8) -> bool {
        if self.len == self.ring.len() {
            self.grow();
        }
        if at < self.last {
            return self.sort_in(at, packet, hop);
        }
        let place = self.place(self.len);
        self.ring[place] = Arrival { at, packet: SimPacket { hop, ..packet } };
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
    // It is written once, long after it was put together: what was just written in small parts is read slowly as a whole.
    #[inline(never)]
    fn sort_in(&mut self, at: Instant, packet: SimPacket, hop: u8) -> bool {
        let mut number = self.len;
        while number > 0 && self.ring[self.place(number - 1)].at > at {
            number -= 1;
        }
        let (from, to) = (self.place(number), self.place(self.len));
        if from <= to {
            self.ring.copy_within(from..to, from + 1);
        } else {
            // Those that are passed stand on both sides of the ring's seam.
            for passed in (number..self.len).rev() {
                self.ring[self.place(passed + 1)] = self.ring[self.place(passed)];
            }
        }
        self.ring[from] = Arrival { at, packet: SimPacket { hop, ..packet } };
        self.len += 1;
        number == 0
    }

    /// The first packet, and when the next one arrives ([`Instant::MAX`] if none is left). Only for a lane with a packet.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> (SimPacket, Instant) {
        debug_assert!(self.len > 0, "a lane with a time in the agenda has a packet");
        let packet = self.ring[self.place(0)].packet;
        self.first = self.place(1);
        self.len -= 1;
        (packet, self.first_at())
    }

    /// When the first packet arrives; [`Instant::MAX`] if there is none.
    #[inline(always)]
    pub(crate) fn first_at(&self) -> Instant {
        if self.len == 0 { Instant::MAX } else { self.ring[self.place(0)].at }
    }

    /// The packet so many places behind the first one, if there is one.
    #[inline(always)]
    pub(crate) fn peek(&self, number: usize) -> Option<&SimPacket> {
        if number < self.len { Some(&self.ring[self.place(number)].packet) } else { None }
    }

    /// Has a later packet brought into the cache: of lanes with thousands none is left there.
    #[inline(always)]
    pub(crate) fn fetch_ahead(&self) {
        fetch_ahead(&self.ring[self.place(AHEAD)], size_of::<Arrival>());
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rng;

    #[test]
    fn packets_come_out_in_order_of_time_then_of_entering() {
        let mut rng = Rng::new(1);
        let mut lane = Lane::new();
        let mut plain: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for number in 0..50_000 {
            let at = now + rng.below(40);
            let mut packet = SimPacket::NONE;
            packet.segment.number = number;
            let place = plain.partition_point(|other| other.0 <= at);
            plain.insert(place, (at, number));
            assert_eq!(lane.push(Instant::from_nanos(at), packet, 0), place == 0);
            for _ in 0..rng.below(if number % 1000 < 500 { 2 } else { 4 }).min(plain.len() as u64) {
                let (at, number) = plain.remove(0);
                now = at;
                let (packet, next) = lane.pop();
                assert_eq!(packet.segment.number, number);
                assert_eq!(next, plain.first().map_or(Instant::MAX, |other| Instant::from_nanos(other.0)));
            }
            assert_eq!(lane.len(), plain.len());
        }
    }

    #[test]
    fn a_lane_that_ends_at_two_places_ends_at_varied_ones() {
        assert_eq!(Stop::Unknown.or(Stop::End), Stop::End);
        assert_eq!(Stop::Queue(3).or(Stop::Queue(3)), Stop::Queue(3));
        assert_eq!(Stop::Queue(3).or(Stop::Queue(4)), Stop::Varied);
        assert_eq!(Stop::Varied.or(Stop::End), Stop::Varied);
    }
}
