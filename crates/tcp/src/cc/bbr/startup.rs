//! Startup: doubles the sending rate each round trip until the bandwidth stops growing.

use super::path::Path;

/// Growth below which the pipe may be full, and the number of round trips that confirm it.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// Detection of a full pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

impl FullPipe {
    /// Round trips without much growth.
    pub(super) const fn rounds(&self) -> u32 {
        self.rounds
    }

    pub(super) const fn is_reached(&self) -> bool {
        self.reached
    }

    /// Examines the bandwidth at the start of each round trip that was not limited by the
    /// application.
    pub(super) fn take(&mut self, path: &Path, app_limited: bool) {
        if self.reached || !path.round_began || app_limited {
            return;
        }
        if path.max_bandwidth() >= self.bandwidth * GROWTH {
            self.bandwidth = path.max_bandwidth();
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= ROUNDS;
    }

    /// Discards the observed bandwidth, which may have changed, after a timeout.
    pub(super) const fn forget_bandwidth(&mut self) {
        self.bandwidth = 0.0;
    }

    /// Discards the observed bandwidth and starts over after a spurious reduction.
    pub(super) const fn restart(&mut self) {
        self.bandwidth = 0.0;
        self.rounds = 0;
    }
}
