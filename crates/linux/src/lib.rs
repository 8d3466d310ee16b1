//! Real Linux kernels in virtual time as end hosts of a simulated network.
//!
//! Guests are User-Mode Linux processes whose clock is the simulation's: idle time costs nothing, load on this machine changes no result, and
//! a run can be repeated. Links, queues, delays and UDP sources are the simulator's own, by way of [`goodqueue_sim::OutsideWorld`]; only
//! TCP is the kernel's.
#![cfg(target_os = "linux")]

pub mod calendar;
pub mod error;
pub mod frame;
mod host;
#[cfg(test)]
mod hostile;
pub mod inside;
pub mod job;
pub mod kernel;
pub mod machine;
pub mod memory;
pub mod report;
pub mod ring;
mod silence;
mod sys;
pub mod vhost;

pub use error::LinuxError;
pub use host::{Hosts, ProgramSaid, Programs, check, execute, run};
pub use kernel::Kernel;
