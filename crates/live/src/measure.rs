//! Measurements besides the queue's own counters.

use goodqueue_aqm::QueueView;
use goodqueue_base::units::{Bytes, Duration};
use goodqueue_sim::trace::TimeCounts;

/// A release later than this is a stall.
pub const STALL: Duration = Duration::ms(1);

/// Times of one direction.
#[derive(Clone, Debug)]
pub struct Meter {
    times: Times,
    sent_bits: u64,
}

/// Distributions of times.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// In the queue.
    pub sojourn: TimeCounts,
    /// Time between a packet's due time and its handover to the port.
    pub lateness: TimeCounts,
    /// Exact sum of the times in the queue.
    pub sojourn_sum: u128,
    /// Packets later than [`STALL`].
    pub stalls: u64,
    /// Waiting packets times nanoseconds.
    pub packet_time: u128,
    /// Waiting bytes times nanoseconds.
    pub byte_time: u128,
}

impl Times {
    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.sojourn.merge(&other.sojourn);
        self.lateness.merge(&other.lateness);
        self.sojourn_sum += other.sojourn_sum;
        self.stalls += other.stalls;
        self.packet_time += other.packet_time;
        self.byte_time += other.byte_time;
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.sojourn.clear();
        self.lateness.clear();
        self.sojourn_sum = 0;
        self.stalls = 0;
        self.packet_time = 0;
        self.byte_time = 0;
    }
}

/// Summary of a distribution of times, such as those of a [`Meter`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// Number of times counted.
    pub count: u64,
    /// Their mean, in seconds.
    pub mean_s: f64,
    /// Median, in seconds.
    pub p50_s: f64,
    /// 95th percentile, in seconds.
    pub p95_s: f64,
    /// 99th percentile, in seconds.
    pub p99_s: f64,
    /// Largest, in seconds.
    pub max_s: f64,
}

impl Quantiles {
    /// Computes the summary of `times`.
    #[must_use]
    pub fn of(times: &TimeCounts) -> Self {
        let Some(mean) = times.mean() else { return Self::default() };
        let at = |q| times.quantile(q).map_or(0.0, |time| time.as_nanos() as f64 * 1e-9);
        Self { count: times.len(), mean_s: mean * 1e-9, p50_s: at(0.5), p95_s: at(0.95), p99_s: at(0.99), max_s: at(1.0) }
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Meter {
    /// Nothing measured yet.
    #[must_use]
    pub fn new() -> Self {
        Self { times: Times::default(), sent_bits: 0 }
    }

    /// Adds `span`, during which the queue held `queue`.
    #[inline]
    pub(crate) fn waited(&mut self, span: Duration, queue: QueueView) {
        if queue.packets.is_zero() {
            return;
        }
        let nanos = u128::from(span.as_nanos());
        self.times.packet_time += nanos * u128::from(queue.packets.get());
        self.times.byte_time += nanos * u128::from(queue.backlog.get());
    }

    #[inline]
    pub(crate) fn departed(&mut self, sojourn: Duration, wire: Bytes) {
        self.times.sojourn.add(sojourn);
        self.times.sojourn_sum += u128::from(sojourn.as_nanos());
        self.sent_bits += wire.bits();
    }

    #[inline]
    pub(crate) fn released(&mut self, lateness: Duration) {
        self.times.lateness.add(lateness);
        self.times.stalls += u64::from(lateness > STALL);
    }

    /// Hands over the times since the last exchange in place of `spare`, which must be empty: no
    /// histogram is read or copied by the thread that moves packets.
    pub(crate) fn exchange(&mut self, spare: &mut Times) {
        std::mem::swap(&mut self.times, spare);
    }

    /// Times in the queue.
    #[must_use]
    pub fn sojourn(&self) -> Quantiles {
        Quantiles::of(&self.times.sojourn)
    }

    /// Bits sent, framing included.
    #[must_use]
    pub const fn sent_bits(&self) -> u64 {
        self.sent_bits
    }
}
