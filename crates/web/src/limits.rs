//! How much of this machine strangers may use.

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
    /// Longest simulated time of a session, warm-up included.
    pub seconds: f64,
    /// Flows of a variant, added ones among them.
    pub flows: u32,
    /// Bytes of an uploaded recording.
    pub upload_bytes: usize,
    /// Bytes of any other request.
    pub request_bytes: usize,
    /// Recordings kept; the oldest goes when one more comes.
    pub uploads: usize,
    /// Finished sessions kept.
    pub finished: usize,
    /// Bytes that may wait in the queue of a link, and be under way on a path.
    pub buffer_bytes: u64,
    /// Bytes of memory that a session may use, reckoned from what its worlds hold.
    pub session_bytes: u64,
    /// Bytes of memory that all sessions may use together.
    pub memory_bytes: u64,
    /// A session that nobody watches ends after this time.
    pub unwatched: Duration,
    /// Connections at once.
    pub connections: usize,
    /// Who has not sent a whole request by then, or takes nothing for so long, is let go.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 64,
            waiting: 256,
            computing: std::thread::available_parallelism().map_or(1, usize::from),
            seconds: 3600.0,
            flows: 256,
            upload_bytes: 16 << 20,
            request_bytes: 256 << 10,
            uploads: 16,
            finished: 64,
            buffer_bytes: 64 << 20,
            session_bytes: 256 << 20,
            memory_bytes: 1 << 30,
            unwatched: Duration::from_secs(300),
            connections: 512,
            patience: Duration::from_secs(10),
        }
    }
}
