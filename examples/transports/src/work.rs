//! What a client asks of its server: the same for every stack.

use goodqueue_net::{Duration, FlowFacts};
use std::sync::{Arc, Mutex};

/// What the clients of a group do.
#[derive(Clone, Debug)]
pub enum Work {
    /// Data without end, or as much as the scenario gives the flow.
    Download,
    /// Responses of this size over one connection, each request this long after the response
    /// before.
    Requests {
        /// Bytes of a response.
        size: u64,
        /// Time between a response and the next request.
        pause: Duration,
        /// Takes the time of each response, in seconds.
        times: Arc<Mutex<Vec<f64>>>,
    },
}

/// A request is the number of bytes wanted, in eight bytes.
pub const REQUEST: usize = 8;
/// A number of bytes for data without end.
pub const ENDLESS: u64 = u64::MAX;

impl Work {
    /// What the first request asks for.
    pub fn first(&self, flow: &FlowFacts<'_>) -> u64 {
        match self {
            Self::Download => flow.size.unwrap_or(ENDLESS),
            Self::Requests { size, .. } => *size,
        }
    }
}
