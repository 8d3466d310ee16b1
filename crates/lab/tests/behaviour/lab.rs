//! From a scenario's text to figures of each of its points, and to a table of some.

use goodqueue_base::units::{Duration, Instant};
use goodqueue_lab::results::metrics::RunFigures;
use goodqueue_lab::results::statistics::jain;
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_sim::{Continue, Recording, Series, World};
use std::ops::Range;
use std::path::Path;

/// The results of one point of a scenario, replication 0.
pub struct Run {
    /// The values that the sweep set.
    pub label: String,
    figures: RunFigures,
    series: Vec<Series>,
}

/// Runs every point of a scenario once, in order, sampled every 10 ms.
#[track_caller]
pub fn run(text: &str) -> Vec<Run> {
    let plan = Plan::parse("scenario.toml", text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
    let points = plan.points().unwrap_or_else(|error| panic!("{}", error.text()));
    points.iter().map(one).collect()
}

fn one(point: &Point) -> Run {
    let mut spec = build::world(point, 0);
    spec.recording = Recording { sample_every: Some(Duration::ms(10)), packets: false };
    let outcome = World::new(&spec).expect("a scenario that was checked").run(&mut |_| Continue::Yes);
    let label = point.set.iter().map(|(_, value)| words(value)).collect::<Vec<_>>().join(", ");
    Run { label, figures: RunFigures::of(&outcome, spec.duration, &[]), series: outcome.series }
}

/// A swept value without braces and quotes.
fn words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(entries) => {
            let kind = entries.get("kind").map(words);
            let others = entries.iter().filter(|(key, _)| *key != "kind");
            let others = others.map(|(key, value)| format!("{key}={}", words(value)));
            kind.into_iter().chain(others).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

impl Run {
    /// A figure of the bottleneck.
    #[track_caller]
    pub fn link(&self, metric: &str) -> f64 {
        self.figures.links[0].value(metric).unwrap_or_else(|| panic!("no {metric} at {}", self.label))
    }

    /// A figure of group `number`.
    #[track_caller]
    pub fn group(&self, number: usize, metric: &str) -> f64 {
        self.figures.groups[number].value(metric).unwrap_or_else(|| panic!("no {metric} at {}", self.label))
    }

    /// Data delivered to group `number`, in bit/s.
    pub fn goodput(&self, number: usize) -> f64 {
        self.figures.groups[number].values[0].expect("a run of some length")
    }

    /// Jain's index of the flows' goodputs.
    pub fn fairness(&self) -> f64 {
        self.figures.jain[0].expect("flows")
    }

    /// Goodputs of the flows of group `number`, in bit/s.
    pub fn flows(&self, number: u32) -> Vec<f64> {
        self.figures.flows.iter().filter(|flow| flow.group == number).filter_map(|flow| flow.goodput_bit_s).collect()
    }

    /// Jain's index of the goodputs within group `number`.
    #[track_caller]
    pub fn group_fairness(&self, number: u32) -> f64 {
        jain(self.flows(number)).expect("flows that deliver")
    }

    /// Samples of a column of the bottleneck's series, between two times in seconds.
    #[track_caller]
    pub fn samples(&self, column: &str, seconds: Range<f64>) -> Vec<f64> {
        let series = self.series.iter().find(|series| series.subject.starts_with("link:")).expect("a sampled link");
        let values = series.columns.iter().find(|known| known.name == column);
        let names = || series.columns.iter().map(|known| known.name.as_str()).collect::<Vec<_>>();
        let values = &values.unwrap_or_else(|| panic!("no {column}; there are {:?}", names())).values;
        let at = |second: f64| Instant::ZERO + Duration::from_secs_f64(second);
        let within = at(seconds.start)..at(seconds.end);
        series.times.iter().zip(values).filter(|(time, _)| within.contains(time)).map(|(_, &value)| value).collect()
    }

    /// Mean of [`Run::samples`].
    #[track_caller]
    pub fn mean(&self, column: &str, seconds: Range<f64>) -> f64 {
        let samples = self.samples(column, seconds);
        samples.iter().sum::<f64>() / samples.len() as f64
    }
}

/// A column of a table: its heading and its content.
pub type Column<'a> = (&'a str, &'a dyn Fn(&Run) -> f64);

/// One line per run, values to four digits.
pub fn table(runs: &[Run], columns: &[Column<'_>]) -> String {
    let width = runs.iter().map(|run| run.label.chars().count()).max().unwrap_or(0);
    let heads: String = columns.iter().map(|(head, _)| format!(" {head:>12}")).collect();
    let mut text = format!("{:width$}{heads}\n", "");
    for run in runs {
        let cells: String = columns.iter().map(|(_, value)| format!(" {:>12}", digits(value(run)))).collect();
        text += &format!("{:width$}{cells}\n", run.label);
    }
    text
}

fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    let decimals = [1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001].iter().position(|&step| magnitude >= step).unwrap_or(7);
    format!("{value:.decimals$}")
}
