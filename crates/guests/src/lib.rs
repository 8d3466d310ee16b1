//! Backends that run scenarios on this machine.
//!
//! - [`backends`]: the simulator everywhere, and on Linux kernel senders in virtual and in real
//!   time.
//! - `linux`: guest kernels in virtual time, as end hosts of a simulated network.

pub mod backends;
#[cfg(target_os = "linux")]
mod kernel_tcp;
#[cfg(target_os = "linux")]
pub mod linux;
