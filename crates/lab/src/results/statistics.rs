//! Means and confidence intervals over independent replications.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A figure over replications. Never contains NaN or infinity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Mean over the replications in which the figure is defined; `None` when there is none.
    pub mean: Option<f64>,
    /// Half-width of the 95 % confidence interval (Student t); `None` with fewer than two
    /// replications.
    pub ci95: Option<f64>,
    /// Replications in which the figure is defined.
    pub n: u32,
}

impl Figure {
    /// From one value per replication; `None` and non-finite values are ignored.
    #[must_use]
    pub fn of(samples: impl IntoIterator<Item = Option<f64>>) -> Self {
        let samples: Vec<f64> = samples.into_iter().flatten().filter(|value| value.is_finite()).collect();
        let n = samples.len();
        if n == 0 {
            return Self::default();
        }
        let mean = mean(&samples);
        let ci95 = half_width(&samples, mean, student_t_975);
        Self { mean: Some(mean), ci95, n: n as u32 }
    }

    /// The mean over strata of independent samples, each with the same weight, with Welch's
    /// interval; without one where a stratum has fewer than two finite samples. A stratum without
    /// samples is left out.
    #[must_use]
    pub fn of_strata(strata: &[Vec<f64>]) -> Self {
        let finite = |samples: &Vec<f64>| samples.iter().copied().filter(|value| value.is_finite()).collect::<Vec<f64>>();
        let strata: Vec<Vec<f64>> = strata.iter().map(finite).filter(|samples| !samples.is_empty()).collect();
        let Some(n) = strata.iter().map(Vec::len).min() else { return Self::default() };
        let means: Vec<f64> = strata.iter().map(|samples| mean(samples)).collect();
        let (mut variance, mut spread) = (0.0, 0.0);
        for (samples, mean) in strata.iter().zip(&means) {
            let degrees = (samples.len() - 1) as f64;
            let of_mean = squares(samples, *mean) / degrees / samples.len() as f64;
            variance += of_mean;
            spread += of_mean * of_mean / degrees;
        }
        // Without any spread the interval is empty, whatever the degrees of freedom. They are never
        // fewer than those of the smallest stratum, which rounding must not undercut.
        let degrees = if spread > 0.0 { variance * variance / spread } else { 1.0 };
        let half = between_degrees(degrees.max(f64::from(n as u32 - 1))) * variance.sqrt() / strata.len() as f64;
        Self { mean: Some(mean(&means)), ci95: Some(half).filter(|half| half.is_finite()), n: n as u32 }
    }

    /// Difference to an independent figure, with Welch's interval if both have an interval; `None`
    /// if either is undefined.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let mean = self.mean? - other.mean?;
        let interval = || {
            let part = |figure: &Self| {
                let error = figure.ci95? / student_t_975(figure.n - 1);
                Some((error * error, f64::from(figure.n - 1)))
            };
            let ((a, free_a), (b, free_b)) = (part(self)?, part(other)?);
            // Two figures without any spread have a difference without spread.
            let degrees = if a + b > 0.0 { (a + b) * (a + b) / (a * a / free_a + b * b / free_b) } else { 1.0 };
            Some(student_t_975((degrees as u32).max(1)) * (a + b).sqrt())
        };
        Some(Self { mean: Some(mean), ci95: interval().filter(|half| half.is_finite()), n: self.n.min(other.n) })
    }

    /// Whether the interval excludes zero; `None` without an interval.
    #[must_use]
    pub fn excludes_zero(&self) -> Option<bool> {
        Some(self.mean?.abs() > self.ci95?)
    }
}

/// Mean of finite samples and the half-width of its interval of this confidence (Student t), which
/// needs two of them; `None` without samples.
#[must_use]
pub fn mean_and_interval(samples: &[f64], confidence: f64) -> Option<(f64, Option<f64>)> {
    if samples.is_empty() {
        return None;
    }
    let mean = mean(samples);
    Some((mean, half_width(samples, mean, |degrees| student_t(degrees, confidence))))
}

/// Half-width of the interval around the mean, with the quantile for some degrees of freedom;
/// `None` with fewer than two samples, or if it is not finite.
fn half_width(samples: &[f64], mean: f64, quantile: impl Fn(u32) -> f64) -> Option<f64> {
    let n = samples.len();
    if n < 2 {
        return None;
    }
    let deviation = (squares(samples, mean) / (n - 1) as f64).sqrt();
    let half = quantile(n as u32 - 1) * deviation / (n as f64).sqrt();
    Some(half).filter(|half| half.is_finite())
}

/// The sum of squared differences from the mean. Two passes: the textbook sum of squares loses all
/// precision when the spread is small relative to the mean.
fn squares(samples: &[f64], mean: f64) -> f64 {
    samples.iter().map(|value| (value - mean) * (value - mean)).sum()
}

fn mean(samples: &[f64]) -> f64 {
    let first = samples[0];
    // Relative to the first sample, so that equal samples give exactly their value.
    first + samples.iter().map(|value| value - first).sum::<f64>() / samples.len() as f64
}

/// Round trips per minute of these times in ns, from the shortest, with the count of each and the
/// count of all: 60 s divided by the mean of the shortest 95 % (draft-ietf-ippm-responsiveness).
/// `None` without any, or if all are zero.
#[must_use]
pub fn round_trips_per_minute(times: impl IntoIterator<Item = (f64, u64)>, count: u64) -> Option<f64> {
    let kept = (count as f64 * 0.95).ceil() as u64;
    let (mut left, mut sum) = (kept, 0.0);
    for (nanos, times) in times {
        let counted = times.min(left);
        sum += counted as f64 * nanos / 1e9;
        left -= counted;
    }
    (kept > 0 && sum > 0.0).then(|| 60.0 * kept as f64 / sum)
}

/// Jain's fairness index of non-negative shares: 1 when all are equal, 1/n when one has everything.
/// `None` without shares or when all are zero.
#[must_use]
pub fn jain(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0u64, 0.0, 0.0);
    for share in shares {
        n += 1;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (n as f64 * squares))
}

/// The 97.5 % quantile of Student's t distribution with `degrees` degrees of freedom, at least 1,
/// to nine digits.
#[must_use]
pub fn student_t_975(degrees: u32) -> f64 {
    const NORMAL_975: f64 = 1.959_963_984_540_054;
    let nu = f64::from(degrees.max(1));
    let z = NORMAL_975;
    let z2 = z * z;
    // Abramowitz and Stegun 26.7.5: an expansion around the normal quantile whose error falls with
    // the fifth power of nu.
    let expansion = z
        + z * (z2 + 1.0) / (4.0 * nu)
        + z * ((5.0 * z2 + 16.0) * z2 + 3.0) / (96.0 * nu * nu)
        + z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / (384.0 * nu * nu * nu)
        + z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / (92160.0 * nu * nu * nu * nu);
    if degrees > 100 {
        return expansion;
    }
    student_t(degrees, 0.95)
}

/// As [`student_t_975`], for any degrees of freedom: in between, in proportion to their inverse.
fn between_degrees(degrees: f64) -> f64 {
    let low = degrees.max(1.0).floor();
    let part = (1.0 / low - 1.0 / degrees.max(1.0)) * low * (low + 1.0);
    let [below, above] = [low, low + 1.0].map(|whole| student_t_975(whole as u32));
    below + (above - below) * part
}

/// The value that the size of a Student t variable with `degrees` degrees of freedom, at least 1,
/// exceeds with probability 1 - `confidence`.
#[must_use]
pub fn student_t(degrees: u32, confidence: f64) -> f64 {
    let degrees = degrees.max(1);
    // Solves P(|T| < t) = confidence for the angle theta = atan(t / sqrt(nu)), in which the
    // probability is a finite sum that rises steadily from 0 at 0 to 1 at pi / 2.
    let (mut low, mut high) = (0.0, PI / 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if probability_within(middle, degrees) < confidence { low = middle } else { high = middle }
    }
    let theta = 0.5 * (low + high);
    f64::from(degrees).sqrt() * libm::tan(theta)
}

/// P(|T| < sqrt(nu) tan theta) for a whole number of degrees of freedom (Abramowitz and Stegun
/// 26.7.3 and 26.7.4).
fn probability_within(theta: f64, degrees: u32) -> f64 {
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let even = degrees.is_multiple_of(2);
    let (mut term, mut sum) = (if even { 1.0 } else { cos }, 0.0);
    let mut power = if even { 0 } else { 1 };
    while power + 2 <= degrees {
        sum += term;
        term *= cos * cos * f64::from(power + 1) / f64::from(power + 2);
        power += 2;
    }
    if even { sin * sum } else { 2.0 / PI * (theta + sin * sum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_have_equal_weight_and_their_degrees_of_freedom_add_up() {
        let one = [1.0, 3.0, 5.0, 7.0];
        assert_eq!(Figure::of_strata(&[one.to_vec()]).mean, Figure::of(one.map(Some)).mean);
        let [strata, plain] =
            [Figure::of_strata(&[one.to_vec()]), Figure::of(one.map(Some))].map(|of| of.ci95.unwrap_or_default());
        assert!((strata - plain).abs() < 1e-12, "{strata} {plain}");
        // Two strata with the same variance, 2/2 and 2/2 of the means, have two degrees of freedom.
        let two = Figure::of_strata(&[vec![1.0, 3.0], vec![], vec![11.0, 13.0]]);
        let half = student_t_975(2) * 2.0_f64.sqrt() / 2.0;
        assert!(two.mean == Some(7.0) && two.n == 2 && (two.ci95.unwrap_or_default() - half).abs() < 1e-12, "{two:?}");
        // A stratum without spread takes none away.
        let still = Figure::of_strata(&[one.to_vec(), vec![5.0; 4]]).ci95.unwrap_or_default();
        assert!((still - plain / 2.0).abs() < 1e-12, "{still} {plain}");
        // Between the printed values for 2 and 3 degrees of freedom, 4.303 and 3.182.
        assert!((between_degrees(2.4) - 3.742).abs() < 1e-3, "{}", between_degrees(2.4));
        let lone = Figure::of_strata(&[vec![1.0, 3.0], vec![11.0]]);
        assert_eq!((lone.mean, lone.ci95, lone.n), (Some(6.5), None, 1));
        assert_eq!(Figure::of_strata(&[vec![], vec![f64::NAN]]), Figure::default());
    }

    /// Printed tables of the distribution, with five digits.
    #[test]
    fn quantiles_agree_with_printed_tables() {
        let table = [
            (1, 12.7062),
            (2, 4.30265),
            (3, 3.18245),
            (4, 2.77645),
            (5, 2.57058),
            (9, 2.26216),
            (10, 2.22814),
            (19, 2.09302),
            (29, 2.04523),
            (30, 2.04227),
            (99, 1.98422),
            (100, 1.98397),
            (120, 1.97993),
            (1000, 1.96234),
        ];
        for (degrees, expected) in table {
            let got = student_t_975(degrees);
            assert!((got - expected).abs() < 5e-5_f64.max(expected * 4e-6), "{degrees}: {got} but {expected} in print");
        }
    }

    #[test]
    fn quantiles_for_other_confidences_match_the_tables() {
        // Two-sided 99 % and 99.9 %, to the digits in print.
        for (degrees, confidence, expected) in [(4, 0.99, 4.604), (10, 0.999, 4.587), (200, 0.99, 2.601)] {
            let got = student_t(degrees, confidence);
            assert!((got - expected).abs() < 5.1e-4, "{degrees}, {confidence}: {got} but {expected} in print");
        }
        let (mean, half) = mean_and_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.99).expect("samples");
        assert_eq!(mean, 3.0);
        assert!((half.expect("two samples") - 4.604 * 0.5_f64.sqrt()).abs() < 5e-4);
    }

    #[test]
    fn sum_and_expansion_meet() {
        let step = student_t_975(100) - student_t_975(101);
        let next = student_t_975(101) - student_t_975(102);
        assert!(step > next && step < next * 1.05, "{step} then {next}");
    }

    #[test]
    fn interval_of_a_worked_example() {
        // Samples 1..5: mean 3, s = sqrt(2.5), t(4) = 2.776445, half-width 1.963243.
        let figure = Figure::of([1.0, 2.0, 3.0, 4.0, 5.0].map(Some));
        assert_eq!((figure.mean, figure.n), (Some(3.0), 5));
        assert!((figure.ci95.unwrap() - 1.963_243).abs() < 1e-6, "{figure:?}");
    }

    #[test]
    fn the_interval_of_a_difference_is_welchs() {
        // 1..5 and 2, 4, 6, 8: means 3 and 5, squared errors 0.5 and 5/3, 4.70 degrees of freedom
        // (rounded down to 4).
        let (a, b) = (Figure::of([1.0, 2.0, 3.0, 4.0, 5.0].map(Some)), Figure::of([2.0, 4.0, 6.0, 8.0].map(Some)));
        let difference = a.minus(&b).unwrap();
        assert_eq!((difference.mean, difference.n), (Some(-2.0), 4));
        let half = 2.776_445 * (0.5_f64 + 5.0 / 3.0).sqrt();
        assert!((difference.ci95.unwrap() - half).abs() < 1e-5, "{difference:?}");
        assert_eq!(Figure::of([Some(1.0); 3]).minus(&Figure::of([Some(3.0); 2])).unwrap().ci95, Some(0.0));
        assert_eq!(a.minus(&Figure::of([Some(1.0)])).unwrap().ci95, None);
        assert_eq!(a.minus(&Figure::default()), None);
    }

    #[test]
    fn one_replication_has_no_interval_and_none_has_no_mean() {
        assert_eq!(Figure::of([Some(2.5)]), Figure { mean: Some(2.5), ci95: None, n: 1 });
        assert_eq!(Figure::of([None, Some(f64::NAN), Some(f64::INFINITY)]), Figure { mean: None, ci95: None, n: 0 });
    }

    #[test]
    fn equal_samples_have_an_exact_mean_and_no_spread() {
        assert_eq!(Figure::of([Some(0.1); 7]), Figure { mean: Some(0.1), ci95: Some(0.0), n: 7 });
    }

    #[test]
    fn jain_of_the_textbook() {
        assert_eq!(jain([3.0; 4]), Some(1.0));
        assert_eq!(jain([1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain([0.0, 0.0]), None);
        assert_eq!(jain([]), None);
    }
}
