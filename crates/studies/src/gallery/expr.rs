//! Language of `measure`: arithmetic on figures, without loops, assignment or access to anything
//! outside.
//!
//! ```text
//! let worst = min(pick('cp-1', #{load: 'cbr'}, 'links.bottleneck.utilization'));
//! worst * 100
//! ```
//!
//! - values: numbers, `'text'`, arrays `[a, b]`, filters `#{axis: value}`, truth values as results
//!   of comparisons
//! - operators: `+ - * /` and `< <= > >= == !=`, element by element on arrays; `&&` and `||`
//! - `let name = value;`, `if c { a } else { b }`, `a[0]`, `f(a, b)`
//! - closures `|x| x * 2`, as the last argument of `map`, `filter`, `all` and `each_run` and
//!   nowhere else
//!
//! The language has what the rows of the gallery use and nothing more. [`types`] checks an
//! expression before anything runs, `format` lays it out, and evaluation is bounded in depth,
//! work and memory.

mod arithmetic;
mod array;
mod eval;
pub mod format;
mod functions;
mod lists;
mod parse;
mod statistics;
pub mod types;

pub use array::Array;
pub use eval::{Host, evaluate, evaluate_with};
pub use parse::{Closure, Expr, Node, Operator, parse};

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
    /// Axes and what they must be, in the order they were written.
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
            Self::Array(_) => "an array",
            Self::Filter(_) => "a filter",
        }
    }

    /// An array of numbers.
    #[must_use]
    pub fn numbers(values: impl IntoIterator<Item = f64>) -> Self {
        Self::array(values.into_iter().map(Self::Number))
    }

    /// An array.
    #[must_use]
    pub fn array(values: impl IntoIterator<Item = Value>) -> Self {
        Self::Array(values.into_iter().collect())
    }
}

/// Reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text is not an expression of the language.
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

    fn at(self, at: usize) -> ExprError {
        ExprError { at, fault: self }
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
