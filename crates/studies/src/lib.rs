//! Experiments that others have described.
//!
//! - [`gallery`]: published studies reproduced, statement by statement.
//! - [`evaluate`]: queues by RFC 7928, congestion controls by RFC 9743.
//! - [`page`]: the frame of their pages.

pub mod evaluate;
pub mod gallery;
pub mod page;
