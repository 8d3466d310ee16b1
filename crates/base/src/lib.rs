//! The foundation of all other crates: quantities, parameters and lines, as plain data.
//!
//! - [`units`]: quantities with their unit in the type, and the packet fields that queues see.
//! - [`spec`]: descriptions of parameters as data, with values held against them.
//! - [`mod@line`]: a line's rate over time.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod line;
pub mod spec;
pub mod units;
