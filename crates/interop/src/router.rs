//! Queues in the words of routers.
//!
//! [`setup`] finds in a scenario what is to be set on a router: for each direction a rate and a
//! queue. [`dialect`] says it in the words of a target by one table per target; [`syntax`] puts the
//! words into files and command lines. [`tc`] reads them back, from command lines and from what `tc
//! -j` prints.

pub mod dialect;
pub mod doctor;
pub mod setup;
pub mod syntax;
pub mod tc;
