//! The small language of `measure`: arithmetic on figures, without loops, assignment or access to anything outside.
//!
//! `let worst = min(pick('cp-1', #{load: 'cbr'}, 'links.bottleneck.utilization')); worst * 100`
//!
//! Numbers, `'text'`, `true`, arrays `[a, b]`, maps `#{key: value}`, `+ - * / %` and comparisons (element by element on arrays),
//! `&& || !`, `if c { a } else { b }`, `let`, `a[0]`, calls `f(a, b)` or `a.f(b)`, and closures `|x| x * 2` as arguments. It is a language
//! of its own because it needs nothing that a general one brings, and cannot run on for ever: work is counted.

mod arithmetic;
mod eval;
mod functions;
mod lists;
mod parse;
mod statistics;

pub use eval::{Host, evaluate, evaluate_with};
pub use parse::{Expr, parse};

use std::fmt;
use std::rc::Rc;

/// What an expression gives.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number, never NaN.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
    /// A list.
    Array(Vec<Value>),
    /// Names with values, in the order they were written.
    Map(Vec<(String, Value)>),
    /// A function to be applied to the elements of a list.
    Closure(Rc<eval::Closure>),
}

impl Value {
    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Text(_) => "a text",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
            Self::Closure(_) => "a closure",
        }
    }

    /// An array of numbers.
    #[must_use]
    pub fn numbers(values: impl IntoIterator<Item = f64>) -> Self {
        Self::Array(values.into_iter().map(Self::Number).collect())
    }
}

/// What is wrong in an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// Character of the expression, counted from zero.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.at + 1, self.message)
    }
}

impl std::error::Error for ExprError {}

#[cfg(test)]
mod tests;
