//! Other programs' words: those of routers, of measuring tools, and of algorithms elsewhere.
//!
//! - [`router`]: queues in the words of routers, written for them and read from them.
//! - [`import`]: scenarios from measurements.
//! - [`measure`]: a measurement of the line between two machines.
//! - [`program`]: a program of somebody else as the algorithm of simulated queues.
#![forbid(unsafe_code)]

use goodqueue_base::units::Bytes;

/// A full packet of most lines.
pub(crate) const FULL_PACKET: Bytes = Bytes::new(1_500);

pub mod import;
pub mod measure;
pub mod program;
pub mod router;
