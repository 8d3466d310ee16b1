//! Faults of vectors and of the answers of programs.

use goodqueue_aqm::sched::UnknownKind;
use goodqueue_aqm::spec::ParamError;
use std::time::Duration;
use thiserror::Error;

/// Version of the file format that this crate reads.
pub const VERSION: u32 = 1;

/// A fault of a vector or an answer, with its place.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Fault {
    /// The text is no JSON, or a field is missing or of another type.
    #[error("{0}")]
    Json(String),
    /// The file cannot be read.
    #[error("{0}")]
    File(String),
    /// The format has another version.
    #[error("vector: is {found}, but this program reads version {VERSION}")]
    Version {
        /// The version given in the file.
        found: String,
    },
    /// There is no such kind of queue.
    #[error("kind: {0}")]
    Kind(UnknownKind),
    /// A parameter that the kind does not have, or a value that it cannot have.
    #[error("params.{name}: {why}")]
    Param {
        /// The parameter.
        name: String,
        /// Value and allowed values.
        why: String,
    },
    /// A fault of the algorithm within.
    #[error("of.{0}")]
    Within(Box<Self>),
    /// A field with a value that it cannot have.
    #[error("{field}: {why}")]
    Field {
        /// The field.
        field: String,
        /// Value and allowed values.
        why: String,
    },
    /// Something that is none of what may stand there.
    #[error("`{found}` is not {expected}")]
    NotA {
        /// The text.
        found: String,
        /// The values allowed there.
        expected: String,
    },
    /// A list that ends too early.
    #[error("{what} lacks its {field}")]
    Lacks {
        /// The name of the list in messages.
        what: &'static str,
        /// The field that should follow.
        field: String,
    },
    /// A list that has more than it may.
    #[error("`{extra}` is one field too many for {what}")]
    TooMany {
        /// The first field too many.
        extra: String,
        /// The name of the list in messages.
        what: &'static str,
    },
    /// A packet that is not there.
    #[error("packet {packet} {why}")]
    Packet {
        /// The number of the packet.
        packet: u64,
        /// The reason why the packet cannot be used.
        why: &'static str,
    },
    /// A text or file that breaks off or has no operations.
    #[error("{0}")]
    Form(&'static str),
    /// A fault of one operation.
    #[error("operation {index}{shown}: {fault}")]
    Operation {
        /// The number of the operation, from 0 on.
        index: usize,
        /// The operation in parentheses; empty in the packed form.
        shown: String,
        /// The fault of the operation.
        fault: Box<Self>,
    },
    /// Parameters that contradict each other or the link.
    #[error("{0}")]
    Queue(ParamError),
}

impl Fault {
    pub(crate) fn field(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Field { field: field.into(), why: why.into() }
    }

    pub(crate) fn not_a(found: impl ToString, expected: impl Into<String>) -> Self {
        Self::NotA { found: found.to_string(), expected: expected.into() }
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error.to_string())
    }
}

/// Why a program gave no answer that can be used.
#[derive(Debug, Error)]
pub(crate) enum Silence {
    #[error("its answer cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("no answer within {0:?}")]
    Late(Duration),
    #[error("it ended ({0})")]
    Ended(std::process::ExitStatus),
    #[error("it closed its output and did not end")]
    Closed,
    #[error("interrupted")]
    Stopped,
    #[error("{0}")]
    Lost(std::io::Error),
    #[error("its answer to the head is {0}: expected {{\"ready\":true}} or {{\"skip\":\"why\"}}")]
    NotReady(String),
}
