//! The E-model: a rating of speech from the delay and the losses of a stretch of it, with the
//! standard's default values for everything that a network does not change.
//!
//! `R = Ro - Idd - Ie,eff`. *Delay*: `Idd = 25 ((1 + X^6)^(1/6) - 3 (1 + (X/3)^6)^(1/6) + 2)` with
//! `X = log2(Ta / 100 ms)`, zero up to `Ta` = 100 ms (G.107 §7.4, for an echo-free connection).
//! *Loss*: `Ie,eff = Ie + (top - Ie) Ppl / (Ppl / BurstR + Bpl)` with `Ppl` in per cent (G.107
//! §7.5). *Score*: `MOS = 1 + 0.035 R + R (R - 60) (100 - R) 7e-6` between R = 0 and 100 (G.107
//! annex B), with R reduced to the scale of narrowband speech.
//!
//! Sources: ITU-T G.107 (2015), G.113 (2007), G.107.2 (2019).

use goodqueue_aqm::math::{log2, pow};
use goodqueue_base::units::Duration;

/// A rating scale with a codec on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Rating without delay and loss, `Ro`.
    best: f64,
    /// Ratings are divided by this to compare them with those of narrowband speech.
    divisor: f64,
    /// The impairment by losing everything.
    top: f64,
    /// The codec's own impairment, `Ie`.
    equipment: f64,
    /// Robustness against losses, `Bpl`.
    robustness: Robustness,
}

/// Robustness of a codec against losses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Robustness {
    /// One value; how losses are bunched enters by `BurstR`.
    WithBurstRatio(f64),
    /// A value for random losses, and one for bursts.
    ByPattern { random: f64, bursty: f64 },
}

/// Losses above this burst ratio are bursts. Our choice.
const BURSTY: f64 = 1.5;

impl Scale {
    /// Narrowband speech by G.711 with packet loss concealment (G.113 appendix I). All calls are
    /// compared on this scale.
    pub const NARROWBAND: Self =
        Self { best: 93.2, divisor: 1.0, top: 95.0, equipment: 0.0, robustness: Robustness::WithBurstRatio(25.1) };

    /// Fullband speech by super-wideband Opus at a variable rate of 25 kbit/s: coefficients of
    /// Alahmadi, Pocta and Melvin 2021 (doi 10.1145/3458751).
    ///
    /// UNVERIFIED: that these are on the fullband scale. Implementations of the second edition of
    /// G.107.2 multiply `Idd` by 1.48, which is not done here. No verdict rests on this scale.
    pub const OPUS_FULLBAND: Self = Self {
        best: 148.0,
        divisor: 1.48,
        top: 132.0,
        equipment: 20.21,
        robustness: Robustness::ByPattern { random: 11.28, bursty: 9.18 },
    };

    /// The rating of speech that is heard this long after it was spoken, with this share of it lost
    /// and this ratio of the mean run of losses to that of random ones.
    #[must_use]
    pub fn rate(&self, mouth_to_ear: Duration, loss_ratio: f64, burst_ratio: f64) -> f64 {
        self.best - delay_impairment(mouth_to_ear) - self.loss_impairment(100.0 * loss_ratio, burst_ratio)
    }

    /// A rating in terms of narrowband speech, of which 60 dissatisfies nearly all (G.107 annex B).
    #[must_use]
    pub fn as_narrowband(&self, rating: f64) -> f64 {
        rating / self.divisor
    }

    /// The opinion score of a rating, from 1 to 4.5.
    #[must_use]
    pub fn mos(&self, rating: f64) -> f64 {
        let r = self.as_narrowband(rating).clamp(0.0, 100.0);
        (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
    }

    /// `Ie,eff` of this share of losses.
    pub(super) fn loss_impairment(&self, percent: f64, burst_ratio: f64) -> f64 {
        let (burst_ratio, robustness) = match self.robustness {
            Robustness::WithBurstRatio(robustness) => (burst_ratio, robustness),
            Robustness::ByPattern { bursty, .. } if burst_ratio > BURSTY => (1.0, bursty),
            Robustness::ByPattern { random, .. } => (1.0, random),
        };
        self.equipment + (self.top - self.equipment) * percent / (percent / burst_ratio + robustness)
    }
}

/// `Idd` of this delay from mouth to ear.
pub(super) fn delay_impairment(mouth_to_ear: Duration) -> f64 {
    let x = mouth_to_ear.as_secs_f64() / 0.1;
    if x <= 1.0 {
        return 0.0;
    }
    let x = log2(x);
    let sixth = |x: f64| pow(1.0 + pow(x, 6.0), 1.0 / 6.0);
    25.0 * (sixth(x) - 3.0 * sixth(x / 3.0) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_standard() {
        // G.107 table B.1.
        for (r, mos) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((Scale::NARROWBAND.mos(r) - mos).abs() < 0.01, "{r}");
        }
        assert!((Scale::NARROWBAND.mos(93.2) - 4.41).abs() < 0.005);
        assert_eq!((Scale::NARROWBAND.mos(-5.0), Scale::NARROWBAND.mos(120.0)), (1.0, 4.5));
    }

    #[test]
    fn delay_impairs_as_the_standard_says() {
        for (ms, impairment) in [(100, 0.0), (150, 0.164), (200, 3.044), (300, 14.761), (400, 24.070)] {
            let found = delay_impairment(Duration::ms(ms));
            assert!((found - impairment).abs() < 0.001, "{ms} ms: {found}");
        }
    }

    #[test]
    fn ratings_and_scores_match_the_vectors() {
        let narrow = Scale::NARROWBAND;
        let cases = [
            (narrow, 100, 0.01, 89.560, 4.328),
            (narrow, 200, 0.02, 83.145, 4.137),
            (narrow, 300, 0.05, 62.659, 3.237),
            (Scale::OPUS_FULLBAND, 100, 0.0, 127.79, 4.239),
            (Scale::OPUS_FULLBAND, 200, 0.02, 107.91, 3.730),
        ];
        for (scale, ms, lost, rating, mos) in cases {
            let found = scale.rate(Duration::ms(ms), lost, 1.0);
            assert!((found - rating).abs() < 0.01, "{ms} ms, {lost}: {found}");
            assert!((scale.mos(found) - mos).abs() < 0.001, "{ms} ms, {lost}: {}", scale.mos(found));
        }
    }

    #[test]
    fn bursts_are_heard_more_than_single_losses() {
        for scale in [Scale::NARROWBAND, Scale::OPUS_FULLBAND] {
            assert!(scale.loss_impairment(2.0, 4.0) > scale.loss_impairment(2.0, 1.0));
        }
    }
}
