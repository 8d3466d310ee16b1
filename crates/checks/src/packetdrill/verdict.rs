//! What became of a script.

use std::fmt;

/// What became of a script.
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
        /// What it is.
        reason: String,
    },
}

/// The first difference between a script and a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line of the script.
    pub line: u32,
    /// What differs, for instance `ack` or `time`.
    pub what: &'static str,
    /// What the script says.
    pub expected: String,
    /// What happened.
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
