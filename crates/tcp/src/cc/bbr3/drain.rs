//! Drain: sends slowly until the queue built in Startup is gone, for at most three round trips.

use super::{Bbr3, Phase};
use goodqueue_base::units::Instant;

const ROUNDS: u64 = 3;

impl Bbr3 {
    pub(super) fn check_drain(&mut self, now: Instant, in_flight: u32) {
        let Phase::Drain { since_round } = self.phase else { return };
        if f64::from(in_flight) <= self.in_flight_at(1.0) || self.path.rounds > since_round + ROUNDS {
            self.begin_down(now, self.delivered_in_all);
        }
    }
}
