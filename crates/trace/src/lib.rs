//! The one vocabulary of packet events, whoever makes them, and its version; and how times and probes are counted.
#![forbid(unsafe_code)]

mod probes;
mod times;

use goodqueue_aqm::Reason;
use goodqueue_units::{Duration, Instant};
pub use probes::{Probes, ProbesOutcome};
pub use times::{TimeCounts, TimeHistogram, empty_histogram};

/// Version of the vocabulary; a change of it is a change of every file made from it.
pub const SCHEMA: &str = "goodqueue.packets/1";

/// What happened to a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEventKind {
    /// It was accepted.
    Enqueued,
    /// Its transmission started, after this time in the queue.
    Departed {
        /// Time in the queue.
        sojourn: Duration,
    },
    /// It was dropped.
    Dropped {
        /// Why.
        reason: Reason,
        /// Time in the queue.
        sojourn: Duration,
    },
    /// CE was set on it.
    Marked {
        /// Why.
        reason: Reason,
    },
}

/// One event of one packet at one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// When.
    pub at: Instant,
    /// Which observed link, in the order of the results.
    pub link: u32,
    /// Which flow, in the order of the results.
    pub flow: u32,
    /// Sequence number: first byte (TCP data), acknowledgement (TCP ACK), packet number (UDP).
    pub number: u64,
    /// IP length in bytes.
    pub len: u32,
    /// What happened.
    pub kind: PacketEventKind,
}
