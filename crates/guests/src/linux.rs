//! Real Linux kernels in virtual time as end hosts of a simulated network.
//!
//! Guests are User-Mode Linux processes that run on the clock of the simulation: idle time costs
//! nothing, the load of this machine changes no result, and runs are reproducible. Links, queues,
//! delays and UDP sources are those of the simulator, through [`goodqueue_sim::OutsideWorld`]; only
//! TCP is that of the kernel.

pub mod error;
pub mod event_queue;
pub mod frame;
mod host;
#[cfg(test)]
mod hostile;
pub mod inside;
pub mod job;
pub mod kernel;
mod liveness;
pub mod machine;
pub mod memory;
pub mod queue;
pub mod report;
pub mod ring;
mod sys;
pub mod vhost;

pub use error::{LinuxError, NoKernel};
pub use host::{GuestExecutables, MAX_PACKET, ProgramSaid, Programs, check, execute, run};
pub use kernel::{Kernel, Series};
pub use queue::KernelQueues;
