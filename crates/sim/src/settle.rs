//! The time that a queue needs to find its new level after its link's rate has changed.
//!
//! Between two changes lies a phase, whose second half counts as its steady state. The sojourn time
//! has settled when its moving median over 100 ms stays, for a second, within the greater of 1.5
//! times the algorithm's target (if it has one) and the 95th percentile of the steady state. The
//! utilization has settled when its moving mean over 500 ms stays, for a second, at or above 95 %
//! of the steady state's. A phase that ends before it has settled counts with its length, and as
//! censored.

use crate::thinning::Thinning;
use crate::trace::nearest_rank;
use goodqueue_base::units::{Duration, Instant};

/// Sojourn times are looked at in bins this long.
const BIN: Duration = Duration::ms(10);
/// Bins of the moving median.
const MEDIAN_BINS: usize = 10;
/// Bins of the moving mean of the utilization.
const MEAN_BINS: usize = 50;
/// Bins for which a figure has to stay.
const HOLD_BINS: usize = 100;
/// Most sojourn times kept per bin, evenly spread.
const MAX_SAMPLES: usize = 64;

/// A bin: some of its sojourn times, and the bytes sent.
#[derive(Clone, Debug, Default)]
struct Bin {
    /// Sojourn times in microseconds, rounded.
    samples: Vec<u32>,
    sent_bytes: u64,
    longest_us: u32,
}

/// Measurements of one link, evaluated at the end.
#[derive(Clone, Debug)]
pub(crate) struct SettleProbe {
    changes: Vec<Instant>,
    target: Option<Duration>,
    bins: Vec<Bin>,
    /// That of the current bin.
    thinning: Thinning,
}

/// The response to a link's rate changes, over all phases that begin with a change in the measured
/// part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settling {
    /// Phases judged.
    pub changes: u64,
    /// Mean and longest time until the sojourn time has settled, in seconds.
    pub sojourn_mean_s: f64,
    /// Longest.
    pub sojourn_max_s: f64,
    /// Mean time until the utilization has settled, in seconds.
    pub utilization_mean_s: f64,
    /// Longest.
    pub utilization_max_s: f64,
    /// Phases whose sojourn time never settled.
    pub censored: u64,
    /// Longest sojourn time after a change, in seconds.
    pub peak_sojourn_s: f64,
}

impl Settling {
    /// The response of both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let (one, two) = (self.changes as f64, other.changes as f64);
        let mean = |here: f64, there: f64| (here * one + there * two) / (one + two);
        Self {
            changes: self.changes + other.changes,
            sojourn_mean_s: mean(self.sojourn_mean_s, other.sojourn_mean_s),
            sojourn_max_s: self.sojourn_max_s.max(other.sojourn_max_s),
            utilization_mean_s: mean(self.utilization_mean_s, other.utilization_mean_s),
            utilization_max_s: self.utilization_max_s.max(other.utilization_max_s),
            censored: self.censored + other.censored,
            peak_sojourn_s: self.peak_sojourn_s.max(other.peak_sojourn_s),
        }
    }
}

impl SettleProbe {
    /// `changes` are the times of the rate changes, in order; `target` is the delay that the
    /// algorithm aims at.
    pub(crate) fn new(changes: Vec<Instant>, target: Option<Duration>) -> Self {
        Self { changes, target, bins: Vec::new(), thinning: Thinning::default() }
    }

    /// A packet left now after `sojourn`.
    pub(crate) fn departed(&mut self, now: Instant, sojourn: Duration, wire_bytes: u64) {
        let number = (now.as_nanos() / BIN.as_nanos()) as usize;
        if number >= self.bins.len() {
            self.bins.resize_with(number + 1, Bin::default);
            self.thinning = Thinning::default();
        }
        let bin = &mut self.bins[number];
        let micros = u32::try_from(sojourn.as_nanos() / 1000).unwrap_or(u32::MAX);
        bin.sent_bytes += wire_bytes;
        bin.longest_us = bin.longest_us.max(micros);
        self.thinning.add::<MAX_SAMPLES, _>(&mut bin.samples, micros);
    }

    /// The result over phases that begin at or after `from`; the last one ends at `end`. `None`
    /// without any.
    pub(crate) fn finish(&self, from: Instant, end: Instant) -> Option<Settling> {
        let mut sum = Settling::default();
        for (number, &start) in self.changes.iter().enumerate() {
            let until = self.changes.get(number + 1).copied().unwrap_or(end).min(end);
            if start < from || until <= start {
                continue;
            }
            let phase = self.phase(start, until);
            sum.changes += 1;
            sum.sojourn_mean_s += phase.sojourn_s;
            sum.sojourn_max_s = sum.sojourn_max_s.max(phase.sojourn_s);
            sum.utilization_mean_s += phase.utilization_s;
            sum.utilization_max_s = sum.utilization_max_s.max(phase.utilization_s);
            sum.censored += u64::from(!phase.settled);
            sum.peak_sojourn_s = sum.peak_sojourn_s.max(phase.peak_s);
        }
        if sum.changes == 0 {
            return None;
        }
        sum.sojourn_mean_s /= sum.changes as f64;
        sum.utilization_mean_s /= sum.changes as f64;
        Some(sum)
    }

    fn phase(&self, start: Instant, until: Instant) -> Phase {
        let first = (start.as_nanos() / BIN.as_nanos()) as usize;
        let last = (until.as_nanos().div_ceil(BIN.as_nanos())) as usize;
        let empty = Bin::default();
        let bins: Vec<&Bin> = (first..last).map(|number| self.bins.get(number).unwrap_or(&empty)).collect();
        let length_s = until.since(start).as_secs_f64();
        let steady = &bins[bins.len() / 2..];
        let mut samples: Vec<u32> = steady.iter().flat_map(|bin| bin.samples.iter().copied()).collect();
        samples.sort_unstable();
        let p95_us = nearest_rank(&samples, 95).unwrap_or(0);
        let target_us = self.target.map_or(0, |target| target.as_nanos() * 3 / 2 / 1000);
        let level_us = u64::from(p95_us).max(target_us);
        let medians: Vec<bool> = (0..bins.len()).map(|at| median(&bins, at).is_none_or(|us| u64::from(us) <= level_us)).collect();
        let steady_bytes = steady.iter().map(|bin| bin.sent_bytes).sum::<u64>() as f64 / steady.len().max(1) as f64;
        let busy: Vec<bool> = (0..bins.len()).map(|at| mean_bytes(&bins, at) >= 0.95 * steady_bytes).collect();
        let sojourn = settled_after(&medians);
        let seconds = |bins: Option<usize>| bins.map_or(length_s, |bins| (bins as f64 * BIN.as_secs_f64()).min(length_s));
        Phase {
            sojourn_s: seconds(sojourn),
            settled: sojourn.is_some(),
            utilization_s: seconds(settled_after(&busy)),
            peak_s: bins.iter().map(|bin| bin.longest_us).max().map_or(0.0, |us| f64::from(us) * 1e-6),
        }
    }
}

struct Phase {
    sojourn_s: f64,
    settled: bool,
    utilization_s: f64,
    peak_s: f64,
}

/// Median of the samples in the bins up to `at`; `None` where nothing left.
fn median(bins: &[&Bin], at: usize) -> Option<u32> {
    let window = &bins[(at + 1).saturating_sub(MEDIAN_BINS)..=at];
    let mut samples: Vec<u32> = window.iter().flat_map(|bin| bin.samples.iter().copied()).collect();
    samples.sort_unstable();
    nearest_rank(&samples, 50)
}

fn mean_bytes(bins: &[&Bin], at: usize) -> f64 {
    let window = &bins[(at + 1).saturating_sub(MEAN_BINS)..=at];
    window.iter().map(|bin| bin.sent_bytes).sum::<u64>() as f64 / window.len() as f64
}

/// The first bin from which on it is good for [`HOLD_BINS`].
fn settled_after(good: &[bool]) -> Option<usize> {
    let mut run = 0;
    for (at, &here) in good.iter().enumerate() {
        run = if here { run + 1 } else { 0 };
        if run == HOLD_BINS {
            return Some(at + 1 - HOLD_BINS);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(sojourn_ms: impl Fn(u64) -> u64, seconds: u64, changes: &[u64]) -> SettleProbe {
        let mut probe = SettleProbe::new(changes.iter().map(|&s| Instant::ZERO + Duration::secs(s)).collect(), None);
        for ms in 0..seconds * 1000 {
            probe.departed(Instant::ZERO + Duration::ms(ms), Duration::ms(sojourn_ms(ms)), 1500);
        }
        probe
    }

    #[test]
    fn a_queue_that_is_long_for_two_seconds_settles_after_two() {
        let probe = probe(|ms| if (10_000..12_000).contains(&ms) { 300 } else { 5 }, 30, &[10]);
        let found = probe.finish(Instant::ZERO, Instant::ZERO + Duration::secs(30)).expect("a change");
        assert_eq!((found.changes, found.censored), (1, 0));
        // The median follows half a window later.
        assert!((2.0..2.1).contains(&found.sojourn_mean_s), "{found:?}");
        assert!(found.utilization_mean_s < 0.01, "{found:?}");
        assert!((found.peak_sojourn_s - 0.3).abs() < 1e-9);
    }

    #[test]
    fn queue_above_its_later_level_at_the_phase_end_is_censored() {
        let probe = probe(|ms| if ms < 20_000 { 5 } else { 200 - (ms - 20_000) / 10 }, 21, &[20]);
        let found = probe.finish(Instant::ZERO, Instant::ZERO + Duration::secs(21)).expect("a change");
        assert_eq!((found.changes, found.censored), (1, 1));
        assert!((found.sojourn_mean_s - 1.0).abs() < 1e-9, "the phase's length: {found:?}");
    }

    #[test]
    fn changes_before_the_measured_part_are_not_judged() {
        let probe = probe(|_| 5, 10, &[2]);
        assert_eq!(probe.finish(Instant::ZERO + Duration::secs(5), Instant::ZERO + Duration::secs(10)), None);
    }

    #[test]
    fn a_crowded_bin_keeps_an_even_selection() {
        let mut probe = SettleProbe::new(vec![Instant::ZERO], None);
        for packet in 0..10_000_u64 {
            probe.departed(Instant::from_nanos(packet * 1000), Duration::us(packet), 100);
        }
        let samples = &probe.bins[0].samples;
        assert!((MAX_SAMPLES / 2..=MAX_SAMPLES).contains(&samples.len()), "{}", samples.len());
        let step = samples[1] - samples[0];
        assert!(samples.windows(2).all(|pair| pair[1] - pair[0] == step), "{samples:?}");
        assert_eq!(probe.bins[0].sent_bytes, 1_000_000);
    }
}
