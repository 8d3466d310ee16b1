//! The state of a world.

use super::figures::Figures;
use super::flow_ends::FlowEnds;
use super::network::Network;
use goodqueue_base::units::{Duration, Instant};

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time so far.
    pub now: Instant,
    /// Simulated time at the end.
    pub end: Instant,
    /// Events handled so far.
    pub events: u64,
}

/// The answer of a progress callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Continue the run.
    Yes,
    /// End the run here; its figures cover what was simulated.
    Stop,
}

/// Simulated time, and the number of events handled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) now: Instant,
    pub(super) end: Instant,
    pub(super) warmup: Duration,
    pub(super) events: u64,
}

impl Clock {
    pub(super) const fn progress(&self) -> Progress {
        Progress { now: self.now, end: self.end, events: self.events }
    }
}

/// A simulated world: build it from a specification, run it once.
pub struct World {
    pub(super) clock: Clock,
    pub(super) net: Network,
    pub(super) ends: FlowEnds,
    pub(super) figures: Figures,
}
