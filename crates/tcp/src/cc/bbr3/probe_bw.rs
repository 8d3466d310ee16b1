//! ProbeBW: down to drain, cruise with some headroom for others, refill the pipe for a round trip, up to find bandwidth.

use super::path::Measured;
use super::{Bbr3, Phase};
use crate::cc::{AckSample, Growth};
use goodqueue_units::{Duration, Instant};

/// Round trips after which a probe is due at the latest: what Reno needs for a loss cycle at 25 Mbit/s and 30 ms.
const MOST_ROUNDS: f64 = 63.0;
/// Wall-clock time between probes: two seconds and up to one more.
const WAIT: Duration = Duration::secs(2);
const RANDOM_WAIT: Duration = Duration::secs(1);
/// Beyond this exponent the growth of a probe no longer doubles.
const MOST_DOUBLINGS: u32 = 30;

/// What acknowledgements tell of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    /// Nothing.
    Init,
    /// They are of data from before the pipe was refilled.
    Refilling,
    /// They are of data from before the probe.
    Starting,
    /// They are of the probe's data.
    Feedback,
    /// The probe is over, they still are of its data.
    Stopping,
}

/// State of the probing for bandwidth; volumes in segments.
#[derive(Clone, Debug)]
pub(super) struct Probing {
    acks: Acks,
    /// Acknowledgements are of data sent while probing, and nothing was found to be too much yet.
    pub(super) is_sample: bool,
    /// The last probe lost too much.
    pub(super) too_high: bool,
    /// The last probe was cut short because the one before it had lost too much.
    precautionary: bool,
    cycle_began_at: Instant,
    wait: Duration,
    pub(super) rounds_since_up: u64,
    up_rounds: u32,
    up_acked: f64,
    /// Segments acknowledged per segment by which the long-term bound grows.
    acked_per_segment: f64,
}

impl Probing {
    pub(super) fn new() -> Self {
        Self {
            acks: Acks::Init,
            is_sample: false,
            too_high: false,
            precautionary: false,
            cycle_began_at: Instant::ZERO,
            wait: Duration::ZERO,
            rounds_since_up: 0,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_segment: f64::INFINITY,
        }
    }

    /// The round-trip time is about to be probed.
    pub(super) fn stop(&mut self) {
        self.acks = Acks::Stopping;
    }
}

impl Bbr3 {
    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(self.phase, Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up)
    }

    pub(super) fn is_probing(&self) -> bool {
        matches!(self.phase, Phase::Startup | Phase::Refill | Phase::Up)
    }

    pub(super) fn begin_down(&mut self, now: Instant, delivered_in_all: u64) {
        self.bounds.reset_signals();
        self.probing.acked_per_segment = f64::INFINITY;
        self.probing.rounds_since_up = self.rng.below(2);
        self.probing.wait = WAIT + RANDOM_WAIT.mul_f64(self.rng.uniform());
        self.probing.cycle_began_at = now;
        self.probing.acks = Acks::Stopping;
        self.path.begin_round(delivered_in_all);
        self.phase = Phase::Down;
    }

    pub(super) fn begin_refill(&mut self, delivered_in_all: u64) {
        self.bounds.reset_short_term();
        self.probing.up_rounds = 0;
        self.probing.up_acked = 0.0;
        self.probing.precautionary = false;
        self.probing.acks = Acks::Refilling;
        self.path.begin_round(delivered_in_all);
        self.phase = Phase::Refill;
    }

    fn begin_up(&mut self, seen: &Measured) {
        self.probing.is_sample = true;
        self.probing.acks = Acks::Starting;
        self.path.begin_round(self.delivered_in_all);
        self.full.restart(seen.bandwidth);
        self.phase = Phase::Up;
        self.raise_slope();
    }

    /// The state machine, once the pipe was full.
    pub(super) fn update_cycle(&mut self, seen: &Measured, sample: &AckSample) {
        if !self.full.reached || self.adapt_long_term(seen, sample) {
            return;
        }
        match self.phase {
            Phase::Down if self.is_time_to_probe(sample.now) => self.begin_refill(self.delivered_in_all),
            Phase::Down if self.is_time_to_cruise(sample.in_flight) => self.phase = Phase::Cruise,
            Phase::Cruise if self.is_time_to_probe(sample.now) => self.begin_refill(self.delivered_in_all),
            // After a round trip of refilling.
            Phase::Refill if self.path.round_began => self.begin_up(seen),
            Phase::Up => self.end_up_in_time(seen, sample),
            _ => {}
        }
    }

    fn end_up_in_time(&mut self, seen: &Measured, sample: &AckSample) {
        if self.is_time_to_go_down(seen, sample) {
            self.probing.too_high = false;
            self.begin_down(sample.now, self.delivered_in_all);
        }
    }

    /// What is to be in flight: a bandwidth-delay product, unless congestion cut the window.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(1.0).min(f64::from(self.cwnd))
    }

    fn is_time_to_probe(&self, now: Instant) -> bool {
        let rounds = self.target_inflight().min(MOST_ROUNDS);
        now > self.probing.cycle_began_at + self.probing.wait || self.probing.rounds_since_up as f64 >= rounds
    }

    fn is_time_to_cruise(&self, in_flight: u32) -> bool {
        let in_flight = f64::from(in_flight);
        in_flight <= self.with_headroom() && in_flight <= self.in_flight_at(1.0)
    }

    fn is_time_to_go_down(&mut self, seen: &Measured, sample: &AckSample) -> bool {
        let long = self.bounds.inflight_long;
        if self.probing.too_high && f64::from(sample.in_flight) >= long {
            self.probing.precautionary = true;
            return true;
        }
        if sample.growth == Growth::Allowed && f64::from(self.cwnd) >= long {
            // The bound limits the bandwidth, so that a plateau means nothing.
            self.full.restart(seen.bandwidth);
            return false;
        }
        self.full.now
    }

    /// The long-term bound less what is left to others.
    pub(super) fn with_headroom(&self) -> f64 {
        let long = self.bounds.inflight_long;
        if long == f64::INFINITY {
            return long;
        }
        (long - (self.params.headroom * long).max(1.0)).max(f64::from(super::SMALLEST))
    }

    /// The bound grows by twice as many segments each round trip.
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.probing.up_rounds);
        self.probing.up_rounds = (self.probing.up_rounds + 1).min(MOST_DOUBLINGS);
        self.probing.acked_per_segment = (f64::from(self.cwnd) / growth).max(1.0);
    }

    fn probe_upward(&mut self, sample: &AckSample) {
        if sample.growth == Growth::Held || f64::from(self.cwnd) < self.bounds.inflight_long {
            return;
        }
        self.probing.up_acked += f64::from(sample.delivered);
        if self.probing.up_acked >= self.probing.acked_per_segment {
            let steps = libm::floor(self.probing.up_acked / self.probing.acked_per_segment);
            self.probing.up_acked -= steps * self.probing.acked_per_segment;
            self.bounds.inflight_long += steps;
        }
        if self.path.round_began {
            self.raise_slope();
        }
    }

    /// Follows the acknowledgements of a probe and raises the long-term bound when they lose little. True when it chose the next phase.
    fn adapt_long_term(&mut self, seen: &Measured, sample: &AckSample) -> bool {
        if self.path.round_began && self.probing.acks == Acks::Starting {
            self.probing.acks = Acks::Feedback;
        }
        if self.path.round_began && self.probing.acks == Acks::Stopping {
            self.probing.is_sample = false;
            self.probing.acks = Acks::Init;
            if self.is_in_probe_bw() && !seen.app_limited {
                self.path.end_cycle();
            }
            if self.is_in_probe_bw() && self.probing.precautionary && !self.probing.too_high {
                self.begin_refill(self.delivered_in_all);
                return true;
            }
        }
        if !self.is_too_high(seen) && self.bounds.inflight_long < f64::INFINITY {
            self.bounds.inflight_long = self.bounds.inflight_long.max(seen.tx_in_flight);
            if self.phase == Phase::Up {
                self.probe_upward(sample);
            }
        }
        false
    }
}
