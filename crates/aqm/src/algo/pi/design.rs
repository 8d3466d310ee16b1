//! The gains of PI from a linear model of TCP over one bottleneck.

use crate::math::sqrt;
use goodqueue_base::units::Duration;

/// Highest automatic crossover, in radians per round trip.
const MAX_RATE: f64 = 0.5;

/// PI's two gains, per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Gain on the present length.
    pub a: f64,
    /// Gain on the previous length.
    pub b: f64,
}

impl Gains {
    /// The defaults of ns-2: the paper's example with 60 flows, 3750 packets per second and round
    /// trips up to 246 ms, at 160 Hz.
    pub const NS2: Self = Self { a: 1.822e-5, b: 1.816e-5 };
}

/// The load that the gains are designed for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiDesign {
    /// Least number of TCP flows.
    pub flows: f64,
    /// Longest round trip.
    pub rtt: Duration,
    /// Frequency of unit loop gain, in radians per round trip; `None`: the slow pole of TCP, but at
    /// most 0.5.
    pub crossover: Option<f64>,
}

impl PiDesign {
    /// Gains for a link of `capacity` packets per second and `w` samples per second.
    #[must_use]
    pub fn gains(&self, capacity: f64, w: f64) -> Gains {
        let rtt = self.rtt.as_secs_f64();
        let z = self.slow_pole(capacity);
        let radians = self.radians(capacity);
        let volume = rtt * capacity;
        let k = radians / rtt * sqrt(1.0 + radians * radians) * (4.0 * self.flows * self.flows) / (volume * volume * volume);
        Gains { a: k * (1.0 / z + 0.5 / w), b: k * (1.0 / z - 0.5 / w) }
    }

    /// Slow pole of TCP in radians per second, where the controller has its zero.
    #[must_use]
    pub fn slow_pole(&self, capacity: f64) -> f64 {
        let rtt = self.rtt.as_secs_f64();
        2.0 * self.flows / (rtt * rtt * capacity)
    }

    /// Crossover frequency in radians per round trip.
    #[must_use]
    pub fn radians(&self, capacity: f64) -> f64 {
        self.crossover.unwrap_or_else(|| (self.slow_pole(capacity) * self.rtt.as_secs_f64()).min(MAX_RATE))
    }
}
