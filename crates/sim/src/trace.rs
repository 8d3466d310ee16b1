//! The shared vocabulary of packet events, whichever host records them, with its version; also the
//! counting of sojourn times and probes.

mod probes;
mod times;

use goodqueue_aqm::Reason;
use goodqueue_base::units::{Duration, Instant};
pub use probes::{Probes, ProbesOutcome};
pub use times::{Bucket, TimeCounts, nearest_rank};

/// Version of the vocabulary. Changing the vocabulary changes every file written with it.
pub const SCHEMA: &str = "goodqueue.packets/1";

/// The event of a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEventKind {
    /// The queue accepted it.
    Enqueued,
    /// The packet's transmission started.
    Departed {
        /// Time in the queue.
        sojourn: Duration,
    },
    /// The packet was dropped.
    Dropped {
        /// The reason for the drop.
        reason: Reason,
        /// Time in the queue before the drop.
        sojourn: Duration,
    },
    /// CE was set on it.
    Marked {
        /// The reason for the mark.
        reason: Reason,
    },
}

/// One event of one packet at one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// Time of the event.
    pub at: Instant,
    /// Index of the observed link, in the order of the results.
    pub link: u32,
    /// Index of the flow, in the order of the results.
    pub flow: u32,
    /// Sequence number: first byte (TCP data), acknowledgement (TCP ACK), packet number (UDP).
    pub number: u64,
    /// IP length in bytes.
    pub len: u32,
    /// Kind of event.
    pub kind: PacketEventKind,
}
