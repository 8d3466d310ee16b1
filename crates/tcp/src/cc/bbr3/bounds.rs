//! Response to losses: the lost share of a round trip, the latest delivered rate and volume, and
//! the resulting bounds for the short term (while cruising) and the long term (what probing found
//! to be too much).

use super::path::Measured;

/// Congestion signals and bounds. Volumes are in segments, bandwidths in segments per second.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Whether anything was lost in the present round trip, counted from the first loss.
    pub(super) loss_in_round: bool,
    pub(super) loss_round_end: u64,
    pub(super) loss_round_began: bool,
    bw_latest: f64,
    pub(super) inflight_latest: f64,
    pub(super) bw_short: f64,
    pub(super) inflight_short: f64,
    pub(super) inflight_long: f64,
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self { bw_short: f64::INFINITY, inflight_short: f64::INFINITY, inflight_long: f64::INFINITY, ..Self::default() }
    }

    pub(super) fn reset_signals(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bw_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
    }

    /// Runs near the start of processing an acknowledgement.
    pub(super) fn take_latest(&mut self, seen: &Measured, delivered_in_all: u64) {
        self.loss_round_began = false;
        self.bw_latest = self.bw_latest.max(seen.bandwidth);
        self.inflight_latest = self.inflight_latest.max(seen.volume);
        if seen.prior_delivered.is_some_and(|prior| prior >= self.loss_round_end) {
            self.loss_round_end = delivered_in_all;
            self.loss_round_began = true;
        }
    }

    /// Runs near the end of processing an acknowledgement.
    pub(super) fn advance_latest(&mut self, seen: &Measured) {
        if self.loss_round_began {
            self.bw_latest = seen.bandwidth;
            self.inflight_latest = seen.volume;
        }
    }

    /// Sets the long-term bound, in whole segments as windows are: a window at a bound with a
    /// fraction would never count as one that the bound limits, and the bound would never rise.
    pub(super) fn bound_long(&mut self, volume: f64) {
        self.inflight_long = libm::floor(volume);
    }

    /// Lowers the short-term bounds toward what the path delivered, after a round trip with
    /// losses.
    pub(super) fn lower(&mut self, max_bandwidth: f64, cwnd: f64, beta: f64) {
        if self.bw_short == f64::INFINITY {
            self.bw_short = max_bandwidth;
        }
        if self.inflight_short == f64::INFINITY {
            self.inflight_short = cwnd;
        }
        self.bw_short = self.bw_latest.max(beta * self.bw_short);
        self.inflight_short = self.inflight_latest.max(beta * self.inflight_short);
    }
}
