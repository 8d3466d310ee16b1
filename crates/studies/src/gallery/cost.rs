//! The cost of runs: processor time of each experiment, and the point that dominates it.

use crate::gallery::samples::Measured;
use goodqueue_lab::run::runner::label;
use serde::Serialize;

/// Name and version of the format of `cost.json`.
pub const COST_SCHEMA: &str = "goodqueue.gallery-cost/1";

/// One experiment's cost, stored points with what they took when they were run.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentCost {
    /// The id of the paper.
    pub paper: String,
    /// The id of the experiment.
    pub id: String,
    /// Points finished.
    pub points: usize,
    /// Runs finished.
    pub runs: usize,
    /// Seconds of processor time of all runs.
    pub cpu_s: f64,
    /// Events of all runs.
    pub events: u64,
    /// The point that took longest.
    pub dominating: String,
    /// Seconds of processor time of its runs.
    pub dominating_cpu_s: f64,
}

/// The costs of these experiments.
#[must_use]
pub fn costs(measured: &[Measured]) -> Vec<ExperimentCost> {
    measured.iter().map(cost).collect()
}

fn cost(measured: &Measured) -> ExperimentCost {
    let seconds = |at: usize| measured.points[at].as_ref().map_or(0.0, |data| data.cpu_s.iter().sum());
    let longest = (0..measured.points.len()).max_by(|a, b| f64::total_cmp(&seconds(*a), &seconds(*b)));
    let finished = || measured.points.iter().flatten();
    ExperimentCost {
        paper: measured.experiment.paper.clone(),
        id: measured.experiment.id.clone(),
        points: finished().count(),
        runs: finished().map(|data| data.cpu_s.len()).sum(),
        cpu_s: finished().flat_map(|data| &data.cpu_s).fold(0.0, |sum, run| sum + run),
        events: finished().map(|data| data.events).sum(),
        dominating: longest.map(|at| label(&measured.experiment.points[at].set)).unwrap_or_default(),
        dominating_cpu_s: longest.map_or(0.0, seconds),
    }
}

/// Seconds of processor time of all experiments of a paper.
#[must_use]
pub fn of_paper(costs: &[ExperimentCost], paper: &str) -> f64 {
    costs.iter().filter(|cost| cost.paper == paper).fold(0.0, |sum, cost| sum + cost.cpu_s)
}

/// The text of `cost.json`.
#[must_use]
pub fn to_json(costs: &[ExperimentCost], wall_s: f64, jobs: usize) -> String {
    let file = serde_json::json!({ "schema": COST_SCHEMA, "wall_s": wall_s, "jobs": jobs, "experiments": costs });
    format!("{file:#}\n")
}
