//! Hosts that run scenarios on this machine.
//!
//! - [`hosts`]: the simulator everywhere, and on Linux kernel senders in virtual and in real time.
//! - `linux`: guest kernels in virtual time, as end hosts of a simulated network.

pub mod hosts;
#[cfg(target_os = "linux")]
mod kernel_tcp;
#[cfg(target_os = "linux")]
pub mod linux;
