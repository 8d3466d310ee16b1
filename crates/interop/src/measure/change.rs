//! The difference between two measurements of a line.

use crate::measure::delays::Delays;
use crate::measure::measurement::Measurement;
use goodqueue_lab::results::statistics::Figure;
use std::fmt::Write as _;

/// Smaller differences of a delay help nobody, in seconds.
const MIN_DELAY_S: f64 = 1e-3;
/// Smaller differences of a rate are not noticed, relative to the rate before.
const MIN_RATE: f64 = 0.01;

/// The direction of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Better,
    Worse,
    /// Within the interval, or below what matters.
    Unclear,
}

/// One figure, before and after.
#[derive(Clone, Debug)]
struct Compared {
    name: &'static str,
    is_rate: bool,
    before: Figure,
    after: Figure,
    outcome: Outcome,
}

/// A comparison of two measurements.
#[derive(Clone, Debug)]
pub struct Change {
    figures: Vec<Compared>,
    remarks: Vec<String>,
}

impl Change {
    /// Compares the figures of a line before and after a change.
    #[must_use]
    pub fn between(before: &Measurement, after: &Measurement) -> Self {
        let rate = |name, of: fn(&Measurement) -> &Figure| Compared::rate(name, of(before), of(after));
        let delay = |name, of: fn(&Measurement) -> &Delays| Compared::delay(name, of(before), of(after));
        let figures = vec![
            delay("round trip while downloading, p95", |one| &one.down.loaded),
            delay("round trip while uploading, p95", |one| &one.up.loaded),
            delay("round trip of the idle line, p95", |one| &one.idle),
            rate("download", |one| &one.down.goodput_bit_s),
            rate("upload", |one| &one.up.goodput_bit_s),
        ];
        let mut remarks = Vec::new();
        let differs = |one: &str, other: &str| !one.is_empty() && one != other;
        if before.family != after.family {
            remarks.push("The measurements used different versions of IP.".to_owned());
        }
        if differs(&before.server.address, &after.server.address) {
            remarks.push("The measurements used different servers.".to_owned());
        }
        if differs(&before.server.congestion_control, &after.server.congestion_control)
            || differs(&before.client.congestion_control, &after.client.congestion_control)
        {
            remarks.push("The measurements used different congestion controls.".to_owned());
        }
        Self { figures, remarks }
    }

    /// The answer in one sentence.
    #[must_use]
    pub fn answer(&self) -> &'static str {
        let any = |is_rate: bool, outcome| self.figures.iter().any(|one| one.is_rate == is_rate && one.outcome == outcome);
        let delays = (any(false, Outcome::Better), any(false, Outcome::Worse));
        let rates = (any(true, Outcome::Better), any(true, Outcome::Worse));
        match (delays, rates) {
            ((true, false), (_, false)) => "The change helped: delays are shorter, and no rate is lower.",
            ((true, false), (_, true)) => "The change helped delays, at the price of a lower rate.",
            ((true, true), _) => "The change helped one delay and made another longer.",
            ((false, true), (true, false)) => "The change raised a rate, at the price of longer delays.",
            ((false, true), _) => "The change did not help: delays are longer.",
            ((false, false), (true, false)) => "The change raised a rate; delays are as they were, as far as we can tell.",
            ((false, false), (true, true)) => "The change raised one rate and lowered the other.",
            ((false, false), (false, true)) => "The change did not help: a rate is lower, and no delay shorter.",
            ((false, false), (false, false)) => "The difference is too small for us to tell.",
        }
    }

    /// The answer, a line for each figure, and remarks.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.answer());
        for one in &self.figures {
            let _ = writeln!(text, "{}: {}", one.name, one.words());
        }
        self.remarks.iter().for_each(|remark| text.extend([remark.as_str(), "\n"]));
        text.push_str(
            "Intervals (95 %) are over parts of each measurement: they do not know how the line differs from hour to hour.\n",
        );
        text
    }
}

impl Compared {
    fn rate(name: &'static str, before: &Figure, after: &Figure) -> Self {
        Self::of(name, true, *before, *after, MIN_RATE * before.mean.unwrap_or_default())
    }

    fn delay(name: &'static str, before: &Delays, after: &Delays) -> Self {
        Self::of(name, false, before.rtt_p95_s, after.rtt_p95_s, MIN_DELAY_S)
    }

    fn of(name: &'static str, is_rate: bool, before: Figure, after: Figure, least: f64) -> Self {
        let outcome = match after.minus(&before) {
            Some(Figure { mean: Some(mean), ci95: Some(half), .. }) if mean.abs() > half && mean.abs() >= least => {
                if (mean > 0.0) == is_rate { Outcome::Better } else { Outcome::Worse }
            }
            _ => Outcome::Unclear,
        };
        Self { name, is_rate, before, after, outcome }
    }

    fn words(&self) -> String {
        let (unit, scale) = if self.is_rate { ("Mbit/s", 1e-6) } else { ("ms", 1e3) };
        let shown = |figure: &Figure| figure.mean.map_or_else(|| "?".to_owned(), |mean| digits(mean * scale));
        let values = format!("{} → {} {unit}", shown(&self.before), shown(&self.after));
        let difference = match self.after.minus(&self.before) {
            Some(Figure { mean: Some(mean), ci95: Some(half), .. }) => {
                let sign = if mean < 0.0 { "−" } else { "+" };
                format!("{sign}{} ± {} {unit}", digits(mean.abs() * scale), digits(half * scale))
            }
            _ => "no interval".to_owned(),
        };
        let verdict = match (self.outcome, self.is_rate) {
            (Outcome::Better, true) => "higher",
            (Outcome::Worse, true) => "lower",
            (Outcome::Better, false) => "shorter",
            (Outcome::Worse, false) => "longer",
            (Outcome::Unclear, _) => "the difference is too small for us to tell",
        };
        format!("{values} ({difference}): {verdict}")
    }
}

/// A number with three significant digits, or all before the point.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::measurement::tests::sample;

    #[test]
    fn shorter_delays_are_a_help() {
        let change = Change::between(&sample(0.22, 0.01), &sample(0.04, 0.002));
        assert_eq!(change.answer(), "The change helped: delays are shorter, and no rate is lower.");
        let text = change.text();
        // Half-widths 10 and 2 ms at 7 degrees of freedom: Welch's interval has 7.
        assert!(text.contains("while downloading, p95: 220 → 40.0 ms (−180 ± 10.2 ms): shorter\n"), "{text}");
        assert!(text.contains("download: 19.3 → 19.3 Mbit/s (+0.00 ± 0.13 Mbit/s): the difference is too small"), "{text}");
    }

    #[test]
    fn small_differences_are_not_told() {
        let same = "The difference is too small for us to tell.";
        assert_eq!(Change::between(&sample(0.22, 0.01), &sample(0.215, 0.01)).answer(), same, "within the interval");
        assert_eq!(Change::between(&sample(0.22, 0.0), &sample(0.2195, 0.0)).answer(), same, "half a millisecond");
        assert_eq!(
            Change::between(&sample(0.04, 0.001), &sample(0.2, 0.01)).answer(),
            "The change did not help: delays are longer."
        );
    }

    #[test]
    fn a_lower_rate_is_a_price() {
        let (before, mut after) = (sample(0.22, 0.01), sample(0.04, 0.002));
        after.down.goodput_bit_s.mean = Some(17.0e6);
        assert_eq!(Change::between(&before, &after).answer(), "The change helped delays, at the price of a lower rate.");
        after.down.goodput_bit_s.ci95 = None;
        assert!(Change::between(&before, &after).text().contains("17.0 Mbit/s (no interval): the difference is too small"));
    }

    #[test]
    fn different_measurements_are_remarked() {
        let (before, mut after) = (sample(0.22, 0.01), sample(0.04, 0.002));
        after.server.congestion_control = "bbr".to_owned();
        after.family = crate::measure::volume::Family::V6;
        let text = Change::between(&before, &after).text();
        assert!(text.contains("different congestion controls") && text.contains("different versions of IP"), "{text}");
    }
}
