//! Settings of senders and receivers. Every default is Linux's where Linux has one, else the RFC's.

use alloc::vec::Vec;
use goodqueue_base::spec::{ParamError, TypedParam, Value};
use goodqueue_base::units::{Bytes, Duration};

/// A congestion control, and its own parameters under the names its description lists.
#[derive(Clone, Debug, PartialEq)]
pub struct CcConfig {
    /// The name in files, for instance `cubic`.
    pub kind: &'static str,
    /// Given parameters; the others have their defaults.
    pub params: Vec<(&'static str, Value)>,
}

/// The method that finds losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDetection {
    /// Detection by time: RACK-TLP (RFC 8985), as Linux does.
    #[default]
    Rack,
    /// Detection by counting: SACK-based recovery with three duplicates (RFC 6675).
    Rfc6675,
    /// Detection by duplicate acknowledgements alone, one loss a round trip: New Reno without SACK
    /// (RFC 6582).
    Duplicates,
}

/// The way in which slow start may end without a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStartExit {
    /// The control's own habit: Linux's HyStart for CUBIC, loss only for Reno.
    #[default]
    Native,
    /// Exit only by loss or mark.
    LossOnly,
    /// HyStart++ (RFC 9406).
    HystartPlusPlus,
}

/// The connection's use of ECN: the codepoint of data packets, and the feedback of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// The control's own habit, as its description says: off for most.
    #[default]
    Native,
    /// The control's own kind of ECN, classic ECN if it has none.
    On,
    /// All packets are Not-ECT.
    Off,
    /// Data is sent as ECT(0), and ECE is answered once per window (RFC 3168).
    Classic,
    /// All packets are ECT(0), and each packet's mark is mirrored in ECE (RFC 8257).
    Mirror,
    /// All packets are ECT(0), and marks are counted (RFC 9768).
    Accurate,
    /// All packets are ECT(1), and marks are counted as with `Accurate`: scalable controls (RFC
    /// 9331).
    L4s,
}

impl EcnMode {
    /// The mode meant, for a control whose own is `native`.
    #[must_use]
    pub const fn resolve(self, native: Self) -> Self {
        match self {
            Self::Native => native,
            Self::On if matches!(native, Self::Off) => Self::Classic,
            Self::On => native,
            given => given,
        }
    }
}

/// The amount of data that a sender has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Data without end.
    Unlimited,
    /// This many bytes, then FIN.
    Bytes(Bytes),
    /// Nothing yet: messages are written one by one ([`Sender::write`](crate::Sender::write)).
    Messages,
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
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Smallest retransmission timeout (Linux 200 ms; RFC 6298 1 s); it expires at the next turn of
    /// the timers' wheel.
    pub rto_min: Duration,
    /// The window the receiver offers, always the same; `Bytes::MAX`: what its acknowledgements
    /// say.
    pub max_window: Bytes,
    /// Segmentation offload: segments leave in pieces, each of which ends with PSH. `None`: the
    /// control's own habit, on for those of Linux.
    pub offload: Option<bool>,
    /// After a silence of more than a retransmission timeout the window shrinks toward the initial
    /// one (RFC 5681 §4.1; Linux' `tcp_slow_start_after_idle`).
    pub restart_after_idle: bool,
    /// Data to send.
    pub data: Data,
}

/// The rule by which a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every second full segment or after a timer, at once when out of order (RFC 5681 §4.2), with
    /// Linux's quick acknowledgements at the start of a connection.
    Delayed,
    /// Every segment at once.
    EveryPacket,
    /// One acknowledgement per `segments`, or after a timer; at once when out of order.
    EveryWindow {
        /// Segments collected before one acknowledgement.
        segments: u32,
    },
}

/// The feedback of a receiver about data beyond a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SackReports {
    /// Each such segment is reported at once a few times, then several together after a twentieth
    /// of the round-trip time, as in Linux from 4.18 to 6.12.
    #[default]
    Compressed,
    /// The same after a third of the round-trip time, as in Linux 7.3.
    CompressedLonger,
    /// Each is reported at once (RFC 2018).
    Plain,
    /// Nothing but that the acknowledgement repeats: no SACK. Wants senders with
    /// [`LossDetection::Duplicates`].
    Off,
}

impl SackReports {
    /// Time for which the reports of a gap are held back after a handshake of `rtt`, with the slack
    /// of Linux' timer; zero when they are not.
    pub(crate) fn merger(self, rtt: Duration) -> Duration {
        let (percent, slack) = match self {
            Self::Compressed => (5, Duration::us(100)),
            Self::CompressedLonger => (33, Duration::us(10)),
            Self::Plain | Self::Off => return Duration::ZERO,
        };
        Duration::ns(rtt.as_nanos() * percent / 100).min(MAX_MERGER_TIME) + slack
    }

    /// Whether it is one of the compressed kinds, which newer hosts have.
    pub(crate) const fn is_compressed(self) -> bool {
        matches!(self, Self::Compressed | Self::CompressedLonger)
    }
}

/// Held-back reports wait no longer than this, the timer's slack apart.
const MAX_MERGER_TIME: Duration = Duration::ms(1);

/// Settings of a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// Rule by which it acknowledges.
    pub ack_policy: AckPolicy,
    /// Longest time an acknowledgement may be held back (Linux 40 ms).
    pub max_ack_delay: Duration,
    /// Selective acknowledgements.
    pub sack: SackReports,
    /// Full segment size, for counting "every second full segment".
    pub mss: Bytes,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            mss: MSS.default,
            cc: CcConfig { kind: "cubic", params: Vec::new() },
            loss_detection: LossDetection::default(),
            slow_start_exit: SlowStartExit::default(),
            ecn: EcnMode::default(),
            initial_window: INITIAL_WINDOW.default,
            rto_min: RTO_MIN.default,
            max_window: Bytes::MAX,
            offload: None,
            restart_after_idle: true,
            data: Data::Unlimited,
        }
    }
}

const MSS: TypedParam<Bytes> = TypedParam::whole_bytes("mss", Bytes::new(1448)).within(16.0, 65_535.0);
const INITIAL_WINDOW: TypedParam<u32> = TypedParam::count("initial_window", 10).within(1.0, 1_048_576.0);
const RTO_MIN: TypedParam<Duration> = TypedParam::duration("rto_min", Duration::ms(200)).within(1e-9, 60.0);

impl SenderConfig {
    /// Checks that the settings are within their ranges.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        MSS.param.check(self.mss.into())?;
        INITIAL_WINDOW.param.check(self.initial_window.into())?;
        RTO_MIN.param.check(self.rto_min.into())?;
        TypedParam::whole_bytes("max_window", Bytes::MAX).at_least(self.max_window, &MSS, self.mss)
    }
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self { ack_policy: AckPolicy::Delayed, max_ack_delay: Duration::ms(40), sack: SackReports::default(), mss: MSS.default }
    }
}
