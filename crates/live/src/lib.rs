//! The simulator's queues on real packets.
//!
//! One thread does everything: receive, queue, shape, delay, send. The layers, in reading order:
//!
//! 1. [`frame`]: what a queue must know of an Ethernet frame, and setting CE in it; [`pool`]:
//!    buffers; [`packet`]: the record of a frame that waits.
//! 2. [`port`]: where frames come from and go to: the program itself, network interfaces, captures;
//!    and faults on top of any. [`segments`]: TCP segments that an offload joined, split before the
//!    queue and joined again behind it, flow by flow (`joiner`).
//! 3. [`Lane`]: a queue, an exact transmitter and a delay line in virtual time, with the calls
//!    the simulator makes.
//! 4. [`Forwarder`]: two ports and two directions, driven by a [`clock`].
//! 5. `drive`, on Linux: the loop of a real thread; [`monitor`]: what it tells others, and what
//!    others ask of it. `splice`: what forwards when that thread has died.
//! 6. [`record`] and [`replay`]: everything a queue saw and decided, and the same once more without
//!    a network.
//! 7. `testbed`, on Linux: real kernel senders around it, in networks of their own; `shell`: a
//!    program of the user in their place.
//!
//! A thread that is late hands packets over late, but the queue does not see it: arrivals carry the
//! time at which the kernel had them, departures are computed, and what the queue is told is in the
//! order in which it should have happened.
#![deny(unsafe_code)]

pub mod clock;
#[cfg(target_os = "linux")]
pub mod drive;
mod flight;
pub mod flows;
pub mod forwarder;
pub mod frame;
mod joiner;
pub mod lane;
pub mod measure;
pub mod monitor;
pub mod packet;
pub mod pool;
pub mod port;
pub mod record;
pub mod replay;
pub mod segments;
mod share;
#[cfg(target_os = "linux")]
pub mod shell;
#[cfg(target_os = "linux")]
pub mod splice;
pub mod spool;
#[cfg(target_os = "linux")]
pub mod sys;
#[cfg(target_os = "linux")]
pub mod testbed;

pub use forwarder::Forwarder;
pub use goodqueue_base::line::{Opportunities, RateSpec};
pub use lane::{Lane, Line};
pub use packet::LivePacket;
