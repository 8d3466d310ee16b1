//! Packets on their way: rings ordered by arrival time, one pending event each.
//!
//! All packets that leave one transmitter towards ends of equal distance share a lane, and so do all hosts' access links of
//! equal rate and delay. Arrival times within a lane are nearly sorted, so a packet is inserted from the tail in a few steps,
//! and ten thousand flows need no more pending events than ten.

use crate::packet::SimPacket;
use goodqueue_units::Instant;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    ring: VecDeque<(Instant, SimPacket)>,
    /// When the pending event is due; `MAX` when there is none.
    scheduled: Instant,
}

impl Lane {
    pub(crate) fn new() -> Self {
        Self { ring: VecDeque::with_capacity(16), scheduled: Instant::MAX }
    }

    /// Adds a packet that arrives at `at`; says when an event must be scheduled, if one must.
    #[inline]
    #[must_use]
    pub(crate) fn push(&mut self, at: Instant, packet: SimPacket) -> Option<Instant> {
        match self.ring.back() {
            Some(&(last, _)) if at < last => {
                let mut place = self.ring.len() - 1;
                while place > 0 && self.ring[place - 1].0 > at {
                    place -= 1;
                }
                self.ring.insert(place, (at, packet));
            }
            _ => self.ring.push_back((at, packet)),
        }
        if at < self.scheduled {
            self.scheduled = at;
            Some(at)
        } else {
            None
        }
    }

    /// The packet that arrives now; nothing when the event that asks is a stale one. Also says when the next event is due.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(SimPacket, Option<Instant>)> {
        if now != self.scheduled {
            return None;
        }
        let (_, packet) = self.ring.pop_front()?;
        let next = self.ring.front().map(|&(at, _)| at);
        self.scheduled = next.unwrap_or(Instant::MAX);
        Some((packet, next))
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }
}
