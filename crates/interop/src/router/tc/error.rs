//! Errors in the output and command lines of `tc`.

use thiserror::Error;

/// More lines than this are not a host's.
pub(super) const MAX: usize = 10_000;
/// More lines than this set no host's queues; each searches for what it changes.
pub(super) const MAX_SET: usize = 2 * MAX;
/// More words than these are no line of `tc`.
pub(super) const MAX_WORDS: usize = 1_000;
/// More options than these are none of a discipline.
pub(super) const MAX_OPTIONS: usize = 300;
/// A discipline in a list is no longer.
pub(super) const MAX_OBJECT: usize = 64 << 10;

/// Why words of `tc` cannot be taken over.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TcError {
    /// A part that begins as JSON is none.
    #[error("is not JSON: {0}")]
    Json(String),
    /// A line is wrong.
    #[error("line {number}: {fault}")]
    Line {
        /// The number of the line, from 1 on.
        number: usize,
        /// The fault of the line.
        fault: Box<Self>,
    },
    /// More queues than any host has.
    #[error("has too many queues: allowed up to {MAX}, set by up to {MAX_SET} lines")]
    TooMany,
    /// A line that is no command's.
    #[error("has too many words: allowed up to {MAX_WORDS}, and {MAX_OPTIONS} options")]
    TooLong,
    /// An object in a list that is no queue's.
    #[error("has a queue of {size} B: allowed up to {MAX_OBJECT} B")]
    TooLarge {
        /// The length of its text.
        size: usize,
    },
    /// A queue discipline that does not say what it is.
    #[error("a kind is missing")]
    NoKind,
    /// A key at the end of a line.
    #[error("{key}: a value is missing")]
    NoValue {
        /// The key.
        key: String,
    },
    /// A queue discipline that is no kind of ours.
    #[error("`{kind}` at {dev} is not a queue that gq has: allowed {known}")]
    Unknown {
        /// The kind, as `tc` calls it.
        kind: String,
        /// The interface.
        dev: String,
        /// The names that we know.
        known: String,
    },
    /// A shaper of which neither a class nor a queue below it is there.
    #[error("the classes of {kind} at {dev} are not there: add what tc class show dev {dev} prints")]
    NoClasses {
        /// The kind, as `tc` calls it.
        kind: String,
        /// The interface.
        dev: String,
    },
    /// A queue discipline whose options the `tc` that printed it did not know.
    #[error("`{kind}` at {dev} is printed without its settings, by a tc that does not know it: take a newer tc")]
    Unprinted {
        /// The kind, as `tc` calls it.
        kind: String,
        /// The interface.
        dev: String,
    },
    /// Classes of several interfaces, of which `tc` does not print whose they are.
    #[error(
        "has several classes {handle} without their interface: put a line `dev NAME` before what tc class show dev NAME prints"
    )]
    Classes {
        /// The handle that they share.
        handle: String,
    },
    /// A class that is below too many others, or below itself.
    #[error("{class} at {dev} is too deep: allowed {most} classes one below another")]
    Deep {
        /// The class.
        class: String,
        /// The interface.
        dev: String,
        /// The most classes one below another.
        most: usize,
    },
    /// A class without the rate that it may always use.
    #[error("{class}: rate: is missing, and tc refuses the line: give it for instance 9500kbit")]
    NoRate {
        /// The class.
        class: String,
    },
    /// A rate that is none, or out of range.
    #[error("{owner}: {key}: `{value}` is not a rate: allowed 1bit to 10tbit, such as 9500kbit")]
    Rate {
        /// The queue discipline.
        owner: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A word that the kind does not have.
    #[error("{owner}: `{word}` is not a word of it, and tc refuses the line: see man tc-cake")]
    Word {
        /// The queue discipline.
        owner: String,
        /// The word.
        word: String,
    },
    /// A value out of the range that its key has.
    #[error("{owner}: {key}: `{value}` is not a value of it: allowed {allowed}")]
    Range {
        /// The queue discipline.
        owner: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The range, in words.
        allowed: &'static str,
    },
    /// A value that its key cannot have.
    #[error("{owner}: {key}: `{value}` is not a value of it")]
    Value {
        /// The queue discipline.
        owner: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
}

impl TcError {
    pub(super) fn in_line(number: usize) -> impl Fn(Self) -> Self {
        move |fault| Self::Line { number, fault: Box::new(fault) }
    }
}
