//! ACK aggregation: the largest number of segments acknowledged at once beyond what the bandwidth
//! explains.

use super::path::Path;
use goodqueue_base::units::Instant;

/// Round trips in each half of the window.
const ROUNDS: u32 = 5;
const RESET_ABOVE: u64 = 1 << 20;
/// Time whose deliveries bound the addition to the window.
const MAX_S: f64 = 0.1;

#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    epoch_began_at: Instant,
    epoch_acked: u64,
    /// Largest excess of the present and of the last five round trips.
    extra: [u64; 2],
    present: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch_began_at = now;
        self.epoch_acked = 0;
    }

    pub(super) fn take(&mut self, path: &Path, bandwidth: f64, acked: u32, cwnd: u32) {
        if path.round_began {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.present = 1 - self.present;
                self.extra[self.present] = 0;
            }
        }
        let elapsed = path.delivered_at.since(self.epoch_began_at);
        let mut expected = (bandwidth * elapsed.as_secs_f64()) as u64;
        // Slower than expected, or very old: start a new epoch.
        if self.epoch_acked <= expected || self.epoch_acked + u64::from(acked) >= RESET_ABOVE {
            self.restart(path.delivered_at);
            expected = 0;
        }
        self.epoch_acked += u64::from(acked);
        let excess = (self.epoch_acked - expected).min(u64::from(cwnd));
        self.extra[self.present] = self.extra[self.present].max(excess);
    }

    /// Segments to add to the window.
    pub(super) fn allowance(&self, bandwidth: f64) -> u32 {
        let most = (bandwidth * MAX_S) as u64;
        self.extra[0].max(self.extra[1]).min(most) as u32
    }
}
