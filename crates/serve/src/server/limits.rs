//! Limits on the use of this machine by strangers.

pub use crate::session::Limits as SessionLimits;
use std::time::Duration;

/// Limits of one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Sessions at once, those that are paused among them.
    pub sessions: usize,
    /// Sessions that wait for a place.
    pub waiting: usize,
    /// Worlds that compute at the same time; the others wait for their turn.
    pub computing: usize,
    /// Limits of each session.
    pub each: SessionLimits,
    /// Bytes of any other request.
    pub request_bytes: usize,
    /// Recordings kept; the oldest goes when one more comes.
    pub uploads: usize,
    /// Finished sessions kept.
    pub finished: usize,
    /// Bytes of memory that all sessions may use together.
    pub memory_bytes: u64,
    /// Connections at once.
    pub connections: usize,
    /// Time after which a client is disconnected that has not sent a whole request, or takes no
    /// data.
    pub client_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 64,
            waiting: 256,
            computing: std::thread::available_parallelism().map_or(1, usize::from),
            each: SessionLimits::default(),
            request_bytes: 256 << 10,
            uploads: 16,
            finished: 64,
            memory_bytes: 1 << 30,
            connections: 512,
            client_timeout: Duration::from_secs(10),
        }
    }
}
