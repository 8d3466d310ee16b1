//! Sans-IO TCP: senders and receivers as state machines that are given time and segments and give segments back.
//!
//! Sequence numbers are byte offsets in `u64`, so nothing wraps inside; a host that needs 32-bit numbers truncates at its edge.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cc;
mod config;
mod prr;
mod rack;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod segmentation;
mod sender;

pub use cc::{AnyCc, CcError, CongestionControl, kinds};
pub use config::{AckPolicy, CcConfig, Data, EcnMode, LossDetection, ReceiverConfig, SenderConfig, SlowStartExit};
pub use receiver::Receiver;
pub use segment::{Flags, SackBlock, Segment};
pub use sender::{Sender, SenderStatistics, Transmit};
