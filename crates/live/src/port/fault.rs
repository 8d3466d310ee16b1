//! A port that misbehaves: loss, duplication, reordering, corruption and truncation of what
//! arrives, by chance but reproducibly.

use super::{Drained, Port, PortCounters, Received};
use crate::pool::{Frame, Pool};
use goodqueue_base::units::{Instant, Probability, Rng};
use std::io;

/// Probability of each fault, per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// The frame is lost.
    pub loss: Probability,
    /// The frame arrives twice.
    pub duplication: Probability,
    /// The frame arrives after the one behind it.
    pub reordering: Probability,
    /// One of its bits is wrong.
    pub corruption: Probability,
    /// The end of the frame is missing.
    pub truncation: Probability,
}

/// Number of times that each fault happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounters {
    /// Lost.
    pub lost: u64,
    /// Came twice.
    pub duplicated: u64,
    /// Came after the one behind.
    pub reordered: u64,
    /// Had a wrong bit.
    pub corrupted: u64,
    /// Were cut short.
    pub truncated: u64,
}

/// Frames taken from the port within at a time.
const AT_ONCE: usize = 16;

/// A port with faults.
#[derive(Debug)]
pub struct FaultyPort<P> {
    inner: P,
    faults: Faults,
    rng: Rng,
    /// Overtaken by the next frame.
    held: Option<Received>,
    counters: FaultCounters,
    fresh: Vec<Received>,
    /// Duplicates for which there was no buffer.
    no_copy: u64,
}

impl<P: Port> FaultyPort<P> {
    /// `inner` with these faults, drawn from `rng`.
    pub fn new(inner: P, faults: Faults, rng: Rng) -> Self {
        Self {
            inner,
            faults,
            rng,
            held: None,
            counters: FaultCounters::default(),
            fresh: Vec::with_capacity(AT_ONCE),
            no_copy: 0,
        }
    }

    /// Returns the number of times that each fault happened.
    #[must_use]
    pub const fn faults(&self) -> FaultCounters {
        self.counters
    }

    /// One frame on its way to the host.
    fn pass(&mut self, mut received: Received, pool: &mut Pool, batch: &mut Vec<Received>) {
        let Faults { loss, duplication, reordering, corruption, truncation } = self.faults;
        // Every frame takes the same draws, so one fault's rate does not move another's.
        let [lost, twice, late, wrong, short] =
            [loss, duplication, reordering, corruption, truncation].map(|p| self.rng.fires(p.get()));
        let draw = self.rng.next_u64();
        let Received { frame, stamp, joined } = &mut received;
        if lost {
            self.counters.lost += 1;
            pool.give_back(frame.slot);
            return;
        }
        if wrong && frame.len > 0 {
            let bit = draw % (u64::from(frame.len) * 8);
            pool.frame_mut(*frame)[(bit / 8) as usize] ^= 1 << (bit % 8);
            self.counters.corrupted += 1;
        }
        if short && frame.len > 0 {
            frame.len = (draw >> 32) as u32 % frame.len;
            self.counters.truncated += 1;
        }
        let copy = twice.then(|| pool.duplicate(*frame)).flatten();
        self.no_copy += u64::from(twice && copy.is_none());
        let (stamp, joined) = (*stamp, *joined);
        if late && self.held.is_none() {
            self.counters.reordered += 1;
            self.held = Some(received);
        } else {
            batch.push(received);
            if let Some(held) = self.held.take() {
                batch.push(Received { stamp, ..held });
            }
        }
        if let Some(frame) = copy {
            self.counters.duplicated += 1;
            batch.push(Received { frame, stamp, joined });
        }
    }
}

impl<P: Port> Port for FaultyPort<P> {
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained> {
        // A frame may become two, and one may have been held back.
        if batch.capacity() - batch.len() < 2 * AT_ONCE + 1 {
            return Ok(Drained::More);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        let drained = self.inner.receive(now, pool, &mut fresh);
        for received in fresh.drain(..) {
            self.pass(received, pool, batch);
        }
        self.fresh = fresh;
        drained
    }

    fn send(&mut self, now: Instant, pool: &Pool, frames: &[Frame]) -> io::Result<usize> {
        self.inner.send(now, pool, frames)
    }

    fn counters(&mut self) -> PortCounters {
        let mut counters = self.inner.counters();
        counters.no_buffer += self.no_copy;
        counters
    }

    fn joins(&self) -> bool {
        self.inner.joins()
    }

    fn most_at_once(&self) -> usize {
        self.inner.most_at_once()
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.inner.next_arrival()
    }

    fn descriptor(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}
