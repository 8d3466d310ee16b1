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
mod eval;
mod fault;
mod functions;
mod lists;
mod signatures;
mod statistics;
mod value;

pub(crate) use eval::engine;
pub use eval::{Branches, Env, Expr, dry_run, evaluate, parse};
pub(crate) use signatures::unfit;
pub(crate) use statistics::quantile;

pub use fault::{ExprError, Fault};
pub use value::{Array, Value};

#[cfg(test)]
mod tests;
