//! ProbeBW: cycles through eight phases of about a round trip: one faster to find bandwidth, one
//! slower to drain the resulting queue, six at the known bandwidth.

use super::{Bbr, Detail, Mode};
use goodqueue_base::units::Instant;

pub(super) const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The cycle may start in any phase but the slow one.
const RANDOM_PHASES: u64 = 7;

/// Phase of the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) index: usize,
    began_at: Instant,
}

impl Bbr {
    /// Starts the cycle in a random phase.
    pub(super) fn begin_cycle(&mut self) {
        let index = GAINS.len() - self.rng.below(RANDOM_PHASES) as usize;
        self.mode = Mode::ProbeBw(Phase { index: index % GAINS.len(), began_at: self.path.delivered_at });
    }

    pub(super) fn advance_cycle(&mut self, now: Instant, detail: &Detail) {
        let Mode::ProbeBw(phase) = self.mode else { return };
        if self.phase_is_over(phase, now, detail) {
            let index = (phase.index + 1) % GAINS.len();
            self.mode = Mode::ProbeBw(Phase { index, began_at: self.path.delivered_at });
        }
    }

    fn phase_is_over(&self, phase: Phase, now: Instant, detail: &Detail) -> bool {
        let elapsed = self.path.delivered_at.since(phase.began_at);
        let full_length = self.path.min_rtt.is_some_and(|min_rtt| elapsed > min_rtt);
        if self.pacing_gain == 1.0 {
            return full_length;
        }
        let in_flight = self.in_network(now, detail, detail.prior_in_flight);
        let bandwidth = self.path.max_bandwidth();
        if self.pacing_gain > 1.0 {
            // Until as much is in flight as the gain calls for, unless losses show that a short
            // buffer cannot hold it.
            return full_length && (detail.lost > 0 || in_flight >= self.in_flight_at(bandwidth, self.pacing_gain));
        }
        full_length || in_flight <= self.in_flight_at(bandwidth, 1.0)
    }
}
