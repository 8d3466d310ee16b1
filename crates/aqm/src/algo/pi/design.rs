//! The gains of PI from a linear model of TCP over one bottleneck.

use crate::math::sqrt;
use goodqueue_units::Duration;

/// Fastest automatic crossover in radians a round trip.
const FASTEST: f64 = 0.5;

/// PI's two gains, per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// On the present length.
    pub a: f64,
    /// On the last length.
    pub b: f64,
}

impl Gains {
    /// ns-2's defaults: those of the paper's example, 60 flows on 3750 packets a second with round trips up to 246 ms, at 160 Hz.
    pub const NS2: Self = Self { a: 1.822e-5, b: 1.816e-5 };
}

/// The load PI's gains are worked out for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiDesign {
    /// Least number of TCP flows.
    pub flows: f64,
    /// Longest round trip.
    pub rtt: Duration,
    /// Where the loop's gain is one, in radians a round trip; `None`: at TCP's slow pole, but not above 0.5.
    pub crossover: Option<f64>,
}

impl PiDesign {
    /// The gains for a link of `capacity` packets a second and `w` samples a second.
    #[must_use]
    pub fn gains(&self, capacity: f64, w: f64) -> Gains {
        let rtt = self.rtt.as_secs_f64();
        let z = self.slow_pole(capacity);
        let radians = self.radians(capacity);
        let volume = rtt * capacity;
        let k = radians / rtt * sqrt(1.0 + radians * radians) * (4.0 * self.flows * self.flows) / (volume * volume * volume);
        Gains { a: k * (1.0 / z + 0.5 / w), b: k * (1.0 / z - 0.5 / w) }
    }

    /// TCP's slow pole in radians a second, where the controller has its zero.
    #[must_use]
    pub fn slow_pole(&self, capacity: f64) -> f64 {
        let rtt = self.rtt.as_secs_f64();
        2.0 * self.flows / (rtt * rtt * capacity)
    }

    /// The crossover in radians a round trip.
    #[must_use]
    pub fn radians(&self, capacity: f64) -> f64 {
        self.crossover.unwrap_or_else(|| (self.slow_pole(capacity) * self.rtt.as_secs_f64()).min(FASTEST))
    }

    /// How far the loop is from instability, in degrees.
    #[must_use]
    pub fn phase_margin(&self, capacity: f64) -> f64 {
        let radians = self.radians(capacity);
        90.0 - (radians + libm::atan(radians)) * (180.0 / core::f64::consts::PI)
    }
}
