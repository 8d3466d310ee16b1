//! The error of worlds that cannot be built.

use goodqueue_aqm::spec::ParamError;
use goodqueue_base::units::{Bytes, Instant};
use goodqueue_tcp::CcError;

/// A specification that cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{subject}: {fault}")]
pub struct WorldError {
    /// The faulty part: a link's name, or a flow as `group[index]`.
    pub subject: String,
    /// The fault.
    pub fault: WorldFault,
}

/// A reason why a specification cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldFault {
    /// More parts of a kind than fit.
    #[error("more than {most} {parts}")]
    TooMany {
        /// The kind of parts.
        parts: &'static str,
        /// As many as fit.
        most: u32,
    },
    /// A flow names a link that does not exist.
    #[error("link number {0} does not exist")]
    NoLink(u32),
    /// A change names a link that does not exist.
    #[error("there is no such link")]
    NoSuchLink,
    /// A change of a link that has no queue.
    #[error("has no queue: only a link with a queue can be changed")]
    NoQueue,
    /// A change to a queue without a discipline.
    #[error("needs a queue discipline")]
    NoDiscipline,
    /// A change of a rate that follows something else.
    #[error("its rate is {0} and cannot be set")]
    FixedRate(&'static str),
    /// A wire whose rate varies.
    #[error("a link without queue needs a constant rate")]
    WireVaries,
    /// A wire that carries nothing.
    #[error("a link without queue needs a rate above zero")]
    WireStands,
    /// A link with a queue that is to reorder packets.
    #[error("only a link without queue, loss and observer may have jitter")]
    Jitter,
    /// A link with a queue that is to join a running world.
    #[error("a link that is added to a running world has no queue")]
    LateQueue,
    /// A flow of a group that does not exist.
    #[error("its group does not exist")]
    NoGroup,
    /// A weight that is not above zero.
    #[error("its weight, {0}, is not above zero")]
    Weight(f64),
    /// A route without links, or with too many.
    #[error("a route needs 1 to 255 links")]
    Route,
    /// A flow whose sink cannot answer.
    #[error("a flow whose sink answers needs a way back")]
    NoWayBack,
    /// Probes of a size that cannot be.
    #[error("probes of {size}: allowed {least} to 65535 B")]
    ProbeSize {
        /// The size.
        size: Bytes,
        /// The least size.
        least: Bytes,
    },
    /// Segments longer than a packet can be.
    #[error("segments of {mss} and {header} of headers exceed 65535 B")]
    SegmentSize {
        /// The payload.
        mss: Bytes,
        /// The headers.
        header: Bytes,
    },
    /// A flow that cannot have its ends outside.
    #[error("only plain TCP flows can have their ends outside")]
    NotPlainOutside,
    /// A session that cannot have its ends outside.
    #[error("the ends of sessions cannot be outside")]
    SessionOutside,
    /// A session that cannot be unfolded beforehand.
    #[error("the ends of a session that waits for answers cannot be outside")]
    AnswersOutside,
    /// A run longer than the agenda of events.
    #[error("it ends at {end}, but with so many links at most {latest} can be simulated")]
    TooLong {
        /// The end.
        end: Instant,
        /// The latest end.
        latest: Instant,
    },
    /// Settings of a sender.
    #[error(transparent)]
    Sender(#[from] CcError),
    /// Settings of a queue.
    #[error(transparent)]
    Queue(#[from] ParamError),
}

pub(super) fn fault<T>(subject: impl Into<String>, fault: WorldFault) -> Result<T, WorldError> {
    Err(WorldError { subject: subject.into(), fault })
}
