//! Response to losses: the lost share of a round trip, the latest delivered rate and volume, and
//! the resulting bounds for the short term (while cruising) and the long term (what probing found
//! to be too much).

use super::path::Measured;
use super::{Bbr3, Phase};
use crate::cc::LostSegment;

/// Congestion signals and bounds. Volumes are in segments, bandwidths in segments per second.
#[derive(Clone, Debug)]
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
        Self {
            loss_in_round: false,
            loss_round_end: 0,
            loss_round_began: false,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            bw_short: f64::INFINITY,
            inflight_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
        }
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
    fn lower(&mut self, max_bandwidth: f64, cwnd: f64, beta: f64) {
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

/// State to restore after a spurious recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The phase that the losses ended.
    pub(super) left: Option<Phase>,
    bw_short: f64,
    inflight_short: f64,
    inflight_long: f64,
}

impl Undo {
    pub(super) const NOTHING: Self = Self { left: None, bw_short: 0.0, inflight_short: 0.0, inflight_long: 0.0 };
}

impl Bbr3 {
    /// Runs once per round trip, outside of probing.
    pub(super) fn adapt_to_congestion(&mut self) {
        if !self.bounds.loss_round_began {
            return;
        }
        if self.bounds.loss_in_round && !self.is_probing() {
            self.bounds.lower(self.path.max_bandwidth(), f64::from(self.cwnd), self.params.beta);
        }
        self.bounds.loss_in_round = false;
    }

    /// Whether more was in flight than the path carries without excessive loss.
    pub(super) fn is_too_high(&self, seen: &Measured) -> bool {
        seen.lost > seen.tx_in_flight * self.params.loss_threshold
    }

    pub(super) fn save_state(&mut self) {
        self.save_window();
        self.undo = Undo {
            left: None,
            bw_short: self.bounds.bw_short,
            inflight_short: self.bounds.inflight_short,
            inflight_long: self.bounds.inflight_long,
        };
    }

    pub(super) fn note_loss(&mut self, lost: &LostSegment) {
        if !self.bounds.loss_in_round {
            self.bounds.loss_round_end = lost.delivered_in_all;
            self.save_state();
        }
        self.bounds.loss_in_round = true;
        self.startup_losses.take(lost.number);
        if !self.probing.is_sample {
            return;
        }
        let mut seen = Measured {
            tx_in_flight: f64::from(lost.in_flight_when_sent),
            lost: lost.lost_since as f64,
            app_limited: lost.app_limited,
            ..Measured::default()
        };
        if self.is_too_high(&seen) {
            seen.tx_in_flight = self.in_flight_at_loss(&seen);
            self.lower_long_term(&seen, lost);
        }
    }

    /// Volume in flight at which losses crossed the threshold.
    fn in_flight_at_loss(&self, seen: &Measured) -> f64 {
        let threshold = self.params.loss_threshold;
        let before = seen.tx_in_flight - 1.0;
        let lost_before = seen.lost - 1.0;
        before + (threshold * before - lost_before) / (1.0 - threshold)
    }

    fn lower_long_term(&mut self, seen: &Measured, lost: &LostSegment) {
        self.probing.too_high = true;
        self.probing.is_sample = false;
        if !seen.app_limited {
            self.bounds.bound_long(seen.tx_in_flight.max(self.target_inflight() * self.params.beta));
        }
        if self.phase == Phase::Up {
            self.undo.left = Some(Phase::Up);
            self.begin_down(lost.now, lost.delivered_in_all);
        }
    }

    /// Reverts the latest recovery, which was spurious.
    pub(super) fn take_back(&mut self) {
        self.restore_window();
        self.bounds.loss_in_round = false;
        self.full.restart(0.0);
        self.bounds.bw_short = self.bounds.bw_short.max(self.undo.bw_short);
        self.bounds.inflight_short = self.bounds.inflight_short.max(self.undo.inflight_short);
        self.bounds.inflight_long = self.bounds.inflight_long.max(self.undo.inflight_long);
        let probing_rtt = matches!(self.phase, Phase::ProbeRtt(_));
        match self.undo.left.take() {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.full.reached = false;
                if !probing_rtt {
                    self.phase = Phase::Startup;
                }
            }
            Some(Phase::Up) if self.phase != Phase::Up && !probing_rtt => self.begin_refill(self.delivered_in_all),
            _ => {}
        }
    }
}
