//! The files of a result.

use super::place::{self, NAMES};
use super::{Finished, Job};
use crate::failure::Failure;
use crate::output::{command_line, say};
use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::results::provenance::{COMMIT, VERSION};
use goodqueue_lab::results::record::{
    DISTRIBUTIONS_FILE, DistributedPoint, Earlier, Folder, NoRecorder, Recorder, Settled, TableKinds, Tables, write_distributions,
};
use goodqueue_lab::run::backend::Validity;
use goodqueue_lab::run::runner::{PointResult, Recorded};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A page with more points could not be read.
const MAX_REPORTED: usize = 500;

/// Folder within that of a result, for one that lacks runs and must not replace it.
const INCOMPLETE: &str = "incomplete";

/// Runs that took less than this are sooner carried out again than a disk has been waited for six
/// times.
const SOON_S: f64 = 1.0;

/// The files of a result while it is made.
pub struct Files {
    folder: Folder,
    earlier: Earlier,
    tables: Option<Tables>,
    nothing: NoRecorder,
}

/// Facts that may differ between runs of the same scenario.
#[derive(Serialize)]
struct RunFile<'a> {
    schema: &'static str,
    command_line: Vec<String>,
    set: Vec<[&'a str; 2]>,
    jobs: usize,
    wall_s: f64,
    events: u64,
    failures: Vec<String>,
    /// Inputs of the guest kernel's build, where there was one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    guest_kernel: BTreeMap<String, String>,
    /// Trustworthiness of each attempt at a run in real time.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    validity: &'a [Validity],
}

impl Files {
    /// Makes the folder and begins the tables.
    pub fn create(job: &Job<'_>) -> Result<Self, Failure> {
        let settings = job.settings;
        let (folder, earlier) = place::choose(job)?;
        let tables = if settings.recorded()? == Recorded::Nothing {
            None
        } else {
            let kinds = if settings.packets { TableKinds::SeriesAndPackets } else { TableKinds::Series };
            Some(Tables::create(&folder, kinds, &facts(job))?)
        };
        Ok(Self { folder, earlier, tables, nothing: NoRecorder })
    }

    /// Returns the recorder that takes the runs' records.
    pub fn recorder(&mut self) -> &mut dyn Recorder {
        match &mut self.tables {
            Some(tables) => tables,
            None => &mut self.nothing,
        }
    }

    /// Writes everything, and gives the folder it is in. A file that fails does not keep the others
    /// from being written, and a result that lacks runs does not replace an earlier one.
    pub fn finish(&mut self, finished: &Finished<'_>) -> Result<PathBuf, Failure> {
        let here = self.folder.path().to_owned();
        let earlier = match &self.earlier {
            Earlier::Result(earlier) if !finished.results.report.complete && !earlier.is_empty() => Some(earlier),
            _ => None,
        };
        let Some(earlier) = earlier else {
            self.write(finished, &self.folder.clone())?;
            if finished.results.report.complete {
                remove_incomplete(&here)?;
            }
            return Ok(here);
        };
        let kind = if earlier.is_complete() { "complete" } else { "earlier" };
        if finished.results.summary.points.is_empty() {
            self.tables = None;
            say(&format!("no run finished: the {kind} result in {} stays", here.display()));
            return Ok(here);
        }
        let folder = Folder::create(&here.join(INCOMPLETE))?;
        self.write(finished, &folder)?;
        say(&format!("the {kind} result in {} stays: this one lacks runs", here.display()));
        Ok(folder.path().to_owned())
    }

    fn write(&mut self, finished: &Finished<'_>, folder: &Folder) -> Result<(), Failure> {
        // Complete but unnamed: what they take of a disk is known before the smaller files, which
        // matter more, need room.
        let is_soon_repeated = finished.wall_s < SOON_S;
        let settled = if is_soon_repeated { Settled::InPassing } else { Settled::OnDisk };
        self.tables.iter_mut().for_each(|tables| tables.seal(settled));
        let run_file = run_file(finished);
        let texts = [
            ("summary.json", finished.json.as_str()),
            ("scenario.toml", finished.job.scenario_text),
            ("run.json", run_file.as_str()),
        ];
        let write = |name: &str, text: &str| folder.write_by(name, settled, &mut |out| out.write_all(text.as_bytes()));
        let mut results: Vec<Result<(), RecordError>> = Vec::new();
        for (name, text) in texts {
            let mut written = write(name, text);
            if let (Err(error), Some(tables)) = (&written, &mut self.tables)
                && is_full(error)
            {
                tables.give_up(io::ErrorKind::StorageFull);
                written = write(name, text);
            }
            if let (Err(error), "summary.json", Earlier::Result(_)) = (&written, name, &self.earlier) {
                // The earlier result stays as it is, rather than as parts of two.
                self.tables = None;
                return Err(Failure::Run(error.to_string()));
            }
            results.push(written.map(drop));
        }
        results.push(self.finish_tables(folder));
        results.push(finish_distributions(finished, folder, settled));
        results.push(finish_report(finished, folder, settled));
        let errors: Vec<String> = results.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
        if errors.is_empty() { Ok(()) } else { Err(Failure::Run(errors.join("\nerror: "))) }
    }

    fn finish_tables(&mut self, folder: &Folder) -> Result<(), RecordError> {
        // Those of an earlier result go first: a table that fails leaves no foreign one in its
        // place.
        folder.remove("series.parquet")?;
        folder.remove("packets.parquet")?;
        self.tables.take().map_or(Ok(()), |tables| tables.finish(folder))
    }
}

/// Whether there was no room.
fn is_full(error: &RecordError) -> bool {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    matches!(error, RecordError::Write { source, .. } if full.contains(&source.kind()))
}

/// Removes what an interrupted run left next to the result that is complete now.
fn remove_incomplete(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(INCOMPLETE);
    if !path.is_dir() {
        return Ok(());
    }
    let incomplete = Folder::create(&path)?;
    for name in NAMES {
        incomplete.remove(name)?;
    }
    drop(incomplete);
    // A folder that holds more than results stays.
    let _ = fs::remove_dir(&path);
    Ok(())
}

/// Returns the origin of a result, for the metadata of its tables.
fn facts(job: &Job<'_>) -> [(&'static str, String); 4] {
    [
        ("scenario_sha256", job.plan.sha256()),
        ("seed", job.plan.seed().to_string()),
        ("version", VERSION.to_owned()),
        ("commit", COMMIT.to_owned()),
    ]
}

fn finish_distributions(finished: &Finished<'_>, folder: &Folder, settled: Settled) -> Result<(), RecordError> {
    folder.remove(DISTRIBUTIONS_FILE)?;
    let points = finished.results.report.points.iter().zip(&finished.results.labels.names).enumerate();
    let points: Vec<DistributedPoint<'_>> = points
        .map(|(number, (point, label))| {
            let PointResult { cdfs: sojourn, rtt_cdfs: round_trips, .. } = point;
            DistributedPoint { number, label, sojourn, round_trips }
        })
        .collect();
    if points.iter().all(DistributedPoint::is_empty) {
        return Ok(());
    }
    write_distributions(folder, &facts(finished.job), &points, settled)
}

fn finish_report(finished: &Finished<'_>, folder: &Folder, settled: Settled) -> Result<(), RecordError> {
    let reported = finished.results.summary.points.len();
    folder.remove("report.html")?;
    if finished.job.settings.no_report {
        return Ok(());
    }
    if reported > MAX_REPORTED {
        say(&format!("no report.html: {reported} points are more than the {MAX_REPORTED} that a page shows"));
        return Ok(());
    }
    folder
        .write_by("report.html", settled, &mut |out| {
            let command_line = command_line().join(" ");
            finished.results.write_page(finished.job.scenario_text, Some(&command_line), out)
        })
        .map(drop)
}

fn run_file(finished: &Finished<'_>) -> String {
    let file = RunFile {
        schema: "goodqueue.run/1",
        command_line: command_line(),
        set: finished.job.overrides.iter().map(|(key, value)| [key.as_str(), value.as_str()]).collect(),
        jobs: finished.jobs,
        wall_s: finished.wall_s,
        events: finished.results.report.events,
        failures: finished.results.report.failures.iter().map(ToString::to_string).collect(),
        guest_kernel: finished.job.host.notes(),
        validity: &finished.results.report.attempts,
    };
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}
