//! Frames made by the program itself, in virtual time: for tests, fuzzing and replay, without
//! privileges.

use super::{Drained, Port, PortCounters, Received};
use crate::pool::{Frame, Pool};
use crate::segments::{self, Joined, Offload};
use goodqueue_base::units::Instant;
use std::collections::VecDeque;
use std::io;

/// Arrivals at a [`MemoryPort`].
pub trait Source {
    /// When the next frame arrives; never goes back.
    fn next_arrival(&self) -> Option<Instant>;
    /// Writes that frame and gives its length; larger than `buffer` is cut off there and counts as
    /// oversize.
    fn fill(&mut self, buffer: &mut [u8]) -> usize;
    /// Work left to a network card for the latest frame.
    fn offload(&self) -> Offload {
        Offload::default()
    }
}

/// Destination of frames sent to a [`MemoryPort`].
pub trait Drain {
    /// A frame was sent.
    fn take(&mut self, at: Instant, frame: &[u8]);
    /// Segments of a joined frame were sent, as one or several frames; `offload` is the work
    /// left to a network card.
    fn take_joined(&mut self, at: Instant, frame: &[u8], offload: Offload) {
        let _ = offload;
        self.take(at, frame);
    }
}

/// Frames from a list, in order of their times.
#[derive(Clone, Debug, Default)]
pub struct Listed(pub VecDeque<(Instant, Vec<u8>)>);

impl Source for Listed {
    fn next_arrival(&self) -> Option<Instant> {
        self.0.front().map(|frame| frame.0)
    }
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let Some((_, bytes)) = self.0.pop_front() else { return 0 };
        let fits = bytes.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&bytes[..fits]);
        bytes.len()
    }
}

/// Keeps frames with their times.
#[derive(Clone, Debug, Default)]
pub struct Kept(pub Vec<(Instant, Vec<u8>)>);

impl Drain for Kept {
    fn take(&mut self, at: Instant, frame: &[u8]) {
        self.0.push((at, frame.to_vec()));
    }
}

/// No arrivals; sent frames are discarded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Source for Nothing {
    fn next_arrival(&self) -> Option<Instant> {
        None
    }
    fn fill(&mut self, _: &mut [u8]) -> usize {
        0
    }
}

impl Drain for Nothing {
    fn take(&mut self, _: Instant, _: &[u8]) {}
}

/// A port within the program.
#[derive(Clone, Debug, Default)]
pub struct MemoryPort<S, D> {
    /// Source of received frames.
    pub source: S,
    /// Destination of sent frames.
    pub drain: D,
    counters: PortCounters,
}

impl<S: Source, D: Drain> MemoryPort<S, D> {
    /// A port between the two.
    pub fn new(source: S, drain: D) -> Self {
        Self { source, drain, counters: PortCounters::default() }
    }
}

impl<S: Source, D: Drain> Port for MemoryPort<S, D> {
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained> {
        while let Some(at) = self.source.next_arrival().filter(|at| *at <= now) {
            if batch.len() == batch.capacity() {
                return Ok(Drained::More);
            }
            let Some(slot) = pool.take() else {
                self.counters.no_buffer += 1;
                // A frame that finds no buffer is lost, not delayed.
                self.source.fill(&mut []);
                continue;
            };
            let buffer = pool.buffer(slot);
            let len = self.source.fill(buffer);
            if len > buffer.len() {
                self.counters.oversize += 1;
                pool.give_back(slot);
                continue;
            }
            self.counters.received += 1;
            let frame = Frame::whole(slot, len as u32);
            let joined = Joined::read(pool.frame(frame), self.source.offload());
            self.counters.joined += u64::from(joined.is_some());
            batch.push(Received { frame, stamp: Some(at), joined });
        }
        Ok(Drained::Empty)
    }

    fn send(&mut self, now: Instant, pool: &Pool, frames: &[Frame]) -> io::Result<usize> {
        let mut rest = frames;
        while !rest.is_empty() {
            let run = segments::run_of(rest, pool);
            let mut headers = [0; segments::HEADERS];
            match segments::compose(&rest[..run], pool, &mut headers) {
                None => self.drain.take(now, pool.frame(rest[0])),
                Some(outgoing) => {
                    let mut frame = headers[..outgoing.headers].to_vec();
                    segments::payload(&rest[..run], pool).for_each(|part| frame.extend_from_slice(part));
                    self.drain.take_joined(now, &frame, outgoing.offload);
                }
            }
            self.counters.sent_joined += 1;
            rest = &rest[run..];
        }
        self.counters.sent += frames.len() as u64;
        Ok(frames.len())
    }

    fn joins(&self) -> bool {
        true
    }

    fn most_at_once(&self) -> usize {
        2048
    }

    fn counters(&mut self) -> PortCounters {
        self.counters
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.source.next_arrival()
    }
}
