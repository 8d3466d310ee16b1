//! `results.json` of a paper: every point's full summary, every row with value, interval, expected
//! and verdict.

use crate::gallery::evaluate::Evaluated;
use crate::gallery::experiment::{Experiment, Mode};
use crate::gallery::files::{Paper, Row};
use crate::gallery::samples::Measured;
use crate::gallery::words;
use goodqueue_lab::results::provenance::{COMMIT, VERSION};
use serde::Serialize;
use serde_json::Value as Json;
use std::rc::Rc;

/// Name and version of the format.
pub const RESULTS_SCHEMA: &str = "goodqueue.gallery-results/1";

/// Everything a paper's reproduction gave.
#[derive(Debug)]
pub struct PaperResults {
    /// The paper.
    pub paper: Paper,
    /// The experiments with their points.
    pub measured: Rc<[Measured]>,
    /// The rows, in the order of the file; only those asked for.
    pub rows: Vec<(Row, Evaluated)>,
    /// The mode, which decides how much was run.
    pub mode: Mode,
}

#[derive(Serialize)]
struct ResultsFile<'a> {
    schema: &'static str,
    paper: &'a str,
    title: &'a str,
    citation: &'a str,
    mode: &'static str,
    version: &'static str,
    commit: &'static str,
    rows: Vec<RowEntry<'a>>,
    experiments: Vec<ExperimentEntry<'a>>,
}

#[derive(Serialize)]
struct RowEntry<'a> {
    #[serde(flatten)]
    row: &'a Row,
    #[serde(flatten)]
    evaluated: &'a Evaluated,
    text: RowText,
}

/// A row as the report words it, for other pages.
#[derive(Serialize)]
struct RowText {
    expected: String,
    measured: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
}

#[derive(Serialize)]
struct ExperimentEntry<'a> {
    id: &'a str,
    about: &'a str,
    /// The scenario.
    file: &'a str,
    /// The settings changed in it, as `gq run --set` takes them.
    set: Vec<String>,
    replications: u32,
    seed: u64,
    scenario_sha256: String,
    complete: bool,
    points: Vec<PointEntry<'a>>,
}

#[derive(Serialize)]
struct PointEntry<'a> {
    number: usize,
    fingerprints: &'a [String],
    events: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'a [String],
    /// Exactly what `summary.json` of `gq run` has for this point.
    summary: &'a Json,
}

impl PaperResults {
    /// The text of `results.json`: the same bytes for the same settings and commit, whatever else
    /// was running.
    #[must_use]
    pub fn to_json(&self) -> String {
        let file = ResultsFile {
            schema: RESULTS_SCHEMA,
            paper: &self.paper.id,
            title: &self.paper.title,
            citation: self.paper.citation.get_ref(),
            mode: self.mode.name(),
            version: VERSION,
            commit: COMMIT,
            rows: self.rows.iter().map(|(row, evaluated)| row_entry(row, evaluated)).collect(),
            experiments: self.measured.iter().map(experiment_entry).collect(),
        };
        // Plain values with string keys always serialize.
        let mut text = serde_json::to_string(&file).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn row_entry<'a>(row: &'a Row, evaluated: &'a Evaluated) -> RowEntry<'a> {
    RowEntry {
        row,
        evaluated,
        text: RowText {
            expected: words::expected(row),
            measured: words::measured(evaluated),
            reason: words::reason(row, evaluated),
        },
    }
}

fn experiment_entry(measured: &Measured) -> ExperimentEntry<'_> {
    let Experiment { id, about, file, overrides, plan, .. } = &measured.experiment;
    let points = measured.points.iter().enumerate().filter_map(|(number, data)| {
        let data = data.as_ref()?;
        Some(PointEntry {
            number,
            fingerprints: &data.fingerprints,
            events: data.events,
            failures: &data.failures,
            summary: &data.summary,
        })
    });
    ExperimentEntry {
        id,
        about,
        file,
        set: overrides.iter().map(|(key, value)| format!("{key}={value}")).collect(),
        replications: plan.replications(),
        seed: plan.seed(),
        scenario_sha256: plan.sha256(),
        complete: measured.is_complete(),
        points: points.collect(),
    }
}
