//! Real kernel senders around the live queue, on one machine, in networks of its own.
//!
//! [`namespace`] makes empty networks that vanish with their last user; [`mod@bench`] puts three of
//! them in a row, with the live forwarder in the second; [`experiment`] runs flows across it
//! and measures. Nothing is sent outside of them.

pub mod bench;
pub mod experiment;
pub mod namespace;
