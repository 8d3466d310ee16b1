//! ProbeBW: Down drains, Cruise leaves headroom to others, Refill fills the pipe for a round trip,
//! Up looks for bandwidth.

use super::path::Measured;
use super::{Bbr3, Phase};
use crate::cc::AckSample;
use goodqueue_base::units::{Duration, Instant};

/// Most round trips between probes: what Reno needs for a loss cycle at 25 Mbit/s and 30 ms.
const MAX_ROUNDS: f64 = 63.0;
/// Least time between probes; up to one second more is random.
const WAIT: Duration = Duration::secs(2);
const RANDOM_WAIT: Duration = Duration::secs(1);
/// Exponent beyond which the growth of a probe no longer doubles.
const MAX_DOUBLINGS: u32 = 30;

/// The data that the acknowledgements are of, relative to a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Acks {
    /// Unknown.
    #[default]
    Init,
    /// Data from before the pipe was refilled.
    Refilling,
    /// Data from before the probe.
    Starting,
    /// Data of the probe.
    Feedback,
    /// Data of the probe, which is over.
    Stopping,
}

/// State of the probing for bandwidth. Volumes are in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Probing {
    acks: Acks,
    /// Whether acknowledgements are of data sent while probing and no excessive loss was found yet.
    pub(super) is_sample: bool,
    /// Whether the last probe lost too much.
    pub(super) too_high: bool,
    /// Whether the last probe was cut short because the one before it had lost too much.
    precautionary: bool,
    cycle_began_at: Instant,
    wait: Duration,
    pub(super) rounds_since_up: u64,
    up_rounds: u32,
    up_acked: f64,
    /// Acknowledged segments per segment of growth of the long-term bound.
    acked_per_segment: f64,
}

impl Probing {
    pub(super) fn new() -> Self {
        Self { acked_per_segment: f64::INFINITY, ..Self::default() }
    }

    /// Stops probing, as the round-trip time is about to be probed.
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

    /// Runs the state machine once the pipe has been full.
    pub(super) fn update_cycle(&mut self, seen: &Measured, sample: &AckSample) {
        if !self.full.reached || self.adapt_long_term(seen, sample) {
            return;
        }
        match self.phase {
            Phase::Down if self.is_time_to_probe(sample.now) => self.begin_refill(self.delivered_in_all),
            Phase::Down if self.is_time_to_cruise(sample.in_flight) => self.phase = Phase::Cruise,
            Phase::Cruise if self.is_time_to_probe(sample.now) => self.begin_refill(self.delivered_in_all),
            // Refilling takes one round trip.
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

    /// Wanted volume in flight: the bandwidth-delay product, or the window if congestion made it
    /// smaller.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(1.0).min(f64::from(self.cwnd))
    }

    fn is_time_to_probe(&self, now: Instant) -> bool {
        let rounds = self.target_inflight().min(MAX_ROUNDS);
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
        if seen.window_limited && f64::from(self.cwnd) >= long {
            // The bound limits the bandwidth, so a plateau would mean nothing.
            self.full.restart(seen.bandwidth);
            return false;
        }
        self.full.now
    }

    /// Long-term bound less the headroom for others.
    pub(super) fn with_headroom(&self) -> f64 {
        let long = self.bounds.inflight_long;
        if long == f64::INFINITY {
            return long;
        }
        (long - (self.params.headroom * long).max(1.0)).max(f64::from(super::MIN))
    }

    /// Doubles the growth of the bound each round trip.
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.probing.up_rounds);
        self.probing.up_rounds = (self.probing.up_rounds + 1).min(MAX_DOUBLINGS);
        self.probing.acked_per_segment = (f64::from(self.cwnd) / growth).max(1.0);
    }

    fn probe_upward(&mut self, seen: &Measured, sample: &AckSample) {
        if !seen.window_limited || f64::from(self.cwnd) < self.bounds.inflight_long {
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

    /// Follows the acknowledgements of a probe and raises the long-term bound while they show
    /// little loss. Returns whether it chose the next phase.
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
                self.probe_upward(seen, sample);
            }
        }
        false
    }
}
