//! Draws from the distributions that traffic models need.

use goodqueue_aqm::math::{cos, log, pow, sqrt};
use goodqueue_base::units::Rng;
use std::f64::consts::PI;

/// Exponentially distributed around `mean`.
#[inline]
pub(crate) fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -mean * log(1.0 - rng.uniform())
}

/// Normally distributed, mean 0 and variance 1 (Box and Muller 1958; the second number of a pair is
/// discarded).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let radius = sqrt(-2.0 * log(1.0 - rng.uniform()));
    radius * cos(2.0 * PI * rng.uniform())
}

/// The value of a Weibull distribution that `p` in [0, 1) of all draws are below.
pub(crate) fn weibull_quantile(p: f64, shape: f64, scale: f64) -> f64 {
    scale * pow(-log(1.0 - p), 1.0 / shape)
}

/// Weibull distributed.
pub(crate) fn weibull(rng: &mut Rng, shape: f64, scale: f64) -> f64 {
    weibull_quantile(rng.uniform(), shape, scale)
}

/// Gamma distributed, `shape` at least 1 (Marsaglia and Tsang 2000).
pub(crate) fn gamma(rng: &mut Rng, shape: f64, scale: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let base = 1.0 + c * x;
        if base <= 0.0 {
            continue;
        }
        let v = base * base * base;
        let u = 1.0 - rng.uniform();
        if log(u) < 0.5 * x * x + d * (1.0 - v + log(v)) {
            return d * v * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of many draws.
    fn moments(mut draw: impl FnMut(&mut Rng) -> f64) -> (f64, f64) {
        let mut rng = Rng::new(7);
        let draws: Vec<f64> = (0..200_000).map(|_| draw(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / draws.len() as f64;
        (mean, variance)
    }

    fn near(found: (f64, f64), expected: (f64, f64)) {
        let close = |a: f64, b: f64| (a - b).abs() <= 0.02 * (1.0 + b.abs());
        assert!(close(found.0, expected.0) && close(found.1, expected.1), "{found:?} instead of {expected:?}");
    }

    #[test]
    fn draws_have_the_moments_of_their_laws() {
        near(moments(|rng| exponential(rng, 2.0)), (2.0, 4.0));
        near(moments(normal), (0.0, 1.0));
        near(moments(|rng| gamma(rng, 1.85, 1.0 / 1.85)), (1.0, 1.0 / 1.85));
        near(moments(|rng| gamma(rng, 3.22, 2.0)), (6.44, 12.88));
        // Weibull of shape 2: mean is scale times half the root of pi, variance scale² (1 - pi/4).
        near(moments(|rng| weibull(rng, 2.0, 1.0)), (PI.sqrt() / 2.0, 1.0 - PI / 4.0));
    }
}
