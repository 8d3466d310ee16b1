//! Vectors: operations on queues with the verdicts that must follow, and two ways of checking an
//! implementation against them.
//!
//! 1. [`Vector`]: one file; [`library`]: the vectors that come with goodqueue.
//! 2. [`replay`]: our own queues, called directly.
//! 3. [`against`]: any program, over its standard input and output.
//!
//! `docs/conformance.md` describes the file format and the protocol for authors of such a program.

pub mod against;
mod fault;
mod fields;
pub mod library;
mod operation;
mod packed;
mod replay;
mod vector;

pub use fault::{Fault, VERSION};
pub use operation::{Event, Operation, Step, What};
pub use replay::{Difference, Outcome, replay};
pub use vector::{Generator, Vector, VectorError};
