//! What can go wrong.

use crate::ring::RingFault;
use crate::vhost::VhostFault;
use goodqueue_sim::WorldError;
use std::io;
use thiserror::Error;

/// Why a run with guests failed.
#[derive(Debug, Error)]
pub enum LinuxError {
    /// The world itself cannot be built.
    #[error("{0}")]
    World(#[from] WorldError),
    /// This machine refused something.
    #[error("{what}: {error}")]
    System {
        /// What was being done.
        what: &'static str,
        /// Why not.
        error: io::Error,
    },
    /// A guest has gone wrong.
    #[error("guest {name}: {fault}{}", tail(.console))]
    Guest {
        /// Which one.
        name: &'static str,
        /// How.
        fault: GuestFault,
        /// The end of what it said on its console.
        console: String,
    },
}

fn tail(console: &str) -> String {
    if console.is_empty() { String::new() } else { format!("; its console ends with: {console}") }
}

/// What a guest does that it should not.
#[derive(Debug, Error)]
pub enum GuestFault {
    /// It does not answer.
    #[error("has been silent for {0} s")]
    Silent(u64),
    /// Its process or its connection is gone.
    #[error("has ended")]
    Ended,
    /// It breaks the protocol of its network card.
    #[error("its network card: {0}")]
    Card(#[from] VhostFault),
    /// Its queues are broken.
    #[error("its network card: {0}")]
    Ring(#[from] RingFault),
    /// It breaks the protocol of the clock.
    #[error("its clock: {0}")]
    Clock(&'static str),
    /// It sends what no card of ours takes.
    #[error("a frame of {0} bytes: the longest is {longest}", longest = crate::frame::LONGEST)]
    Frame(usize),
    /// It has no room for a frame that arrived.
    #[error("has no room for a frame that has arrived for it")]
    NoRoom,
    /// It takes too long to set itself up.
    #[error("was not ready when the world started")]
    Late,
    /// It does not end.
    #[error("has not said its last words")]
    Speechless,
    /// Its program says something is wrong.
    #[error("{0}")]
    Program(String),
    /// A connection to it fails.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Names what was being done.
pub(crate) fn doing(what: &'static str) -> impl FnOnce(io::Error) -> LinuxError {
    move |error| LinuxError::System { what, error }
}
