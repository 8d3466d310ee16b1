//! Reasons why expressions have no value.

/// Reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text is not an expression.
    #[error("{0}")]
    Syntax(String),
    /// A function, name, experiment, axis, figure, column or probe that does not exist.
    #[error("{0}")]
    Unknown(String),
    /// Operands or arguments of the wrong kind.
    #[error("{0}")]
    Type(String),
    /// More depth, work or memory than any row needs.
    #[error("{0}")]
    Limit(String),
    /// The expression is sound, but the measured values do not give it a value.
    #[error("{0}")]
    NoValue(String),
}

impl Fault {
    /// Whether the expression itself is wrong, whatever was measured.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        !matches!(self, Self::NoValue(_))
    }

    /// The same fault with more words before its message.
    pub(crate) fn within(self, place: &str) -> Self {
        let more = |message: String| format!("{place}: {message}");
        match self {
            Self::Syntax(message) => Self::Syntax(more(message)),
            Self::Unknown(message) => Self::Unknown(more(message)),
            Self::Type(message) => Self::Type(more(message)),
            Self::Limit(message) => Self::Limit(more(message)),
            Self::NoValue(message) => Self::NoValue(more(message)),
        }
    }
}

/// A fault of an expression with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {}: {fault}", .at + 1)]
pub struct ExprError {
    /// Character of the expression, counted from zero.
    pub at: usize,
    /// The fault.
    pub fault: Fault,
}
