//! A sweep's folder on this machine: what is missing, workers that make it, and the summary at the
//! end.

use super::columns::PointFile;
use super::{PointOutcome, SweepError, columns, facts, file_stem, run_point};
use crate::results::error::RecordError;
use crate::results::labels::Labels;
use crate::results::record::{Folder, remove_file, temporary_name, write_file, write_one_of_many};
use crate::results::runs::{PointResult, RunReport};
use crate::results::summary::{Summary, read_point};
use crate::run::backend::{Backend as _, Simulator};
use crate::scenario::plan::{Plan, Point};
use crate::verdict::{Criteria, Headline};
use serde::ser::{Error as _, Serialize, SerializeSeq as _, Serializer};
use serde_json::Value;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Points of a sweep that are compared at most: each is held against each, in memory.
const MAX_JUDGED: usize = 1000;

/// A plan and the folder its points go to.
pub struct Sweep {
    plan: Plan,
    sha256: String,
    folder: Folder,
    points: PathBuf,
    failed: PathBuf,
}

/// The outcome of a sweep, in numbers of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepEnd {
    /// All its points.
    pub points: usize,
    /// Points that were finished before.
    pub found: usize,
    /// Points that are there now.
    pub finished: usize,
    /// Points that gave an error, each time they were tried.
    pub failed: usize,
}

impl SweepEnd {
    /// Whether every point is there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.finished == self.points
    }
}

impl Sweep {
    /// Begins a sweep in a folder, or resumes the one that is there.
    ///
    /// # Errors
    /// When the folder cannot be used, or holds another sweep or one by another version.
    pub fn open(plan: &Plan, scenario_text: &str, path: &Path) -> Result<Self, SweepError> {
        let folder = Folder::create(path)?;
        let (points, failed) = (path.join("points"), path.join("failed"));
        let ours = facts(plan);
        let place = path.join("sweep.json");
        match fs::read_to_string(&place) {
            Ok(theirs) if theirs == ours => {}
            Ok(theirs) => return Err(differs(place, &theirs, &ours)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                refuse_others(path, scenario_text)?;
                folder.write("sweep.json", ours.as_bytes())?;
            }
            Err(error) => return Err(SweepError::Unreadable { path: place, message: error.to_string() }),
        }
        if !path.join("scenario.toml").exists() {
            folder.write("scenario.toml", scenario_text.as_bytes())?;
        }
        for path in [&points, &failed] {
            fs::create_dir_all(path).map_err(|source| RecordError::Unusable { path: path.clone(), source })?;
            remove_unfinished(path)?;
        }
        refuse_surplus(&points, plan.point_count())?;
        Ok(Self { plan: plan.clone(), sha256: plan.sha256(), folder, points, failed })
    }

    /// The path of a point's file.
    #[must_use]
    pub fn point_path(&self, number: usize) -> PathBuf {
        self.points.join(format!("{}.parquet", file_stem(number)))
    }

    fn failed_path(&self, number: usize) -> PathBuf {
        self.failed.join(format!("{}.json", file_stem(number)))
    }

    /// Points without a file that can be read, in order. Points that failed are among them.
    #[must_use]
    pub fn missing(&self) -> Vec<usize> {
        let is_missing = |&number: &usize| columns::read(&self.point_path(number), &self.sha256, number).is_none();
        (0..self.plan.point_count()).filter(is_missing).collect()
    }

    /// Keeps what became of a point.
    ///
    /// # Errors
    /// When its file cannot be written; what is there stays.
    pub fn keep(&self, number: usize, outcome: &PointOutcome) -> Result<(), RecordError> {
        match outcome {
            PointOutcome::Finished(bytes) => {
                write_one_of_many(&self.point_path(number), bytes)?;
                remove_file(&self.failed_path(number))
            }
            PointOutcome::Failed(bytes) => write_file(&self.failed_path(number), bytes),
            PointOutcome::Stopped => Ok(()),
        }
    }

    /// Runs every missing point, `jobs` at a time, then writes the summary of all that are there.
    ///
    /// `stop` ends it early and keeps what is finished; it is also set when a file cannot be
    /// written. `progress` receives the finished part of all points, a few times per second.
    ///
    /// # Errors
    /// When a file cannot be written. What is finished stays.
    pub fn run(&self, jobs: usize, stop: &AtomicBool, progress: &mut dyn FnMut(f64)) -> Result<(SweepEnd, Headline), SweepError> {
        let missing = self.missing();
        let points = self.plan.point_count();
        let found = points - missing.len();
        let (mut finished, mut failed, mut trouble) = (found, 0, None);
        let next = AtomicUsize::new(0);
        // Bounded, so that workers wait when the disk is slower than they are.
        let (sender, receiver) = mpsc::sync_channel(4 * jobs.max(1));
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, missing.len().max(1)) {
                let (sender, missing, next) = (sender.clone(), &missing, &next);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let Some(&number) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        if sender.send((number, run_point(&self.plan, &self.sha256, number, stop))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            loop {
                match receiver.recv_timeout(Duration::from_millis(100)) {
                    Ok((number, outcome)) => {
                        if let Err(error) = self.keep(number, &outcome) {
                            stop.store(true, Ordering::Relaxed);
                            trouble.get_or_insert(error);
                            continue;
                        }
                        finished += usize::from(matches!(outcome, PointOutcome::Finished(_)));
                        failed += usize::from(matches!(outcome, PointOutcome::Failed(_)));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                progress((finished + failed) as f64 / points.max(1) as f64);
            }
        });
        if let Some(error) = trouble {
            return Err(error.into());
        }
        let headline = self.summarize()?;
        Ok((SweepEnd { points, found, finished, failed }, headline))
    }

    /// Writes `summary.json` from the points that are there. Memory does not grow with them, but
    /// for eight bytes per run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn summarize(&self) -> Result<Headline, SweepError> {
        let path = self.folder.path().join("summary.json");
        let temporary = temporary_name(&path);
        let written = self.write_summary(&temporary).and_then(|headline| fs::rename(&temporary, &path).map(|()| headline));
        written.map_err(|source| {
            // The first error is the one to report; the file may not even exist.
            let _ = fs::remove_file(&temporary);
            SweepError::Record(RecordError::Write { path, source })
        })
    }

    fn write_summary(&self, path: &Path) -> io::Result<Headline> {
        let mut out = BufWriter::new(File::create_new(path)?);
        let headline =
            write_summary(&self.plan, &mut |number| columns::read(&self.point_path(number), &self.sha256, number), &mut out)?;
        out.flush()?;
        out.get_ref().sync_all()?;
        Ok(headline)
    }
}

/// Writes the summary of the points that `read` gives, which is asked twice for each, and the
/// answer in words, which is returned, for no more than 1000 of them. Memory does not
/// grow with more, but for eight bytes per run.
///
/// # Errors
/// When `out` takes no more.
pub fn write_summary(plan: &Plan, read: &mut dyn FnMut(usize) -> Option<PointFile>, out: &mut dyn Write) -> io::Result<Headline> {
    let mut fingerprints = Vec::new();
    let mut there = 0;
    let is_judged = plan.point_count() <= MAX_JUDGED;
    let mut points: Vec<(Point, PointResult)> = Vec::new();
    for number in 0..plan.point_count() {
        let Some(file) = read(number) else { continue };
        there += 1;
        if let (true, Ok(point)) = (is_judged, plan.point(number)) {
            points.push((point, PointResult { runs: file.runs()?, ..PointResult::default() }));
        }
        fingerprints.extend(file.fingerprints);
    }
    let (points, results): (Vec<Point>, Vec<PointResult>) = points.into_iter().unzip();
    let headline = match is_judged {
        true => Headline::of(&points, &results, &Labels::of_points(&points), &Criteria::default()),
        false => Headline { text: format!("More than {MAX_JUDGED} points are not compared."), ..Headline::default() },
    };
    let Summary { schema, scenario, host, seed, replications, provenance, .. } =
        RunReport { fingerprints, ..RunReport::begun(Simulator.name()) }.summary(plan);
    let points = Points { count: plan.point_count(), read: RefCell::new(read) };
    let (complete, headline) = (there == plan.point_count(), Some(headline));
    let summary = Summary { schema, scenario, host, seed, replications, complete, headline, provenance, points };
    serde_json::to_writer_pretty(&mut *out, &summary)?;
    out.write_all(b"\n")?;
    Ok(summary.headline.unwrap_or_default())
}

/// The points of a sweep as a list, read one by one while it is written.
struct Points<'a> {
    count: usize,
    read: RefCell<&'a mut dyn FnMut(usize) -> Option<PointFile>>,
}

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut points = serializer.serialize_seq(None)?;
        let mut read = self.read.borrow_mut();
        for file in (0..self.count).filter_map(&mut **read) {
            points.serialize_element(&read_point(&file.summary).map_err(S::Error::custom)?)?;
        }
        points.end()
    }
}

/// Why `ours` cannot resume in a place whose `sweep.json` is `theirs`.
#[must_use]
pub fn differs(path: PathBuf, theirs: &str, ours: &str) -> SweepError {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (theirs, ours) = (read(theirs), read(ours));
    if !theirs.is_object() {
        return SweepError::Unreadable { path, message: "it is not what a sweep writes".to_owned() };
    }
    let keys = ["schema", "scenario", "version", "commit", "seed", "replications", "points", "scenario_sha256", "swept", "set"];
    let what = keys.into_iter().find(|key| theirs[key] != ours[key]).unwrap_or("text");
    SweepError::Other { path, what, theirs: theirs[what].to_string(), ours: ours[what].to_string() }
}

/// Refuses a folder with files that only a result of a run in one go has, or with a file of this
/// sweep that has other content.
fn refuse_others(folder: &Path, scenario_text: &str) -> Result<(), SweepError> {
    let of_others = ["summary.json", "run.json", "report.html", "series.parquet", "packets.parquet", "points", "failed"];
    let foreign = |what: &str| SweepError::Foreign { path: folder.to_owned(), what: what.to_owned() };
    if let Some(name) = of_others.into_iter().find(|name| folder.join(name).exists()) {
        return Err(foreign(name));
    }
    match fs::read_to_string(folder.join("scenario.toml")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(text) if text == scenario_text => Ok(()),
        _ => Err(foreign("scenario.toml")),
    }
}

/// Refuses files in `points` that are not of this sweep, so that a reader of all files there reads
/// no others.
fn refuse_surplus(points: &Path, count: usize) -> Result<(), SweepError> {
    let unusable = |source| RecordError::Unusable { path: points.to_owned(), source };
    for entry in fs::read_dir(points).map_err(unusable)? {
        let path = entry.map_err(unusable)?.path();
        if path.extension().is_none_or(|ending| ending != "parquet") {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_ours = stem.parse::<usize>().is_ok_and(|number| number < count && file_stem(number) == stem);
        if !is_ours {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(SweepError::Foreign { path: points.to_owned(), what: name });
        }
    }
    Ok(())
}

/// Removes what a sweep that was killed left half written.
fn remove_unfinished(folder: &Path) -> Result<(), RecordError> {
    let unusable = |source| RecordError::Unusable { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(unusable)? {
        let path = entry.map_err(unusable)?.path();
        if path.extension().is_some_and(|ending| ending == "tmp") {
            remove_file(&path)?;
        }
    }
    Ok(())
}
