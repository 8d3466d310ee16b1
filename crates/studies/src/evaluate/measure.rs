//! Measures: the values read from a run, and their form in tables.

use crate::gallery::samples::{PointData, SampledSeries};
use goodqueue_lab::results::metrics::{Better, Description, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Quantity};

/// A column of a family's table.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The heading of the column.
    pub head: &'static str,
    /// The source of the values.
    pub of: Of,
    /// The aspect that it counts for in the scorecard; `None` only reports it.
    pub aspect: Option<Aspect>,
}

/// The source of a measure's values.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// A figure by its path in `summary.json`: `links.bottleneck.sojourn_s.p95`.
    Figure(&'static str),
    /// The first over the second.
    Ratio(&'static str, &'static str),
    /// The sum of these.
    Sum(&'static [&'static str]),
    /// The mean of a sampled value within a phase that comes again and again.
    Phase {
        /// `bottleneck.sojourn_s`.
        series: &'static str,
        /// When the first phase begins, in seconds since the run began.
        from: f64,
        /// The length of a phase, in seconds.
        length: f64,
        /// From one to the next.
        period: f64,
    },
}

/// An aspect of performance that a scorecard counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// The time that packets wait.
    Delay,
    /// The amount of data that gets through.
    Goodput,
    /// The losses.
    Loss,
    /// The fairness of shares.
    Fairness,
    /// The quality of short transfers, pages, calls and videos.
    Experience,
    /// The stability under changing load, such as the time it takes to settle.
    Stability,
}

impl Aspect {
    /// All, in the order of the scorecard.
    pub const ALL: [Self; 6] = [Self::Delay, Self::Goodput, Self::Loss, Self::Fairness, Self::Experience, Self::Stability];

    /// Returns the heading of the aspect.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Goodput => "goodput",
            Self::Loss => "loss",
            Self::Fairness => "fairness",
            Self::Experience => "experience",
            Self::Stability => "stability",
        }
    }
}

/// The direction in which values of a measure are better, and their printed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The factor that values are multiplied by before they are printed.
    pub factor: f64,
    /// The unit then.
    pub unit: &'static str,
    /// The direction in which values are better.
    pub better: Better,
}

impl Measure {
    /// A figure that is only reported.
    #[must_use]
    pub const fn of(head: &'static str, path: &'static str) -> Self {
        Self { head, of: Of::Figure(path), aspect: None }
    }

    /// The quotient of two figures.
    #[must_use]
    pub const fn ratio(head: &'static str, above: &'static str, below: &'static str) -> Self {
        Self { head, of: Of::Ratio(above, below), aspect: None }
    }

    /// The sum of figures.
    #[must_use]
    pub const fn sum(head: &'static str, paths: &'static [&'static str]) -> Self {
        Self { head, of: Of::Sum(paths), aspect: None }
    }

    /// Returns the measure, counted by the scorecard for `aspect`.
    #[must_use]
    pub const fn counts_for(self, aspect: Aspect) -> Self {
        Self { aspect: Some(aspect), ..self }
    }

    /// Returns the value of the measure in each replication of a point.
    #[must_use]
    pub fn samples(&self, data: &PointData) -> Vec<Option<f64>> {
        let runs = data.fingerprints.len();
        let path = |path: &str| data.samples.get(path).cloned().unwrap_or_else(|| vec![None; runs]);
        match self.of {
            Of::Figure(figure) => path(figure),
            Of::Ratio(above, below) => {
                let of = |(above, below): (Option<f64>, Option<f64>)| Some(above? / below.filter(|below| *below > 0.0)?);
                path(above).into_iter().zip(path(below)).map(of).collect()
            }
            Of::Sum(paths) => {
                let all: Vec<Vec<Option<f64>>> = paths.iter().map(|one| path(one)).collect();
                // Groups that a point has no flows of add nothing.
                let sum = |run: usize| {
                    let there: Vec<f64> = all.iter().filter_map(|values| values[run]).collect();
                    (!there.is_empty()).then(|| there.iter().sum())
                };
                (0..runs).map(sum).collect()
            }
            Of::Phase { series, from, length, period } => {
                let of = |run: usize| data.series.get(run)?.get(series).and_then(|series| phase(series, from, length, period));
                (0..runs).map(of).collect()
            }
        }
    }

    /// Returns the scale with which values are printed. Paths are checked by a test, so each has a
    /// description.
    #[must_use]
    pub fn scale(&self) -> Scale {
        let path = match self.of {
            Of::Figure(path) => path,
            Of::Sum(paths) => paths.first().copied().unwrap_or(""),
            Of::Phase { series, .. } => series,
            Of::Ratio(..) => return Scale { factor: 1.0, unit: "", better: Better::Neither },
        };
        let Some(about) = description(path) else { return Scale { factor: 1.0, unit: "", better: Better::Neither } };
        let (factor, unit) = match about.quantity {
            Quantity::Time => (1e3, "ms"),
            Quantity::Rate => (1e-6, "Mbit/s"),
            Quantity::Ratio => (100.0, "%"),
            Quantity::Bytes => (1e-3, "kB"),
            Quantity::Packets => (1.0, "packets"),
            Quantity::Number | Quantity::Count(_) => (1.0, ""),
        };
        Scale { factor, unit, better: about.better }
    }

    /// The paths it reads in `summary.json`.
    #[must_use]
    pub fn paths(&self) -> Vec<&'static str> {
        match self.of {
            Of::Figure(path) => vec![path],
            Of::Ratio(above, below) => vec![above, below],
            Of::Sum(paths) => paths.to_vec(),
            Of::Phase { .. } => Vec::new(),
        }
    }
}

/// The description of a figure by its path.
pub(crate) fn description(path: &str) -> Option<&'static Description> {
    if let Some(name) = path.strip_prefix("jain.") {
        return JAIN_METRICS.iter().map(|metric| &metric.about).find(|about| about.name == name);
    }
    // Names of links have dots, too; of two figures whose names end a path, the longer is meant.
    let ends = |about: &&Description| path.strip_suffix(about.name).is_some_and(|before| before.ends_with('.'));
    if path.starts_with("groups.") {
        return GROUP_METRICS.iter().map(|metric| &metric.about).filter(ends).max_by_key(|about| about.name.len());
    }
    let links = || LINK_METRICS.iter().map(|metric| &metric.about);
    if path.starts_with("links.") {
        return links().filter(ends).max_by_key(|about| about.name.len());
    }
    // A series of a link; times are means over the sampling period.
    let (_, name) = path.rsplit_once('.')?;
    links().find(|about| about.name == name || about.name.strip_suffix(".mean") == Some(name))
}

/// The mean over all samples whose period lies within a phase.
fn phase(series: &SampledSeries, from: f64, length: f64, period: f64) -> Option<f64> {
    const SLACK: f64 = 1e-6;
    let within = |at: f64| {
        let place = (at - from) - libm::floor((at - from - SLACK) / period) * period;
        at > from + SLACK && place <= length + SLACK
    };
    let values = series.times.iter().zip(&series.values).filter(|(at, _)| within(**at)).filter_map(|(_, value)| *value);
    let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> SampledSeries {
        let times: Vec<f64> = (1..=120).map(f64::from).collect();
        let values = times.iter().map(|at| Some(if (*at - 0.5) % 60.0 < 20.0 { 1.0 } else { 3.0 })).collect();
        SampledSeries { times, values }
    }

    #[test]
    fn a_phase_takes_the_samples_whose_period_lies_in_it() {
        assert_eq!(phase(&series(), 0.0, 20.0, 60.0), Some(1.0));
        assert_eq!(phase(&series(), 20.0, 20.0, 60.0), Some(3.0));
        assert_eq!(phase(&series(), 10.0, 20.0, 60.0), Some(2.0));
        assert_eq!(phase(&series(), 200.0, 20.0, 60.0), None);
    }

    fn data(samples: &[(&str, &[Option<f64>])]) -> PointData {
        PointData {
            summary: serde_json::Value::Null,
            samples: samples.iter().map(|(path, values)| ((*path).to_owned(), values.to_vec())).collect(),
            series: Vec::new(),
            cpu_s: vec![0.0; 2],
            events: 0,
            fingerprints: vec!["0".into(); 2],
            failures: Vec::new(),
        }
    }

    #[test]
    fn quotients_and_sums_are_taken_run_by_run() {
        let (a, b) = ("groups.a.goodput_bit_s", "groups.b.goodput_bit_s");
        let data = data(&[(a, &[Some(6.0), Some(9.0)]), (b, &[Some(3.0), Some(0.0)])]);
        assert_eq!(Measure::ratio("a over b", a, b).samples(&data), [Some(2.0), None]);
        assert_eq!(Measure::sum("all", &["groups.a.goodput_bit_s", "groups.b.goodput_bit_s"]).samples(&data), [Some(9.0); 2]);
        assert_eq!(Measure::of("none", "groups.c.goodput_bit_s").samples(&data), [None; 2]);
    }

    #[test]
    fn figures_are_shown_in_the_units_of_their_descriptions() {
        let scale = |path| Measure::of("", path).scale();
        assert_eq!(scale("links.l.sojourn_s.p95"), Scale { factor: 1e3, unit: "ms", better: Better::Lower });
        assert_eq!(scale("groups.bulk.goodput_bit_s"), Scale { factor: 1e-6, unit: "Mbit/s", better: Better::Higher });
        assert_eq!(scale("jain.goodput").better, Better::Higher);
        let phase =
            Measure { of: Of::Phase { series: "l.sojourn_s", from: 0.0, length: 1.0, period: 2.0 }, ..Measure::of("", "") };
        assert_eq!(phase.scale().unit, "ms");
    }
}
