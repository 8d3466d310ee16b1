//! Detection of a full pipe, and of the losses that end startup earlier.

use super::path::Measured;

/// Growth below which the pipe may be full, and the number of round trips that confirm it.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

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
    pub(super) count: u32,
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
