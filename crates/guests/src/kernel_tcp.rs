//! Settings of TCP that kernels do not have, neither in virtual nor in real time.

use goodqueue_base::units::Bytes;
use goodqueue_tcp::{AckPolicy, CcConfig, LossDetection, ReceiverConfig, SackReports, SenderConfig, SlowStartExit};

/// IP and TCP headers without options.
pub const HEADERS: Bytes = Bytes::new(40);
/// The same with timestamps.
pub const WITH_TIMESTAMPS: Bytes = Bytes::new(52);

/// Returns the first key of a sender that no kernel can have, and why. Settings that kernels have
/// in part are up to the host.
///
/// A setting that is added to senders does not compile until it is decided here whose it is.
pub fn refused_sender(sender: &SenderConfig, header: Bytes) -> Option<(&'static str, &'static str)> {
    let SenderConfig {
        mss: _,
        cc: CcConfig { kind: _, params },
        loss_detection,
        slow_start_exit,
        ecn: _,
        initial_window,
        rto_min: _,
        max_window: _,
        offload: _,
        restart_after_idle,
        data: _,
    } = sender;
    if !params.is_empty() {
        return Some(("cc", "a kernel's congestion control has no parameters here"));
    }
    match loss_detection {
        LossDetection::Rack => {}
        LossDetection::Rfc6675 => return Some(("loss_detection", "is the kernel's, rack")),
        LossDetection::Duplicates => return Some(("sack", "is the kernel's, compressed")),
    }
    match slow_start_exit {
        SlowStartExit::Native => {}
        SlowStartExit::LossOnly | SlowStartExit::HystartPlusPlus => return Some(("slow_start_exit", "is the kernel's, native")),
    }
    if !restart_after_idle {
        return Some(("restart_after_idle", "is the kernel's, on"));
    }
    if *initial_window != SenderConfig::default().initial_window {
        return Some(("initial_window", "is the kernel's, 10"));
    }
    if header != HEADERS && header != WITH_TIMESTAMPS {
        return Some(("header", "is 40 B or, with timestamps, 52 B"));
    }
    None
}

/// Returns the first key of a receiver that a kernel's cannot have, and why. The sender has
/// segments of `sender_mss`; `reports` is how the kernel reports gaps where that is not the usual.
pub fn refused_receiver(
    receiver: &ReceiverConfig,
    sender_mss: Bytes,
    reports: Option<SackReports>,
) -> Option<(&'static str, &'static str)> {
    let ReceiverConfig { ack_policy, max_ack_delay, sack, mss } = receiver;
    match ack_policy {
        AckPolicy::Delayed => {}
        AckPolicy::EveryPacket | AckPolicy::EveryWindow { .. } => return Some(("ack", "is the kernel's, delayed")),
    }
    if *max_ack_delay != ReceiverConfig::default().max_ack_delay {
        return Some(("max_ack_delay", "is the kernel's, 40 ms"));
    }
    match sack {
        // The default is every kernel's own.
        SackReports::Compressed => {}
        own if Some(*own) == reports => {}
        SackReports::CompressedLonger | SackReports::Plain | SackReports::Off => {
            return Some(("sack", "is the kernel's, compressed"));
        }
    }
    if *mss != sender_mss {
        return Some(("mss", "must be the same at both ends"));
    }
    None
}
