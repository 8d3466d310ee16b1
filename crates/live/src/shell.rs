//! A program behind a shaped line of its own, in real time.
//!
//! Three processes accompany the program. Each ends when the one before it is gone, however it
//! went, and with the last all namespaces and everything in them:
//!
//! 1. [`outside`] is the command itself, in the network that it was started in. It makes the
//!    connections that the program asks for (`relay`).
//! 2. [`close_off`](crate::sys::namespace::close_off) leaves the second one behind, which
//!    only waits.
//! 3. [`inside`] is the first process of a PID namespace. It builds the networks (`place`),
//!    starts the line between them, a server if there is one, and the program, and watches for
//!    packets that open something new (`on_demand_sockets`).
//!
//! ```text
//! program ── line0 ── gq-b [ line ] gq-a ── wan ── far end ── server, or relayed by `outside`
//! ```
//!
//! The way out needs neither privileges nor rules for the host: at the far end, a socket answers
//! for all addresses at each port that the program has tried, and its other half is opened outside.

pub mod inside;
mod on_demand_sockets;
pub mod outside;
mod place;
mod refusal;
mod relay;

use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// Settings that the processes pass on to one another when they start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// Command that a shell runs at the far end; the program reaches that host as `server`.
    pub server: Option<String>,
    /// Command that starts the line: a program and its arguments, to which the interfaces are
    /// added.
    pub line: Vec<String>,
    /// Prefix that starts a program as the user of the command: words that come before the program.
    pub seat: Vec<String>,
    /// Shells around this one.
    pub depth: u8,
    /// The descriptor of the connection to [`outside`].
    pub connection: i32,
}

/// Shells within one another at most: each has a network of its own among 256.
pub const MAX_DEPTH: u8 = 200;
/// The variable that tells a program how many shells are around it.
pub const DEPTH_VARIABLE: &str = "GQ_SHELL";

impl Order {
    const fn address(&self, last: u8) -> Ipv4Addr {
        // Shared address space (RFC 6598): neither the Internet nor a home network has it.
        Ipv4Addr::new(100, 64, self.depth, last)
    }

    /// The far end of the line.
    #[must_use]
    pub const fn gateway(&self) -> Ipv4Addr {
        self.address(1)
    }

    /// The program's end.
    #[must_use]
    pub const fn near(&self) -> Ipv4Addr {
        self.address(2)
    }

    /// The server at the far end.
    #[must_use]
    pub const fn server_address(&self) -> Ipv4Addr {
        self.address(3)
    }

    /// Stands for the machine outside.
    #[must_use]
    pub const fn outside_address(&self) -> Ipv4Addr {
        self.address(4)
    }
}

/// Returns the exit code that shells report for this status.
#[must_use]
pub fn exit_code(status: std::process::ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => (code & 0xFF) as u8,
        (None, Some(signal)) => (128 + signal).clamp(0, 255) as u8,
        (None, None) => 1,
    }
}
