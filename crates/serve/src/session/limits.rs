//! Limits on the resources of a session.

use std::time::Duration;

/// Limits of one session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Longest simulated time in seconds, warm-up included.
    pub seconds: f64,
    /// Flows of a variant, added ones among them.
    pub flows: u32,
    /// Bytes of an uploaded recording.
    pub upload_bytes: usize,
    /// Bytes that may wait in the queue of a link, and be under way on a path.
    pub buffer_bytes: u64,
    /// Bytes of memory that a session may use, estimated from what its worlds hold.
    pub session_bytes: u64,
    /// A session that nobody watches ends after this time.
    pub unwatched: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            seconds: 3600.0,
            flows: 256,
            upload_bytes: 16 << 20,
            buffer_bytes: 64 << 20,
            session_bytes: 256 << 20,
            unwatched: Duration::from_secs(300),
        }
    }
}
