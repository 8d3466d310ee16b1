//! Figures of finished points, by experiment, point, metric and replication: what rows, figures and
//! tables ask.

mod env;
mod filter;

pub use env::{Points, PointsEnv, Source, View};
pub(crate) use env::{at_least_one, near};
pub use filter::Filter;

use crate::gallery::experiment::Experiment;
use crate::gallery::expr::Fault;
use goodqueue_lab::results::metrics::RunFigures;
use goodqueue_lab::results::summary::PointSummary;
use goodqueue_lab::run::backend::BackendFailure;
use goodqueue_lab::run::runner::SingleRun;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One experiment with what is finished of it.
#[derive(Debug)]
pub struct Measured {
    /// The experiment.
    pub experiment: Experiment,
    /// One entry for each point; `None` where none of its runs finished.
    pub points: Vec<Option<PointData>>,
}

impl Measured {
    /// Whether all points are there, with all replications.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.points.iter().all(|point| point.as_ref().is_some_and(|data| data.failures.is_empty()))
    }
}

/// The experiment of an id among those that were run.
///
/// # Errors
/// When it is none of them.
pub(crate) fn needed<'a>(measured: &'a [Measured], id: &str) -> Result<&'a Measured, Fault> {
    let found = measured.iter().find(|one| one.experiment.id == id);
    found.ok_or_else(|| Fault::NoValue(format!("needs {id}, which was not run")))
}

/// Replications that all finished points of these experiments have.
#[must_use]
pub fn replications<'a>(measured: &[Measured], experiments: impl Iterator<Item = &'a str>) -> usize {
    let found = experiments.filter_map(|id| needed(measured, id).ok());
    found.flat_map(|one| &one.points).flatten().map(|data| data.fingerprints.len()).min().unwrap_or(0)
}

/// One point's figures over its replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointData {
    /// The full summary, as `summary.json` has it.
    pub summary: Json,
    /// Every figure by its path (`links.bottleneck.utilization`), one value per replication;
    /// `None` where it is not defined.
    pub samples: BTreeMap<String, Vec<Option<f64>>>,
    /// Sampled series of each replication, if kept.
    pub series: Vec<BTreeMap<String, SampledSeries>>,
    /// Seconds of processor time of each run.
    pub cpu_s: Vec<f64>,
    /// Events of all runs.
    pub events: u64,
    /// Hash of each run's events, 16 hexadecimal digits.
    pub fingerprints: Vec<String>,
    /// The errors that kept runs from finishing.
    pub failures: Vec<String>,
}

/// One sampled value over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledSeries {
    /// Seconds since the start, warm-up included.
    pub times: Vec<f64>,
    /// The sampled values; `None` where a value was not defined.
    pub values: Vec<Option<f64>>,
}

/// A run with the processor time it took.
pub struct TimedRun {
    /// The result of the run, or the reason why it failed.
    pub run: Result<SingleRun, BackendFailure>,
    /// Seconds.
    pub cpu_s: f64,
}

impl PointData {
    /// From all replications of a point, in order; without a summary when none of them finished.
    #[must_use]
    pub fn of(set: &[(String, Json)], runs: Vec<TimedRun>) -> Self {
        let cpu_s = runs.iter().map(|run| run.cpu_s).collect();
        let mut failures = Vec::new();
        let (mut figures, mut series): (Vec<RunFigures>, Vec<_>) = (Vec::new(), Vec::new());
        for (number, timed) in runs.into_iter().enumerate() {
            match timed.run {
                Ok(run) => {
                    figures.push(run.figures);
                    series.push(sampled(&run.series));
                }
                Err(failure) => failures.push(format!("replication {number}: {failure}")),
            }
        }
        if series.iter().all(BTreeMap::is_empty) {
            series.clear();
        }
        let summary = PointSummary::of(set.to_vec(), &figures).map_or(Json::Null, |summary| json(&summary));
        let mut samples: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        for (number, run) in figures.iter().enumerate() {
            let Some(single) = PointSummary::of(Vec::new(), std::slice::from_ref(run)) else { continue };
            flatten(&json(&single), &mut String::new(), &mut |path, value| {
                // A figure that only some replications have is missing in the others.
                let values = samples.entry(path.to_owned()).or_default();
                values.resize(number, None);
                values.push(value);
            });
        }
        samples.values_mut().for_each(|values| values.resize(figures.len(), None));
        Self {
            summary,
            samples,
            series,
            cpu_s,
            events: figures.iter().map(|run| run.events).sum(),
            fingerprints: figures.iter().map(|run| format!("{:016x}", run.fingerprint)).collect(),
            failures,
        }
    }

    /// The mean of a figure over the replications in which it is defined.
    #[must_use]
    pub fn mean(&self, metric: &str) -> Option<f64> {
        let values: Vec<f64> = self.samples.get(metric)?.iter().copied().flatten().collect();
        let first = *values.first()?;
        // Around the first, so that equal values give exactly themselves.
        Some(first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64)
    }
}

fn json(summary: &PointSummary) -> Json {
    // Plain values with string keys always serialize.
    serde_json::to_value(summary).unwrap_or(Json::Null)
}

/// Every figure with its path. A figure is an object of `mean`, `ci95` and `n`; flows go by group
/// and number.
fn flatten(value: &Json, path: &mut String, visit: &mut dyn FnMut(&str, Option<f64>)) {
    match value {
        Json::Object(table) if table.len() == 3 && table.get("n").is_some_and(Json::is_u64) && table.contains_key("ci95") => {
            visit(path, table.get("mean").and_then(Json::as_f64));
        }
        Json::Object(table) => {
            for (key, inner) in table {
                within(path, key, |path| flatten(inner, path, visit));
            }
        }
        Json::Array(flows) => {
            for flow in flows {
                let group = flow.get("group").and_then(Json::as_str).unwrap_or_default();
                let index = flow.get("index").map(ToString::to_string).unwrap_or_default();
                within(path, &format!("{group}.{index}"), |path| flatten(flow, path, visit));
            }
        }
        Json::Number(number) if !path.ends_with(".index") => visit(path, number.as_f64()),
        _ => {}
    }
}

fn within(path: &mut String, key: &str, inner: impl FnOnce(&mut String)) {
    let length = path.len();
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
    inner(path);
    path.truncate(length);
}

/// Series by subject and column: `bottleneck.sojourn_s`, `tcp.0.cwnd_bytes`,
/// `bottleneck.setpoint_s`.
fn sampled(series: &[goodqueue_sim::Series]) -> BTreeMap<String, SampledSeries> {
    let mut all = BTreeMap::new();
    for one in series {
        let subject = one.subject.strip_prefix("link:").or_else(|| one.subject.strip_prefix("flow:")).unwrap_or(&one.subject);
        let subject = subject.replace(':', ".");
        let times: Vec<f64> = one.times.iter().map(|time| time.as_secs_f64()).collect();
        for column in &one.columns {
            let name = column.name.strip_prefix("gauge:").unwrap_or(&column.name);
            let values = column.values.iter().map(|value| value.is_finite().then_some(*value)).collect();
            all.insert(format!("{subject}.{name}"), SampledSeries { times: times.clone(), values });
        }
    }
    all
}

#[cfg(test)]
mod tests;
