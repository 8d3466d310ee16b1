//! Expressions of `measure`: Rhai with arithmetic on lists, statistics, and functions that ask for
//! what was measured.
//!
//! ```text
//! let worst = min(pick("cp-1", #{load: "cbr"}, "links.bottleneck.utilization"));
//! worst * 100
//! ```
//!
//! - values: numbers, which are all floating-point once they are calculated with, `"text"`, lists
//!   `[a, b]`, filters `#{axis: value}`, truth values as results of comparisons
//! - operators `+ - * /` and `< <= > >= == !=`, element by element on lists
//! - functions, of which `map`, `filter`, `all` and `each_run` take a closure last
//!
//! Everything else is Rhai's, without loops and definitions. Work, memory, depth and sizes are
//! bounded, since a gallery can be someone else's.

mod arithmetic;
mod array;
mod eval;
mod functions;
mod lists;
mod signatures;
mod statistics;

pub use array::Array;
pub(crate) use eval::engine;
pub use eval::{Branches, Env, Expr, dry_run, evaluate, parse};
pub(crate) use signatures::unfit;

use std::fmt;

/// Result of an expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number, never NaN.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
    /// A list.
    Array(Array),
    /// Axes and what they must be, in the order of their names.
    Filter(Vec<(String, Value)>),
}

impl Value {
    /// Name of the kind of value, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Text(_) => "a text",
            Self::Filter(_) => "a filter",
            Self::Array(items) => match items.first() {
                None => "an empty list",
                Some(Self::Number(_)) => "a list of numbers",
                Some(Self::Bool(_)) => "a list of truth values",
                Some(Self::Text(_)) => "a list of texts",
                Some(Self::Array(_)) => "a list of lists",
                Some(Self::Filter(_)) => "a list of filters",
            },
        }
    }

    /// A list of numbers.
    #[must_use]
    pub fn numbers(values: impl IntoIterator<Item = f64>) -> Self {
        Self::array(values.into_iter().map(Self::Number))
    }

    /// A list.
    #[must_use]
    pub fn array(values: impl IntoIterator<Item = Value>) -> Self {
        Self::Array(values.into_iter().collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Array(_) | Self::Filter(_) => f.write_str(self.kind()),
        }
    }
}

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// Character of the expression, counted from zero.
    pub at: usize,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.at + 1, self.fault)
    }
}

impl std::error::Error for ExprError {}

#[cfg(test)]
mod tests;
