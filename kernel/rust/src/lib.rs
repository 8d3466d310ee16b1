//! The queues of goodqueue as a Linux queue discipline: what the kernel module in `kernel/` calls.
//!
//! The module is C: it talks to netlink and to the network stack, and owns packets, time, locks and
//! memory. Everything that decides is here and in `goodqueue-aqm`, the same code as in the
//! simulator. `kernel/module/gqk.h` is made from this crate.
//!
//! One function, [`gqk_work`], is all that the module calls, so that there is one place where a
//! panic is caught: the panic handler leaves the library for good and the module continues as a
//! FIFO queue with the packets it has, as it keeps a list of them.
//!
//! A queue lives in one [`Arena`] that the module takes from the kernel when the queue is made.
//! Nothing here asks the kernel for memory, and packets need none:
//! [`goodqueue_aqm::Qdisc::reserve`] has taken what they need. When an arena is too small, making
//! the queue fails and the module tries a larger one.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod arena;
#[cfg(target_os = "none")]
mod bare;
mod entry;
mod packet;
mod settings;
mod show;

pub use arena::Arena;
pub use entry::{
    GQK_DEQUEUE, GQK_DONE, GQK_ENQUEUE, GQK_MAKE, GQK_NEVER, GQK_REFUSED, GQK_SETTINGS, GQK_STATISTICS, GqkCall, Queue,
    gqk_arena_new, gqk_arena_used, gqk_work,
};
pub use packet::GqkFacts;
pub use settings::GqkDevice;
