//! The script language of packetdrill for TCP in user space, in virtual time.
//!
//! packetdrill is a tool of Google for testing the TCP of a kernel. Its scripts say which segments
//! arrive, which should leave and when, what an application calls, and what the state should be.
//! Many people know the language, and hundreds of scripts are public. This crate reads them and
//! carries them out against any TCP that takes segments and time as arguments: it needs no kernel,
//! no root and no interpreter of Python, and a run takes a few microseconds per event.
//!
//! ```text
//! +.1 < . 1:1(0) ack 1 win 320 <sack 1001:4001,nop,nop>    a segment arrives after 100 ms
//! +0  > . 1:1001(1000) ack 1                               this one should leave at once
//! +0  %{ assert tcpi_ca_state == TCP_CA_Recovery }%        and the state should be this
//! ```
//!
//! [`parse`] reads a script, [`run`] carries it out against a [`Stack`], and a [`Verdict`] is what
//! comes out: it passes, it fails with the first [`Difference`], or it does not apply, because the
//! stack does not model what the script needs. `examples/own_stack.rs` has a TCP of sixty lines and
//! a script for it. The module [`goodqueue`] has goodqueue's own.
//!
//! # Differences from the original
//!
//! - Time is virtual. What is due at an instant happens at that instant, in the order of the
//!   script.
//! - Commands in back quotes are not run. Assignments of sysctls become [`Setting`]s for the stack.
//! - Of Python, `%{ }%` has assertions, `print`, assignments and arithmetic.
//! - There is one connection. Encapsulation, ICMP and UDP are recognized, and such scripts do not
//!   apply.
//! - Addresses, ports, payload and checksums do not matter.

mod code;
mod error;
pub mod goodqueue;
mod lexer;
mod parser;
mod runner;
mod script;
mod shell;
mod stack;
mod verdict;

pub use code::Program;
pub use error::{Place, ScriptError};
pub use goodqueue_tcp::wire::{Packet, TcpFlags, TcpOption};
pub use lexer::MAX_SCRIPT;
pub use parser::parse;
pub use runner::{Settings, run};
pub use script::{Action, Call, EcnCheck, Event, EventTime, Script, ScriptOption, ScriptPacket, Value};
pub use shell::Setting;
pub use stack::{Compared, NotModelled, Returned, Stack};
pub use verdict::{Difference, Verdict};
