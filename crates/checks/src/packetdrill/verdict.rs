//! The verdict on a script.

use std::fmt;

/// The outcome of running a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything came as the script says.
    Pass,
    /// Something did not.
    Fail(Difference),
    /// The script needs something that the stack does not model.
    NotApplicable {
        /// The line that needs it.
        line: u32,
        /// The reason, in a few words.
        reason: String,
    },
}

/// The first difference between a script and a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line of the script.
    pub line: u32,
    /// The part that differs, for instance `ack` or `time`.
    pub what: &'static str,
    /// The value that the script expects.
    pub expected: String,
    /// The value that occurred.
    pub got: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("passes"),
            Self::Fail(difference) => write!(f, "fails: {difference}"),
            Self::NotApplicable { line, reason } => write!(f, "does not apply: line {line}: {reason}"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: expected {}, got {}", self.line, self.what, self.expected, self.got)
    }
}
