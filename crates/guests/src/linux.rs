//! Real Linux kernels in virtual time as end hosts of a simulated network.
//!
//! Guests are User-Mode Linux processes that run on the clock of the simulation: idle time costs
//! nothing, the load of this machine changes no result, and runs are reproducible. Links, queues,
//! delays and UDP sources are those of the simulator, through [`goodqueue_sim::OutsideWorld`]; only
//! TCP is that of the kernel.

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
pub mod queue;
pub mod report;
pub mod ring;
mod silence;
mod sys;
pub mod vhost;

pub use error::{LinuxError, NoKernel, Unsupported};
pub use host::{Hosts, MAX_PACKET, ProgramSaid, Programs, check, execute, run};
pub use kernel::Kernel;
pub use queue::KernelQueues;
