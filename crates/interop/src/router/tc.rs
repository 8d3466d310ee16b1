//! Reads the output of `tc` and its command lines.
//!
//! [`read`] takes what `tc -s -j qdisc show` and `tc class show` print, as JSON or as text, and
//! command lines of `tc`, all in one file. [`Discipline`]s are joined to [`Finding`]s, one for each
//! interface: a rate, and a queue in our words.

mod discipline;
mod error;
pub(crate) mod filter;
mod find;
mod framing;
mod json;
mod lines;
mod netem;
mod options;
mod path;
mod recognize;
mod shaper;
mod shell;
mod table;
mod tree;
mod words;

pub use discipline::{Discipline, Role, Setting};
pub use error::TcError;
pub use find::{Finding, LeftOut, findings};
pub(crate) use json::objects;
pub use lines::{Told, follow, read};
pub use netem::Emulated;
pub(crate) use path::{CLASSFUL_SHAPERS, classes};
pub use path::{End, Path};
pub use recognize::Untold;
pub use shaper::{Bucket, ShapedRate};
pub use tree::Tree;
