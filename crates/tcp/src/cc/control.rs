//! The interface between a sender and its congestion control.

use super::model::PathModel;
use super::needs::Needs;
use crate::config::{EcnMode, SlowStartExit};
use crate::sample::RateSample;
use core::ops::Deref;
use goodqueue_base::spec::{Kind, ParamValues};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

/// Whether the window may grow on this acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Data was acknowledged in order and the window was in use.
    Allowed,
    /// A reduction is in progress, nothing was acknowledged in order, or the window was not used
    /// up.
    Held,
}

/// The connection is open; data may flow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Established {
    /// Time of the event.
    pub now: Instant,
    /// Initial window in segments.
    pub initial_window: u32,
    /// The handshake's round-trip time; zero when it was repeated and cannot tell.
    pub srtt: Duration,
    /// The kind of ECN both ends agreed on.
    pub ecn: EcnMode,
}

/// The state of a sender, in rising order of trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// All is well.
    #[default]
    Open,
    /// Something was delivered out of order; nothing is known to be lost.
    Disorder,
    /// The window is being reduced without a loss: an ECN echo.
    Reducing,
    /// Losses are being repaired.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

/// A segment leaves while nothing is in flight.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// Time of the transmission.
    pub now: Instant,
    /// Time since the segment sent before it.
    pub silence: Duration,
}

/// One acknowledgement of something new. Segment numbers count from the first data segment of the
/// connection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AckSample {
    /// Time of its arrival.
    pub now: Instant,
    /// Segments it newly reports as delivered, cumulatively or selectively.
    pub delivered: u32,
    /// Whether the window may grow.
    pub growth: Growth,
    /// Round-trip time of the segment sent last among them; `None` when it was retransmitted.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Smallest round-trip time of the last five minutes; zero before the first sample.
    pub min_rtt: Duration,
    /// First segment not acknowledged cumulatively.
    pub una: u64,
    /// Next segment never sent so far.
    pub nxt: u64,
    /// Segments in flight, this acknowledgement counted.
    pub in_flight: u32,
    /// Segments it newly reports as delivered with a mark. With classic feedback (RFC 3168), which
    /// cannot tell, all it delivers while marks are echoed, and at least one.
    pub marked: u32,
    /// State of the sender after it.
    pub state: State,
}

/// The facts of an acknowledgement beyond [`AckSample`], for controls that model the path or count
/// marks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Detail {
    /// Rate at which the network delivered the newly reported segments; `None` when this
    /// acknowledgement does not tell.
    pub rate: Option<RateSample>,
    /// Segments it newly revealed as lost.
    pub lost: u32,
    /// Segments in flight before it.
    pub prior_in_flight: u32,
    /// Segments delivered since the connection began.
    pub delivered_in_all: u64,
    /// Losses found since the connection began, those of retransmissions included.
    pub lost_in_all: u64,
    /// Time from sender to receiver as timestamps tell it: between two clocks it has a constant
    /// offset.
    pub one_way_delay: Duration,
    /// The next segment does not leave before, under pacing.
    pub next_release: Instant,
    /// The window was used up at some time of the last round trip, whether or not this
    /// acknowledgement lets it grow: `C.is_cwnd_limited` of the BBR draft.
    pub window_limited: bool,
    /// The receiver may have held this acknowledgement back: its round-trip time is not to be
    /// trusted as a minimum.
    pub held_back: bool,
}

/// A segment believed lost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LostSegment {
    /// Time at which the loss was noticed.
    pub now: Instant,
    /// Number of the segment.
    pub number: u64,
    /// Segments delivered in all until now.
    pub delivered_in_all: u64,
    /// Segments in flight when it was sent, itself included.
    pub in_flight_when_sent: u32,
    /// Losses found since it was sent, itself included.
    pub lost_since: u64,
    /// Segments delivered in all when it was sent.
    pub prior_delivered: u64,
    /// Whether the application had too little to send then.
    pub app_limited: bool,
}

/// Segments delivered with marks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Marks {
    /// Segments newly delivered.
    pub delivered: u32,
    /// Number of those that were marked.
    pub marked: u32,
    /// First segment not acknowledged.
    pub una: u64,
    /// Next segment never sent so far.
    pub nxt: u64,
}

/// A window lost something (once per window), or echoed congestion (once per window).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Congestion {
    /// Time at which it was noticed.
    pub now: Instant,
    /// Segments sent and not acknowledged cumulatively (RFC 5681's flight size).
    pub flight: u32,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timeout {
    /// Time of the expiry.
    pub now: Instant,
    /// Segments sent and not acknowledged cumulatively.
    pub flight: u32,
    /// Segments still believed in flight: sent less than a round trip ago.
    pub in_flight: u32,
    /// Next segment never sent so far.
    pub nxt: u64,
    /// Whether this window has been reduced already.
    pub response: Response,
}

/// Whether a timeout is news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// First sign of congestion in its window: reduce the slow-start threshold.
    Reduce,
    /// The threshold was reduced for this window before.
    Repeat,
}

/// A congestion control. Windows are whole numbers of segments of the size given when built,
/// expressed in bytes.
#[allow(unused_variables, reason = "defaults ignore what they are given")]
pub trait CongestionControl {
    /// The handshake is done.
    fn on_established(&mut self, event: &Established);
    /// A segment leaves, and nothing else is in flight.
    fn on_sent(&mut self, sent: &Sent) {}
    /// Something was delivered. Controls that need a [`Detail`] get
    /// [`on_detailed_ack`](Self::on_detailed_ack) instead.
    fn on_ack(&mut self, sample: &AckSample);
    /// An acknowledgement arrived, for controls whose [`Needs`] ask for details: also when it
    /// delivers nothing.
    fn on_detailed_ack(&mut self, sample: &AckSample, detail: &Detail) {
        if sample.delivered > 0 {
            self.on_ack(sample);
        }
    }
    /// A segment is believed lost, for controls whose [`Needs`] ask for details; called before the
    /// acknowledgement that reveals it.
    fn on_segment_lost(&mut self, lost: &LostSegment) {}
    /// Sending starts again after a time with nothing to send and nothing in flight, for controls
    /// whose [`Needs`] ask for details.
    fn on_restart(&mut self, now: Instant) {}
    /// Data leaves after a silence, and the window becomes `window` segments (RFC 5681 §4.1). The
    /// threshold remembers three quarters of what it was. Controls that model the path keep theirs.
    fn on_restart_after_idle(&mut self, window: u32) {}
    /// Segments were delivered with marks: called before [`on_ecn`](Self::on_ecn), so that the
    /// answer knows of them. [`on_ack`](Self::on_ack) with the same marks follows in any case.
    fn on_marks(&mut self, marks: &Marks) {}
    /// Losses were found in a window not yet reduced: choose the window to approach.
    fn on_loss(&mut self, loss: &Congestion);
    /// Losses were found while an echo is being answered, `window` segments so far: a new window to
    /// approach, for controls that answer both.
    fn on_loss_after_ecn(&mut self, window: u32) -> Option<u32> {
        None
    }
    /// Congestion was echoed in a window not yet reduced: it counts as a loss (RFC 3168 §5) unless
    /// the control has an answer of its own.
    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }
    /// The retransmission timer expired.
    fn on_rto(&mut self, timeout: &Timeout);
    /// The latest reduction turned out to be a mistake.
    fn on_undo(&mut self, now: Instant) {}
    /// A reduction, a recovery or what followed a timeout is over.
    fn on_recovered(&mut self, now: Instant) {}
    /// The window in bytes. During a reduction the sender approaches it gradually (PRR).
    fn cwnd(&self) -> Bytes;
    /// The slow-start threshold; [`Bytes::MAX`] before the first reduction.
    fn ssthresh(&self) -> Bytes;
    /// Whether the window is below the threshold.
    fn in_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh()
    }
    /// The rate at which payload may leave; `None` lets segments go as the window opens. Asked only
    /// of controls whose [`Needs`] ask for details.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// The largest number of segments that leave together where there is a pacing rate.
    fn pacing_burst(&self) -> u32 {
        1
    }
    /// Whether it deliberately sends less than the path takes. What is delivered then does not show
    /// the path's rate.
    fn holds_back(&self) -> bool {
        false
    }
    /// The control's model of its path, for controls that have one.
    fn path_model(&self) -> Option<PathModel> {
        None
    }
    /// Gives a control that draws random numbers another random stream.
    fn set_rng(&mut self, rng: Rng) {}
}

/// The settings that a control is built from.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// Segment size in bytes.
    pub mss: u32,
    /// Way in which slow start may end.
    pub slow_start_exit: SlowStartExit,
    /// The control's own random numbers.
    pub rng: Rng,
    /// The control's parameters, checked.
    pub given: &'a ParamValues<'a>,
}

/// One congestion control, as named in files.
#[derive(Clone, Copy, Debug)]
pub struct ControlSpec {
    /// Names, summary, parameters, source.
    pub base: Kind,
    /// Demands on the sender.
    pub needs: Needs,
}

impl Deref for ControlSpec {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.base
    }
}

/// The items that a control's file provides besides [`CongestionControl`].
pub trait Control: CongestionControl + Sized {
    /// Name, parameters, source.
    const SPEC: ControlSpec;
    /// Builds it from checked parameters.
    fn build(setup: &Setup<'_>) -> Self;
}
