//! Detection of a full pipe, as both versions of BBR do it.

/// Growth below which the pipe may be full, and the number of round trips that confirm it.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// Detection of a full pipe: at present, and ever.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) bandwidth: f64,
    /// Round trips without much growth.
    pub(super) rounds: u32,
    pub(super) now: bool,
    pub(super) reached: bool,
}

impl FullPipe {
    pub(super) const fn restart(&mut self, bandwidth: f64) {
        self.bandwidth = bandwidth;
        self.rounds = 0;
        self.now = false;
    }

    /// Examines the bandwidth at the start of a round trip that was not limited by the application.
    pub(super) fn take(&mut self, bandwidth: f64) {
        if self.now {
            return;
        }
        if bandwidth >= self.bandwidth * GROWTH {
            self.restart(bandwidth);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= ROUNDS;
        self.reached |= self.now;
    }
}
