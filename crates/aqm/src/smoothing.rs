//! Moving averages with exponential weights that are unbiased from the first sample on.
//!
//! All averages divide a sum of weighted samples by the sum of their weights, so the first sample
//! counts no more than any other of its age. [`Utema`] averages samples, and [`TdrmCpa`] measures
//! the rate of volumes that each arrived evenly over a span.
//!
//! *Deviations*: only the abstract of the study was available; the recursions follow from its
//! definitions. "CPA" is read as continuous arrival of packets: each volume is spread over the time
//! since the previous one. A clock that goes backwards stands still.
//!
//! *Source*: Menth and Hauser 2017.

use crate::math::{exp, expm1};
use goodqueue_base::units::{Duration, Instant};

/// A span as a multiple of a memory.
fn ages(span: Duration, memory: Duration) -> f64 {
    span.as_nanos() as f64 / memory.as_nanos() as f64
}

/// A memory of nothing counts as the shortest there is, so that no weight is 0 / 0.
const fn at_least_a_nanosecond(memory: Duration) -> Duration {
    if memory.is_zero() { Duration::ns(1) } else { memory }
}

/// Unbiased time-exponential moving average: a sample's weight is `exp(-age / memory)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utema {
    memory: Duration,
    sum: f64,
    weight: f64,
    last: Instant,
}

impl Utema {
    /// An average over about the last `memory`.
    #[must_use]
    pub const fn new(memory: Duration) -> Self {
        Self { memory: at_least_a_nanosecond(memory), sum: 0.0, weight: 0.0, last: Instant::ZERO }
    }

    /// Takes in a sample and gives the average.
    pub fn add(&mut self, now: Instant, sample: f64) -> f64 {
        let span = now.since(self.last);
        if !span.is_zero() && self.weight > 0.0 {
            let keep = exp(-ages(span, self.memory));
            self.sum *= keep;
            self.weight *= keep;
        }
        self.last = self.last.max(now);
        self.sum += sample;
        self.weight += 1.0;
        self.sum / self.weight
    }

    /// The average, which does not change between samples; `None` before the first.
    #[must_use]
    pub fn average(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Time-dependent rate measurement of continuous arrivals (TDRM-UTEMA-CPA): a mean of piecewise
/// constant rates, weighted by `exp(-age / memory)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TdrmCpa {
    memory: Duration,
    /// Weighted volume.
    sum: f64,
    /// Weighted time of observation, in seconds.
    time: f64,
}

impl TdrmCpa {
    /// The rate over about the last `memory`.
    #[must_use]
    pub const fn new(memory: Duration) -> Self {
        Self { memory: at_least_a_nanosecond(memory), sum: 0.0, time: 0.0 }
    }

    /// Takes in a volume that arrived evenly over the last `span`; one without a span is ignored.
    pub fn add(&mut self, volume: f64, span: Duration) {
        if span.is_zero() {
            return;
        }
        let age = ages(span, self.memory);
        let keep = exp(-age);
        let weight = -expm1(-age) * self.memory.as_secs_f64();
        self.sum = keep * self.sum + volume / span.as_secs_f64() * weight;
        self.time = keep * self.time + weight;
    }

    /// The rate in volume per second, which does not change between samples; `None` before the
    /// first.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.sum / self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::secs(1);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::ms(millis)
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn the_first_sample_is_the_first_average() {
        near(Utema::new(SECOND).add(at(500), 7.0), 7.0);
        let mut rate = TdrmCpa::new(SECOND);
        rate.add(35.0, Duration::ms(500));
        near(rate.rate().expect("a sample"), 70.0);
    }

    #[test]
    fn nothing_is_known_before_the_first_sample() {
        assert_eq!(Utema::new(SECOND).average(), None);
        assert_eq!(TdrmCpa::new(SECOND).rate(), None);
    }

    /// 10 and, a memory later, 20: weights 1/e and 1.
    #[test]
    fn two_samples_a_memory_apart() {
        let mut average = Utema::new(SECOND);
        average.add(at(0), 10.0);
        near(average.add(at(1000), 20.0), (10.0 * exp(-1.0) + 20.0) / (exp(-1.0) + 1.0));
        assert!((average.average().expect("samples") - 17.31).abs() < 0.005);
        let mut rate = TdrmCpa::new(SECOND);
        rate.add(10.0, SECOND);
        rate.add(20.0, SECOND);
        assert!((rate.rate().expect("samples") - 17.31).abs() < 0.005);
    }

    #[test]
    fn a_constant_rate_is_measured_from_the_first_sample_on() {
        let mut rate = TdrmCpa::new(SECOND);
        for millis in [1, 700, 3, 9000, 40, 0, 5] {
            rate.add(millis as f64 * 12.5, Duration::ms(millis));
            near(rate.rate().expect("samples"), 12_500.0);
        }
    }

    #[test]
    fn splitting_a_span_of_constant_rate_changes_nothing() {
        let (mut whole, mut parts) = (TdrmCpa::new(SECOND), TdrmCpa::new(SECOND));
        for rate in [&mut whole, &mut parts] {
            rate.add(40.0, Duration::ms(300));
        }
        whole.add(90.0, Duration::ms(900));
        parts.add(25.0, Duration::ms(250));
        parts.add(65.0, Duration::ms(650));
        near(parts.rate().expect("samples"), whole.rate().expect("samples"));
    }

    #[test]
    fn a_step_of_the_rate_is_followed_exponentially() {
        let mut rate = TdrmCpa::new(SECOND);
        rate.add(1000.0 * 10.0, Duration::secs(1000));
        rate.add(20.0 * 0.7, Duration::ms(700));
        near(rate.rate().expect("samples"), 10.0 + 10.0 * (1.0 - exp(-0.7)));
    }

    #[test]
    fn an_age_without_samples_leaves_the_latest_alone() {
        let mut average = Utema::new(SECOND);
        average.add(at(0), 10.0);
        near(average.add(Instant::MAX, 3.0), 3.0);
        let mut rate = TdrmCpa::new(Duration::ms(1));
        rate.add(50.0, SECOND);
        rate.add(7.0 * 1e6, Duration::secs(1_000_000));
        near(rate.rate().expect("samples"), 7.0);
    }

    #[test]
    fn a_clock_that_goes_backwards_stands_still() {
        let mut average = Utema::new(SECOND);
        average.add(at(1000), 10.0);
        near(average.add(at(0), 20.0), 15.0);
        near(average.add(at(1000), 15.0), 15.0);
    }

    #[test]
    fn the_variance_of_a_steady_swing_is_that_of_its_samples() {
        let (mut mean, mut variance) = (Utema::new(SECOND), Utema::new(SECOND));
        for n in 0..10_000_u64 {
            let sample = if n % 2 == 0 { 1.0 } else { 3.0 };
            let average = mean.add(at(n), sample);
            variance.add(at(n), (sample - average) * (sample - average));
        }
        let found = variance.average().expect("samples");
        assert!((found - 1.0).abs() < 0.01, "{found}");
    }
}
