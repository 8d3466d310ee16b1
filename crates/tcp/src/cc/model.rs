//! A control's model of its path, for observers such as tests and traces.

use goodqueue_base::units::Duration;

/// A control's model of the path, in the terms of draft-ietf-ccwg-bbr. Bandwidths are in segments
/// per second, volumes in segments; `None` is a bound that is not set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathModel {
    /// The phase that the control is in.
    pub phase: ModelPhase,
    /// Pacing rate over bandwidth.
    pub pacing_gain: f64,
    /// Window over bandwidth-delay product.
    pub cwnd_gain: f64,
    /// Largest delivery rate remembered: `BBR.max_bw`.
    pub max_bandwidth: f64,
    /// Bound on the bandwidth after losses: `BBR.bw_shortterm`.
    pub bandwidth_short: Option<f64>,
    /// Smallest round-trip time remembered: `BBR.min_rtt`.
    pub min_rtt: Option<Duration>,
    /// Volume that the bandwidth-delay product calls for: `BBRInflight(1.0)`.
    pub wanted: f64,
    /// Bound on the volume in flight after losses: `BBR.inflight_shortterm`.
    pub inflight_short: Option<f64>,
    /// Volume found to be too much while probing: `BBR.inflight_longterm`.
    pub inflight_long: Option<f64>,
    /// The long-term bound less what is left to others: `BBRInflightWithHeadroom()`.
    pub with_headroom: Option<f64>,
    /// Segments acknowledged beyond what the bandwidth explains: `BBR.extra_acked`.
    pub extra_acked: f64,
    /// Round trips so far: `BBR.round_count`.
    pub rounds: u64,
    /// Round trips without much growth: `BBR.full_bw_count`.
    pub plateau_rounds: u32,
    /// Whether the pipe has ever been full: `BBR.full_bw_reached`.
    pub has_been_full: bool,
}

/// The phase of a control that models its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelPhase {
    /// Looks for the bandwidth by doubling the rate.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// Drains the queue of a probe.
    Down,
    /// Keeps the bandwidth.
    Cruise,
    /// Fills the pipe before a probe.
    Refill,
    /// Probes for bandwidth.
    Up,
    /// Probes for the round-trip time.
    ProbeRtt,
}

impl ModelPhase {
    /// The name in the draft.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Startup => "STARTUP",
            Self::Drain => "DRAIN",
            Self::Down => "PROBE_DOWN",
            Self::Cruise => "PROBE_CRUISE",
            Self::Refill => "PROBE_REFILL",
            Self::Up => "PROBE_UP",
            Self::ProbeRtt => "PROBE_RTT",
        }
    }
}
