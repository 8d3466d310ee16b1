//! Settings from which no queue can be made, and what is wrong with them.

use super::kinds;
use super::params::settable;
use alloc::string::String;
use core::fmt;
use goodqueue_aqm::spec::{KindSpec, ParamError};
use goodqueue_base::spec::quantity::QuantityError;

/// Most bytes of settings in one request.
pub(super) const MAX_TEXT: usize = 4096;
/// Most settings of a queue, those that earlier requests gave included.
pub(super) const MAX: usize = 64;

/// The reason that no queue can be made. It is put into words where it is reported, when the stack
/// is not deep.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A request for this many bytes.
    Bytes(usize),
    /// A setting that is no text.
    NotUtf8,
    /// A setting without a value, or its beginning.
    NotAPair(String),
    /// A name that one request has twice.
    Twice(String),
    /// This many settings, those of earlier requests included.
    Settings(usize),
    /// A request that does not name the queue's kind.
    NoKind,
    /// A kind that there is not.
    UnknownKind(String),
    /// A kind with another behind its colon, which it cannot hold.
    NotOverAnother(&'static str),
    /// A kind that holds another, which is not named.
    NeedsAnother(&'static str),
    /// A parameter of an algorithm further within than the last.
    TooDeep {
        /// The parameter, with each `of.` that it was given.
        name: String,
        /// The innermost kind.
        last: &'static str,
    },
    /// A parameter that a kind does not have.
    UnknownParam {
        /// The parameter, with each `of.` that it was given.
        name: String,
        /// The kind.
        spec: &'static KindSpec,
    },
    /// A value that a parameter cannot have.
    Param {
        /// Levels within the outermost kind.
        depth: usize,
        /// The parameter and its value.
        fault: ParamError,
    },
    /// A parameter that asks for acknowledgements to be read.
    ReadsAcks(String),
    /// A limit that a queue cannot have.
    Limit(QuantityError),
    /// A limit in time on a line of unknown rate.
    LimitNeedsRate,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(count) => write!(f, "settings: {count} bytes are too many: allowed {MAX_TEXT}"),
            Self::NotUtf8 => f.write_str("a setting is not UTF-8"),
            Self::NotAPair(word) => write!(f, "`{word}` is not NAME=VALUE"),
            Self::Twice(name) => write!(f, "{name}: is given twice"),
            Self::Settings(count) => write!(f, "settings: {count} are too many: allowed {MAX}"),
            Self::NoKind => f.write_str("kind: is missing: name the kind of queue, for instance `kind codel`"),
            Self::UnknownKind(name) => {
                write!(f, "kind: `{name}` is not known: allowed ")?;
                list(f, kinds().map(|spec| spec.kind))
            }
            Self::NotOverAnother(kind) => write!(f, "kind: `{kind}` has no inner algorithm"),
            Self::NeedsAnother(kind) => {
                write!(f, "kind: `{kind}` needs the algorithm it is over, for instance `kind {kind}:pie`")
            }
            Self::TooDeep { name, last } => write!(f, "{name}: `{last}` has no such parameter"),
            Self::UnknownParam { name, spec } => {
                write!(f, "{name}: `{}` has no such parameter; it has ", spec.kind)?;
                if settable(spec).next().is_none() {
                    return f.write_str("none");
                }
                list(f, settable(spec).map(|param| param.name))
            }
            Self::Param { depth, fault } => {
                (0..*depth).try_for_each(|_| f.write_str("of."))?;
                fmt::Display::fmt(fault, f)
            }
            Self::ReadsAcks(name) => write!(f, "{name}: the kernel module does not read acknowledgements"),
            Self::Limit(fault) => write!(f, "limit: {fault}"),
            Self::LimitNeedsRate => {
                f.write_str("limit: a time needs the rate of the line: give `link` too, or write bytes or packets")
            }
        }
    }
}

impl core::error::Error for Refusal {}

impl From<ParamError> for Refusal {
    /// A fault of the outermost kind, or of what all queues have.
    fn from(fault: ParamError) -> Self {
        Self::Param { depth: 0, fault }
    }
}

/// The words with commas between them.
fn list(f: &mut fmt::Formatter<'_>, words: impl Iterator<Item = &'static str>) -> fmt::Result {
    for (number, word) in words.enumerate() {
        if number > 0 {
            f.write_str(", ")?;
        }
        f.write_str(word)?;
    }
    Ok(())
}
