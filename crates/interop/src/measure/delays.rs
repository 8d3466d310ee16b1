//! Quantiles of delays, and their spread from one part of a window to the next.

use goodqueue_lab::results::statistics::Figure;
use serde::{Deserialize, Serialize};

/// Quantiles of times, in seconds; a quantile is the least value that this share does not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The shortest.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// Nineteen of twenty are not longer.
    pub p95: f64,
    /// Ninety-nine of a hundred are not longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Quantiles {
    /// The quantiles of times; `None` without any.
    #[must_use]
    pub fn of(mut times: Vec<f64>) -> Option<Self> {
        times.retain(|time| time.is_finite());
        times.sort_unstable_by(f64::total_cmp);
        let last = times.len().checked_sub(1)?;
        let at = |share: f64| times[((share * times.len() as f64).ceil() as usize).saturating_sub(1).min(last)];
        Some(Self { min: times[0], p50: at(0.5), p95: at(0.95), p99: at(0.99), max: times[last] })
    }

    /// All of them, from the least.
    pub(crate) const fn all(&self) -> [f64; 5] {
        [self.min, self.p50, self.p95, self.p99, self.max]
    }
}

/// Delays and losses of the probes of one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    /// Probes that were sent.
    pub probes: u32,
    /// Probes that never reached the server.
    pub lost_up: u32,
    /// Answers that never came back.
    pub lost_down: u32,
    /// Round-trip times, measured by the client's clock alone.
    pub rtt_s: Quantiles,
    /// One-way delays from the server, estimated: they need the offset of the clocks.
    pub down_s: Quantiles,
    /// One-way delays to the server, estimated.
    pub up_s: Quantiles,
    /// Median round-trip time, with its interval over the parts of the window.
    pub rtt_p50_s: Figure,
    /// 95th percentile of the round-trip time of each part: its mean, and the interval over parts.
    pub rtt_p95_s: Figure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let times = Quantiles::of((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!(times, Quantiles { min: 1.0, p50: 50.0, p95: 95.0, p99: 99.0, max: 100.0 });
        assert_eq!(Quantiles::of(vec![3.0, f64::NAN]).unwrap().all(), [3.0; 5]);
        assert_eq!(Quantiles::of(Vec::new()), None);
    }
}
