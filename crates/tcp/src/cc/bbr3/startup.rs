//! Startup: doubles the sending rate each round trip until the bandwidth stops growing, or too much
//! is lost.

use super::path::Measured;
use super::{Bbr3, Phase};
use crate::cc::State;

/// Separate ranges that must be lost within a round trip.
const LOST_RANGES: u32 = 6;

impl Bbr3 {
    pub(super) fn check_startup(&mut self, seen: &Measured, standing: State) {
        if self.bounds.loss_round_began {
            let many = core::mem::take(&mut self.startup_losses).count >= LOST_RANGES;
            let exit = self.phase == Phase::Startup && standing == State::Recovery && self.was_recovering && many;
            if exit && self.is_too_high(seen) {
                self.undo.left = Some(Phase::Startup);
                self.full.reached = true;
                self.bounds.bound_long(self.bdp(1.0).max(self.bounds.inflight_latest));
            }
            self.was_recovering = standing == State::Recovery;
        }
        if self.phase == Phase::Startup && self.full.reached {
            self.phase = Phase::Drain { since_round: self.path.rounds };
        }
    }
}
