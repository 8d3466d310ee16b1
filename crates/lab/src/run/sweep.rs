//! Sweeps that can be resumed: one file per finished point, under its name only when it is whole. A
//! sweep that was stopped, was killed or ran out of disk resumes and ends with the same bytes as an
//! uninterrupted one.
//!
//! A folder holds `sweep.json` (what is swept, and by which version), `scenario.toml`,
//! `points/NNNNNN.parquet`, `failed/NNNNNN.json` for points that gave an error, and at the end
//! `summary.json`, the same that running all points at once gives.

mod columns;
mod folder;

pub use columns::{POINT_SCHEMA, PointFile, read_bytes};
pub use folder::{Sweep, SweepEnd, differs, write_summary};

use crate::results::error::{RecordError, RunFailure};
use crate::results::provenance::{COMMIT, VERSION};
use crate::results::record::NoRecorder;
use crate::results::summary::PointSummary;
use crate::run::runner::{self, RunOptions, RunReport};
use crate::scenario::plan::Plan;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Name and version of the format of `sweep.json`.
pub const SWEEP_SCHEMA: &str = "goodqueue.sweep/1";
/// Name and version of the format of files of failed points.
pub const FAILED_SCHEMA: &str = "goodqueue.failed-point/1";

/// Why a sweep cannot begin or resume. Finished points are kept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The folder or a file in it.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The folder holds another sweep.
    #[error("{path}: holds another sweep: its {what} is {theirs}, here it is {ours}; use another folder, or remove this one")]
    Other {
        /// The path of its `sweep.json`.
        path: PathBuf,
        /// The name of the fact that differs.
        what: &'static str,
        /// In the folder.
        theirs: String,
        /// In the plan.
        ours: String,
    },
    /// The folder holds something else, which the sweep would mix with its own files.
    #[error("{path}: holds {what}, which is not of this sweep: use another folder, or remove it")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The name of the file or folder that is not of this sweep.
        what: String,
    },
    /// A file that is not what a sweep writes.
    #[error("{path}: cannot be read: {message}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

/// The outcome of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointOutcome {
    /// The bytes of its file in `points/`.
    Finished(Vec<u8>),
    /// The bytes of its file in `failed/`.
    Failed(Vec<u8>),
    /// No result: the run was told to stop.
    Stopped,
}

/// The contents of `sweep.json`: a folder belongs to one sweep, in one version.
#[derive(Serialize)]
struct Facts<'a> {
    schema: &'static str,
    scenario: &'a str,
    points: usize,
    replications: u32,
    seed: u64,
    scenario_sha256: String,
    version: &'static str,
    commit: &'static str,
    swept: Vec<String>,
    /// The overrides on top of `scenario.toml`.
    set: Vec<[&'a str; 2]>,
}

/// The text of `sweep.json` for a plan.
#[must_use]
pub fn facts(plan: &Plan) -> String {
    json(&Facts {
        schema: SWEEP_SCHEMA,
        scenario: plan.name(),
        points: plan.point_count(),
        replications: plan.replications(),
        seed: plan.seed(),
        scenario_sha256: plan.sha256(),
        version: VERSION,
        commit: COMMIT,
        swept: plan.swept().map(|(key, _)| key).collect(),
        set: plan.overrides().iter().map(|(key, value)| [key.as_str(), value.as_str()]).collect(),
    })
}

/// The name of a point's file, without its ending.
#[must_use]
pub fn file_stem(number: usize) -> String {
    format!("{number:06}")
}

/// Runs all replications of one point, one after the other, and makes the bytes of its file. A
/// function of plan and number alone, independent of its caller.
#[must_use]
pub fn run_point(plan: &Plan, sha256: &str, number: usize, stop: &AtomicBool) -> PointOutcome {
    let fail = |errors: Vec<String>| PointOutcome::Failed(failed(plan, sha256, number, errors));
    let point = match plan.point(number) {
        Ok(point) => point,
        Err(error) => return fail(error.faults().map(ToString::to_string).collect()),
    };
    let options = RunOptions::unrecorded(1, plan.replications());
    let report = runner::run(std::slice::from_ref(&point), &options, stop, &mut |_| {}, &mut NoRecorder);
    if let Some(summary) = complete(&report) {
        return match columns::file(plan, sha256, number, summary, &report.points[0].runs, &report.fingerprints) {
            Ok(bytes) => PointOutcome::Finished(bytes),
            Err(error) => fail(vec![format!("its file cannot be made: {error}")]),
        };
    }
    if report.failures.is_empty() && stop.load(Ordering::Relaxed) {
        return PointOutcome::Stopped;
    }
    let line = |failure: &RunFailure| format!("replication {}: {}", failure.replication, failure.message);
    fail(report.failures.iter().map(line).collect())
}

fn complete(report: &RunReport) -> Option<&PointSummary> {
    report.points.first()?.summary.as_ref().filter(|_| report.complete)
}

#[derive(Serialize)]
struct Failed<'a> {
    schema: &'static str,
    point: usize,
    set: serde_json::Map<String, serde_json::Value>,
    errors: Vec<String>,
    scenario_sha256: &'a str,
    settings: String,
    version: &'static str,
    commit: &'static str,
}

/// The bytes of the file of a point that failed, or was given up for what happened around it.
#[must_use]
pub fn failed(plan: &Plan, sha256: &str, number: usize, errors: Vec<String>) -> Vec<u8> {
    let file = Failed {
        schema: FAILED_SCHEMA,
        point: number,
        set: plan.set_of(number).into_iter().collect(),
        errors,
        scenario_sha256: sha256,
        settings: plan.settings_text(number),
        version: VERSION,
        commit: COMMIT,
    };
    json(&file).into_bytes()
}

fn json(content: &impl Serialize) -> String {
    serde_json::to_string_pretty(content).expect("plain values with string keys always serialize") + "\n"
}

#[cfg(test)]
mod tests;
