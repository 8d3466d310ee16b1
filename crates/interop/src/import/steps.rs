//! A rate over time, from the log of a controller.

use crate::import::{Cited, Origin};
use goodqueue_base::units::Rate;

/// A rate that was set at times, in seconds from any beginning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    at: Vec<(f64, f64)>,
    wrong: u64,
}

/// A scenario file shows no more than this.
const MAX: usize = 2_000;

impl Steps {
    /// Notes a rate in bit/s; one that does not change says nothing new, and one that no line has
    /// is counted.
    pub(crate) fn push(&mut self, seconds: f64, bits: f64) {
        if !(1.0..=1e13).contains(&bits) {
            self.wrong += 1;
            return;
        }
        let known = self.at.last().is_some_and(|&(before, last)| last == bits || seconds <= before);
        if !known && seconds.is_finite() {
            self.at.push((seconds, bits));
        }
    }

    /// Rates that no line has.
    pub(crate) fn wrong(&self) -> u64 {
        self.wrong
    }

    /// Whether nothing was noted.
    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The greatest rate.
    pub(crate) fn fastest(&self) -> Rate {
        Rate::bit_s(self.at.iter().fold(0.0, |most: f64, (_, bits)| most.max(*bits)) as u64)
    }

    /// When the first was noted.
    pub(crate) fn start(&self) -> Option<f64> {
        self.at.first().map(|(seconds, _)| *seconds)
    }

    /// Returns the steps as a rate of a scenario, from `start` on. When there are very many steps,
    /// groups of consecutive ones are replaced with their means, which the origin mentions.
    pub(crate) fn cited(&self, start: f64, why: &str) -> Cited {
        let every = self.at.len().div_ceil(MAX).max(1);
        let groups: Vec<(f64, f64)> = self
            .at
            .chunks(every)
            .map(|group| (group[0].0, group.iter().map(|(_, bits)| bits).sum::<f64>() / group.len() as f64))
            .collect();
        let origin = Origin::Measured(if every > 1 { format!("{why}; means of {every} steps each") } else { why.to_owned() });
        if let [(_, bits)] = groups.as_slice() {
            return Cited::quantity(Rate::bit_s(bits.round() as u64), origin);
        }
        let step = |(number, (seconds, bits)): (usize, &(f64, f64))| {
            // The first holds from the beginning.
            let at = if number == 0 { 0.0 } else { (seconds - start).max(0.001) };
            format!("[\"{} us\", \"{} bit/s\"]", (at * 1e6).round(), bits.round())
        };
        let steps: Vec<String> = groups.iter().enumerate().map(step).collect();
        Cited::toml(format!("{{ steps = [{}] }}", steps.join(", ")), origin)
    }
}

/// The middle of numbers; `None` when there are none.
pub(crate) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.retain(|number| number.is_finite());
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

/// The least of numbers.
pub(crate) fn least(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    numbers.into_iter().filter(|number| number.is_finite()).min_by(f64::total_cmp)
}
