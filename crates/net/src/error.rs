//! Errors of runs with endpoints.

use crate::limits::{DATAGRAM, MAX_AT_AN_INSTANT, MAX_PAYLOAD, MAX_SEGMENTS, MAX_UNDER_WAY};
use goodqueue_base::units::Instant;
use goodqueue_lab::results::error::{RecordError, RunFailure};
use goodqueue_lab::run::backend::Refusal;
use goodqueue_lab::scenario::plan::PlanError;
use goodqueue_sim::WorldError;
use std::fmt;

/// Why a run with endpoints failed.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The scenario is wrong.
    #[error("{0}")]
    Plan(Box<PlanError>),
    /// The world cannot be built.
    #[error("{0}")]
    World(#[from] WorldError),
    /// The scenario lacks what endpoints are attached to.
    #[error(transparent)]
    Refused(Refusal),
    /// No group of the world has this name.
    #[error("the world has no group `{name}`: it has {known}")]
    NoGroup {
        /// The name asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The endpoints of a flow could not be made.
    #[error("{flow}: {message}")]
    Making {
        /// `group[index]`.
        flow: String,
        /// The reason.
        message: String,
    },
    /// An endpoint did what it must not.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// One of several runs failed.
    #[error(transparent)]
    Run(#[from] RunFailure),
    /// Results cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl From<PlanError> for NetError {
    fn from(error: PlanError) -> Self {
        Self::Plan(Box::new(error))
    }
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The end that begins.
    Source,
    /// The other end.
    Sink,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Sink => "sink",
        })
    }
}

/// An endpoint that did what it must not.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{flow}, {side}, at {:.9} s: {fault}", at.as_secs_f64())]
pub struct EndpointError {
    /// `group[index]`.
    pub flow: String,
    /// The end of the flow that is at fault.
    pub side: Side,
    /// Simulated time.
    pub at: Instant,
    /// The fault of the endpoint.
    pub fault: Fault,
}

/// A fault of an endpoint: something that it must not do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A datagram that UDP cannot carry.
    #[error("sends a datagram of {0} bytes: the largest has {MAX_PAYLOAD}")]
    TooLarge(usize),
    /// A buffer with too many datagrams, or with datagrams of no length.
    #[error(
        "sends {bytes} bytes in segments of {segment_size}: allowed 1 to {MAX_SEGMENTS} segments of 1 to {MAX_PAYLOAD} bytes"
    )]
    Segments {
        /// Bytes in the buffer.
        bytes: usize,
        /// Length of one.
        segment_size: usize,
    },
    /// A datagram with a time in the past.
    #[error("sends {:.9} s in the past", .0.as_secs_f64())]
    Past(goodqueue_base::units::Duration),
    /// An endpoint that does not become idle.
    #[error("does not become idle: {MAX_AT_AN_INSTANT} calls at one instant, and its next timeout is not later")]
    Spins,
    /// An endpoint that sends without end at one instant.
    #[error("sends more than {MAX_AT_AN_INSTANT} datagrams at one instant")]
    Floods,
    /// An endpoint that has too much under way.
    #[error("has {0} bytes under way, {DATAGRAM} for each datagram included: allowed {MAX_UNDER_WAY}")]
    UnderWay(usize),
    /// A source that did nothing until the end.
    #[error("has sent nothing since the flow's start, and waits for no timeout")]
    Silent,
    /// An endpoint that panicked.
    #[error("panicked: {0}")]
    Panicked(String),
}
