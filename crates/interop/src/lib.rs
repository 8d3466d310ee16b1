//! Conversion between scenarios and the formats of routers and measuring tools, in both directions.
//!
//! - [`router`]: queues in the words of routers, written for them and read from them.
//! - [`import`]: scenarios from measurements.
#![forbid(unsafe_code)]

pub mod import;
pub mod router;
