//! Model of the path: delivery rate, round-trip time without queue, and the count of round trips.

use crate::cc::{AckSample, Detail, RateSample};
use crate::windowed::{Windowed, largest};
use goodqueue_base::units::{Duration, Instant};

/// Model of the path. Bandwidth is in segments per second.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    bandwidth: Windowed<f64>,
    bandwidth_window: u64,
    /// Round trips so far. Each lasts until everything in flight at its start is delivered.
    pub(super) rounds: u64,
    round_end: u64,
    /// Whether the latest acknowledgement started a round trip.
    pub(super) round_began: bool,
    pub(super) min_rtt: Option<Duration>,
    pub(super) min_rtt_at: Instant,
    min_rtt_window: Duration,
    /// Time of the latest delivery.
    pub(super) delivered_at: Instant,
}

impl Path {
    pub(super) fn new(bandwidth_window: u64, min_rtt_window: Duration) -> Self {
        Self { bandwidth_window, min_rtt_window, ..Self::default() }
    }

    /// Largest recent bandwidth, in segments per second.
    pub(super) fn max_bandwidth(&self) -> f64 {
        self.bandwidth.get()
    }

    /// Starts a round trip now.
    pub(super) fn begin_round(&mut self, delivered_in_all: u64) {
        self.round_end = delivered_in_all;
    }

    /// Counts round trips; returns whether one starts.
    pub(super) fn count_round(&mut self, rate: &RateSample, delivered_in_all: u64) -> bool {
        self.round_began = rate.prior_delivered >= self.round_end;
        if self.round_began {
            self.begin_round(delivered_in_all);
            self.rounds += 1;
        }
        self.round_began
    }

    /// Adds a bandwidth sample, unless the application limited it to less than the known bandwidth.
    pub(super) fn take_bandwidth(&mut self, rate: &RateSample, interval: Duration) {
        let bandwidth = rate.delivered as f64 / interval.as_secs_f64();
        if !rate.app_limited || bandwidth >= self.max_bandwidth() {
            self.bandwidth.insert(self.bandwidth_window, self.rounds, bandwidth, largest);
        }
    }

    /// Adds a round-trip time, in whole microseconds. Returns whether the smallest one is so old
    /// that it must be measured again: one that is only as small does not renew it.
    pub(super) fn take_rtt(&mut self, sample: &AckSample, detail: &Detail) -> bool {
        let expired = sample.now > self.min_rtt_at + self.min_rtt_window;
        if let Some(rtt) = sample.rtt.map(|rtt| Duration::us(rtt.as_nanos() / 1_000))
            && (self.min_rtt.is_none_or(|min| rtt < min) || expired && !detail.held_back)
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = sample.now;
        }
        expired
    }
}
