//! Settings of TCP receivers that kernels do not have, neither in virtual nor in real time.

use goodqueue_base::units::Bytes;
use goodqueue_tcp::{AckPolicy, ReceiverConfig, SackReports};

/// Returns the first key of a receiver that a kernel's cannot have, and why. The sender has
/// segments of `sender_mss`.
pub fn refused(receiver: &ReceiverConfig, sender_mss: Bytes) -> Option<(&'static str, &'static str)> {
    let ReceiverConfig { ack_policy, max_ack_delay, sack, mss } = receiver;
    match ack_policy {
        AckPolicy::Delayed => {}
        AckPolicy::EveryPacket | AckPolicy::EveryWindow { .. } => return Some(("ack", "is the kernel's, delayed")),
    }
    if *max_ack_delay != ReceiverConfig::default().max_ack_delay {
        return Some(("max_ack_delay", "is the kernel's, 40 ms"));
    }
    match sack {
        SackReports::Compressed => {}
        SackReports::Plain | SackReports::Off => return Some(("sack", "is the kernel's, compressed")),
    }
    if *mss != sender_mss {
        return Some(("mss", "must be the same at both ends"));
    }
    None
}
