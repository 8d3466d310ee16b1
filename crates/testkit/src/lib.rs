//! Shared by the tests of several crates: operations on queues and their generators, a host that
//! checks the contract of a queue, and a small scripted link.
//!
//! Development only: nothing that ships depends on this crate.

mod checked;
mod link;
mod operation;
mod standing;

pub use checked::{CheckedQueue, Order};
pub use link::{Load, Observed, ScriptedLink};
pub use operation::{Mix, Operation, Operations};
pub use standing::StandingQueue;
