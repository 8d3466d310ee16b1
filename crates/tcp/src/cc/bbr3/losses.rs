//! Response to losses: lower bounds, the state to return to, and the return.

use super::path::Measured;
use super::{Bbr3, Phase, Undo};
use crate::cc::LostSegment;

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
