//! Packets on their way: rings ordered by arrival time.
//!
//! All packets that leave one transmitter towards ends of equal distance share a lane, and so do all hosts' access links of
//! equal rate and delay. Arrival times within a lane are nearly sorted, so a packet is inserted from the tail in a few steps,
//! and ten thousand flows need no more places in the agenda than ten.

use crate::packet::SimPacket;
use goodqueue_units::Instant;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    ring: VecDeque<(Instant, SimPacket)>,
}

impl Lane {
    pub(crate) fn new() -> Self {
        Self { ring: VecDeque::with_capacity(16) }
    }

    /// Adds a packet that arrives at `at`; true when it is now the first.
    #[inline]
    #[must_use]
    pub(crate) fn push(&mut self, at: Instant, packet: SimPacket) -> bool {
        if self.ring.back().is_none_or(|&(last, _)| last <= at) {
            self.ring.push_back((at, packet));
            return self.ring.len() == 1;
        }
        let mut place = self.ring.len() - 1;
        while place > 0 && self.ring[place - 1].0 > at {
            place -= 1;
        }
        self.ring.insert(place, (at, packet));
        place == 0
    }

    /// The first packet, and when the next one arrives ([`Instant::MAX`] if none is left).
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(SimPacket, Instant)> {
        let (_, packet) = self.ring.pop_front()?;
        Some((packet, self.ring.front().map_or(Instant::MAX, |&(at, _)| at)))
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }
}
