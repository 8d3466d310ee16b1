//! Model of the path: round trips, the largest bandwidth of two probing cycles, the smallest
//! round-trip time.

use crate::cc::{AckSample, Detail};
use goodqueue_base::units::{Duration, Instant};

/// Measurements of one acknowledgement. Bandwidth is in segments per second, zero without a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) bandwidth: f64,
    /// Segments delivered during the interval of the bandwidth sample.
    pub(super) volume: f64,
    pub(super) prior_delivered: Option<u64>,
    pub(super) tx_in_flight: f64,
    pub(super) lost: f64,
    pub(super) app_limited: bool,
    /// Whether the window was used up.
    pub(super) window_limited: bool,
}

impl Measured {
    pub(super) fn of(detail: &Detail) -> Self {
        let window_limited = detail.window_limited;
        let Some(rate) = &detail.rate else { return Self { window_limited, ..Self::default() } };
        let volume = rate.delivered as f64;
        Self {
            bandwidth: rate.interval.map_or(0.0, |interval| volume / interval.as_secs_f64()),
            volume,
            prior_delivered: Some(rate.prior_delivered),
            tx_in_flight: f64::from(rate.in_flight_when_sent),
            lost: rate.lost_since as f64,
            app_limited: rate.app_limited,
            window_limited,
        }
    }
}

/// Model of the path.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// Largest bandwidth of the previous and of the present cycle, in segments per second.
    bandwidth: [f64; 2],
    pub(super) rounds: u64,
    round_end: u64,
    pub(super) round_began: bool,
    pub(super) min_rtt: Option<Duration>,
    pub(super) min_rtt_at: Instant,
    /// Smallest round-trip time over the shorter window after which a probe starts.
    probe_rtt_min: Option<Duration>,
    pub(super) probe_rtt_min_at: Instant,
}

impl Path {
    pub(super) fn begin(&mut self, now: Instant, srtt: Duration) {
        self.min_rtt = (!srtt.is_zero()).then_some(srtt);
        self.probe_rtt_min = self.min_rtt;
        self.min_rtt_at = now;
        self.probe_rtt_min_at = now;
    }

    pub(super) fn max_bandwidth(&self) -> f64 {
        self.bandwidth[0].max(self.bandwidth[1])
    }

    pub(super) fn begin_round(&mut self, delivered_in_all: u64) {
        self.round_end = delivered_in_all;
    }

    /// Counts round trips; returns whether one starts.
    pub(super) fn count_round(&mut self, seen: &Measured, delivered_in_all: u64) -> bool {
        self.round_began = seen.prior_delivered.is_some_and(|prior| prior >= self.round_end);
        if self.round_began {
            self.begin_round(delivered_in_all);
            self.rounds += 1;
        }
        self.round_began
    }

    pub(super) fn take_bandwidth(&mut self, seen: &Measured) {
        if seen.bandwidth > 0.0 && (seen.bandwidth >= self.max_bandwidth() || !seen.app_limited) {
            self.bandwidth[1] = self.bandwidth[1].max(seen.bandwidth);
        }
    }

    /// Ends a probing cycle. A cycle without any sample does not count.
    pub(super) fn end_cycle(&mut self) {
        if self.bandwidth[1] > 0.0 {
            self.bandwidth = [self.bandwidth[1], 0.0];
        }
    }

    /// Adds a round-trip time; `expired` tells that the one that triggers probes is too old.
    pub(super) fn take_rtt(&mut self, sample: &AckSample, expired: bool, window: Duration) {
        if let Some(rtt) = sample.rtt
            && (expired || self.probe_rtt_min.is_none_or(|min| rtt < min))
        {
            self.probe_rtt_min = Some(rtt);
            self.probe_rtt_min_at = sample.now;
        }
        let min_expired = sample.now > self.min_rtt_at + window;
        let smaller = match (self.probe_rtt_min, self.min_rtt) {
            (Some(probe), Some(min)) => probe < min,
            (probe, _) => probe.is_some(),
        };
        if smaller || min_expired {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }
}
