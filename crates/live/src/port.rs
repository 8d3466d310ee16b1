//! Ports: sources and destinations of frames.

pub mod fault;
pub mod fuzz;
#[cfg(target_os = "linux")]
pub mod interface;
pub mod memory;
#[cfg(target_os = "linux")]
pub mod packet;
pub mod pcap;
#[cfg(target_os = "linux")]
mod tap;
pub mod xdp;

use crate::pool::{Frame, Pool};
use crate::segments::Joined;
use goodqueue_base::units::Instant;
use std::io;

/// A frame that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Buffer and length of the frame.
    pub frame: Frame,
    /// Arrival at the kernel or the wire on the host's clock; `None` where it is unknown.
    pub stamp: Option<Instant>,
    /// Layout of the segments, when an offload joined several.
    pub joined: Option<Joined>,
}

/// Whether frames remain after receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Nothing: everything that arrived before the call has been handed over.
    Empty,
    /// There may be more.
    More,
}

/// Counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames handed over.
    pub received: u64,
    /// Frames sent, segments one by one.
    pub sent: u64,
    /// Frames that they left as, where consecutive segments leave as one.
    pub sent_joined: u64,
    /// Lost before we saw them, because the receive ring was full: packets lost outside of the
    /// queue.
    pub ring_overflows: u64,
    /// Longer than a frame may be.
    pub oversize: u64,
    /// Frames among the oversize ones that an offload joined in a way that the port does not take
    /// apart.
    pub joined_lost: u64,
    /// Lost for want of a buffer.
    pub no_buffer: u64,
    /// Arrived with a checksum that its sender had left to a network card; it was finished here.
    pub partial_checksums: u64,
    /// Frames among those received that an offload had joined from several segments.
    pub joined: u64,
    /// Could not be sent because the interface is down or refused them.
    pub send_failures: u64,
    /// The interface went down.
    pub outages: u64,
}

/// Frames in and out. Never waits.
pub trait Port {
    /// Appends frames that arrived to `batch`, up to its capacity, each in a buffer of `pool`. A
    /// frame for which there is none is lost and counted.
    ///
    /// # Errors
    /// When the port is gone for good. One that may come back gives nothing.
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained>;

    /// Sends frames in order and returns how many it took. Their buffers stay with the caller. A
    /// frame that can never be sent counts as taken.
    ///
    /// # Errors
    /// When the port is gone for good.
    fn send(&mut self, now: Instant, pool: &Pool, frames: &[Frame]) -> io::Result<usize>;

    /// True if it sends consecutive segments as one frame, so that they had better lie side by
    /// side.
    fn joins(&self) -> bool {
        false
    }

    /// Frames worth handing over at a time.
    fn most_at_once(&self) -> usize {
        64
    }

    /// The port's counters.
    fn counters(&mut self) -> PortCounters;

    /// When the next frame arrives, for ports that live in virtual time.
    fn next_arrival(&self) -> Option<Instant> {
        None
    }

    /// Descriptor to wait on for arrivals.
    fn descriptor(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        None
    }
}
