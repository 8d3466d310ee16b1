//! Drain: sends slowly until the queue built in Startup is gone.

use super::{AckSample, Bbr, Detail, Mode};

impl Bbr {
    /// Moves from Startup to Drain when the pipe is full, and on to ProbeBW when no more than the
    /// bandwidth-delay product is in flight.
    pub(super) fn check_drain(&mut self, sample: &AckSample, detail: &Detail) {
        let full = self.in_flight_at(self.path.max_bandwidth(), 1.0);
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.ssthresh = Some(full);
        }
        if self.mode == Mode::Drain && self.in_network(sample.now, detail, sample.in_flight) <= full {
            self.begin_cycle();
        }
    }
}
