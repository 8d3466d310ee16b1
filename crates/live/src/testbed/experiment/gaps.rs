//! When UDP packets are due.

use goodqueue_aqm::math::log;
use goodqueue_base::units::{Duration, Rng};

/// Distribution of the gaps between packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// At constant gaps.
    Periodic,
    /// At exponentially distributed gaps.
    Poisson,
    /// At constant gaps during exponentially distributed bursts.
    OnOff {
        /// Mean length of a burst.
        mean_on: Duration,
        /// Mean length of a silence.
        mean_off: Duration,
    },
}

/// Time from each packet to the next.
#[derive(Debug)]
pub(super) struct Gaps {
    arrivals: Arrivals,
    gap_s: f64,
    rng: Rng,
    /// Packets left in a burst; `carry_s` is the time that was too short for another one.
    left: u64,
    carry_s: f64,
}

impl Gaps {
    /// Packets `gap_s` seconds apart, in the mean or within bursts.
    pub(super) const fn new(arrivals: Arrivals, gap_s: f64, rng: Rng) -> Self {
        Self { arrivals, gap_s, rng, left: 0, carry_s: 0.0 }
    }

    /// In seconds.
    pub(super) fn next(&mut self) -> f64 {
        match self.arrivals {
            Arrivals::Periodic => self.gap_s,
            Arrivals::Poisson => self.exponential(self.gap_s),
            Arrivals::OnOff { mean_on, mean_off } => {
                if self.left > 0 {
                    self.left -= 1;
                    return self.gap_s;
                }
                // As in the simulator: a burst holds at least one packet; what is left of a
                // packet's time is carried to the next burst.
                let burst_s = self.exponential(mean_on.as_secs_f64()) + self.carry_s;
                let packets = ((burst_s / self.gap_s) as u64).max(1);
                self.carry_s = (burst_s - packets as f64 * self.gap_s).max(0.0);
                self.left = packets - 1;
                self.gap_s + self.exponential(mean_off.as_secs_f64())
            }
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * log(1.0 - self.rng.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean gap, and its standard deviation over the mean.
    fn shape(arrivals: Arrivals) -> (f64, f64) {
        let mut gaps = Gaps::new(arrivals, 0.01, Rng::new(1));
        let all: Vec<f64> = (0..200_000).map(|_| gaps.next()).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / all.len() as f64;
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn gaps_are_distributed_as_they_are_called() {
        assert!((shape(Arrivals::Periodic).0 - 0.01).abs() < 1e-12);
        let (mean, spread) = shape(Arrivals::Poisson);
        assert!((mean / 0.01 - 1.0).abs() < 0.01 && (spread - 1.0).abs() < 0.02, "{mean} {spread}");
        // A tenth of a second on, three tenths off: a quarter of the peak rate.
        let on_off = Arrivals::OnOff { mean_on: Duration::ms(100), mean_off: Duration::ms(300) };
        let (mean, spread) = shape(on_off);
        assert!((mean / 0.04 - 1.0).abs() < 0.03 && spread > 2.0, "{mean} {spread}");
    }
}
