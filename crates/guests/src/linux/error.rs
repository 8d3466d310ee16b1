//! Errors of runs with guests.

use crate::linux::memory::MemoryFault;
use crate::linux::ring::RingFault;
use goodqueue_sim::WorldError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a run with guests failed.
#[derive(Debug, Error)]
pub enum LinuxError {
    /// The world cannot be built.
    #[error("{0}")]
    World(#[from] WorldError),
    /// The operating system refused an operation.
    #[error("{what}: {error}")]
    System {
        /// The operation.
        what: &'static str,
        /// The reason.
        error: io::Error,
    },
    /// A guest failed.
    #[error("guest {name}: {fault}{}", tail(.console))]
    Guest {
        /// Name of the guest.
        name: &'static str,
        /// The fault.
        fault: GuestFault,
        /// The end of its console output.
        console: String,
    },
}

fn tail(console: &str) -> String {
    if console.is_empty() { String::new() } else { format!("; its console ends with: {console}") }
}

/// Faults of a guest.
#[derive(Debug, Error)]
pub enum GuestFault {
    /// The guest does not respond.
    #[error("has been silent for {0} s")]
    Silent(u64),
    /// The guest's process or connection has ended.
    #[error("has ended")]
    Ended,
    /// The guest violates the protocol of its network card.
    #[error("its network card: {0}")]
    Card(#[from] VhostFault),
    /// The guest's virtqueues are inconsistent.
    #[error("its network card: {0}")]
    Ring(#[from] RingFault),
    /// The guest violates the protocol of the clock.
    #[error("its clock: {0}")]
    Clock(&'static str),
    /// The guest sends a frame that is too long.
    #[error("a frame of {0} bytes: the longest is {longest}", longest = crate::linux::frame::MAX)]
    Frame(usize),
    /// The guest has no buffer for an arriving frame.
    #[error("has no room for a frame that has arrived for it")]
    NoRoom,
    /// The guest's set-up takes too long.
    #[error("was not ready when the world started")]
    Late,
    /// The guest's device does not answer an order.
    #[error("its device port0 does not answer")]
    Port,
    /// The guest does not finish its report.
    #[error("has not said its last words")]
    Speechless,
    /// The guest's program reports an error.
    #[error("{0}")]
    Program(String),
    /// A connection to it failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Errors of a message from a network card.
#[derive(Debug, Error)]
pub enum VhostFault {
    /// The network card violates the protocol.
    #[error("message {request}: {what}")]
    Message {
        /// Number of the message in the protocol.
        request: u32,
        /// The violation.
        what: &'static str,
    },
    /// The network card asks for something invalid.
    #[error(transparent)]
    Ring(#[from] RingFault),
    /// The network card's memory is not accessible.
    #[error("its memory: {0}")]
    Memory(#[from] io::Error),
}

impl From<MemoryFault> for VhostFault {
    fn from(fault: MemoryFault) -> Self {
        Self::Ring(fault.into())
    }
}

/// Why there is no guest kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoKernel {
    /// The environment names no folder that could hold it.
    #[error("the guest kernel is missing: neither XDG_CACHE_HOME nor HOME says where it could be")]
    Nowhere,
    /// The one with goodqueue's queue disciplines was not built.
    #[error("the guest kernel with the queue disciplines is missing: run `make kernel-guest` in goodqueue's sources (it would be {})", .program.display())]
    WithoutQueues {
        /// Path at which the kernel would be.
        program: PathBuf,
    },
    /// The kernel was not built.
    #[error("the guest kernel is missing: run `{make}` in goodqueue's sources (it would be {})", .program.display())]
    Missing {
        /// Path at which the kernel would be.
        program: PathBuf,
        /// Command that builds it.
        make: &'static str,
    },
    /// Another kernel is in its place.
    #[error("{} is Linux {found}, and Linux {expected} was asked for: run `{make}` in goodqueue's sources", .program.display())]
    Other {
        /// Path of the kernel.
        program: PathBuf,
        /// The series that its record names.
        found: String,
        /// The series that was asked for.
        expected: &'static str,
        /// Command that builds it.
        make: &'static str,
    },
}

/// Adds the name of the operation to an error.
pub(crate) fn doing(what: &'static str) -> impl FnOnce(io::Error) -> LinuxError {
    move |error| LinuxError::System { what, error }
}
