//! Settings of senders and receivers. Every default is Linux's where Linux has one, else the RFC's.

use alloc::vec::Vec;
use goodqueue_units::{Bytes, Duration};

/// Which congestion control, and its own parameters under the names its description lists.
#[derive(Clone, Debug, PartialEq)]
pub struct CcConfig {
    /// The name in files, for instance `cubic`.
    pub kind: &'static str,
    /// Given parameters; the others have their defaults.
    pub params: Vec<(&'static str, f64)>,
}

/// How losses are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDetection {
    /// By time: RACK-TLP (RFC 8985), as Linux does.
    #[default]
    Rack,
    /// By counting: SACK-based recovery with three duplicates (RFC 6675).
    Rfc6675,
}

/// How slow start may end without a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStartExit {
    /// The control's own habit: Linux's HyStart for CUBIC, loss only for Reno.
    #[default]
    Native,
    /// Only by loss or mark.
    LossOnly,
    /// HyStart++ (RFC 9406).
    HystartPlusPlus,
}

/// Does the connection use classic ECN (RFC 3168)?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// All packets are Not-ECT.
    #[default]
    Off,
    /// Data is sent as ECT(0), and ECE is answered once a window.
    Classic,
}

/// How much a sender has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Without end.
    Unlimited,
    /// So many bytes, then FIN.
    Bytes(Bytes),
}

/// Settings of a sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// Congestion control.
    pub cc: CcConfig,
    /// Loss detection.
    pub loss_detection: LossDetection,
    /// Slow-start exit.
    pub slow_start_exit: SlowStartExit,
    /// Classic ECN.
    pub ecn: EcnMode,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Smallest retransmission timeout (Linux 200 ms; RFC 6298 1 s).
    pub rto_min: Duration,
    /// Largest window the receiver offers; `Bytes::MAX` never limits.
    pub max_window: Bytes,
    /// What there is to send.
    pub data: Data,
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every second full segment or after a timer, at once when out of order (RFC 5681 §4.2), with Linux's quick
    /// acknowledgements at the start of a connection.
    Delayed,
    /// Every segment at once.
    EveryPacket,
    /// One acknowledgement per `segments`, or after a timer; at once when out of order.
    EveryWindow {
        /// Segments collected before one acknowledgement.
        segments: u32,
    },
}

/// Settings of a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// When to acknowledge.
    pub ack_policy: AckPolicy,
    /// Longest time an acknowledgement may be held back (Linux 40 ms).
    pub max_ack_delay: Duration,
    /// Full segment size, for counting "every second full segment".
    pub mss: Bytes,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            mss: Bytes::new(1448),
            cc: CcConfig { kind: "cubic", params: Vec::new() },
            loss_detection: LossDetection::default(),
            slow_start_exit: SlowStartExit::default(),
            ecn: EcnMode::default(),
            initial_window: 10,
            rto_min: Duration::ms(200),
            max_window: Bytes::MAX,
            data: Data::Unlimited,
        }
    }
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self { ack_policy: AckPolicy::Delayed, max_ack_delay: Duration::ms(40), mss: Bytes::new(1448) }
    }
}
