//! Startup: doubles the sending rate each round trip until the bandwidth stops growing, or too much
//! is lost.

use super::path::Measured;
use super::{Bbr3, Phase};
use crate::cc::State;

/// Growth below which the pipe may be full, and the number of round trips that confirm it.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;
/// Separate ranges that must be lost within a round trip.
const LOST_RANGES: u32 = 6;

/// Detection of a full pipe: at present, and ever.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    pub(super) now: bool,
    pub(super) reached: bool,
}

impl FullPipe {
    /// Round trips without much growth.
    pub(super) const fn rounds(&self) -> u32 {
        self.rounds
    }

    pub(super) const fn restart(&mut self, bandwidth: f64) {
        self.bandwidth = bandwidth;
        self.rounds = 0;
        self.now = false;
    }

    pub(super) fn take(&mut self, seen: &Measured, round_began: bool) {
        if self.now || !round_began || seen.app_limited {
            return;
        }
        if seen.bandwidth >= self.bandwidth * GROWTH {
            self.restart(seen.bandwidth);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= ROUNDS;
        self.reached |= self.now;
    }
}

/// Counts the ranges of segments lost in the present round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct LostRanges {
    count: u32,
    next: Option<u64>,
}

impl LostRanges {
    pub(super) fn take(&mut self, number: u64) {
        if self.next != Some(number) {
            self.count += 1;
        }
        self.next = Some(number + 1);
    }
}

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
