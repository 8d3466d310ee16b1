//! The folder of a result.

use super::{Finished, Job, MOST_REPORTED};
use crate::failure::Failure;
use crate::output::{command_line, say};
use goodqueue_lab::error::RecordError;
use goodqueue_lab::plan::Queue;
use goodqueue_lab::provenance::{COMMIT, VERSION};
use goodqueue_lab::record::{Folder, NoRecorder, Recorder, TableKinds, Tables};
use goodqueue_lab::report::{self, ReportInput, ReportPoint};
use goodqueue_lab::runner::Recorded;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Runs that took less than this are sooner carried out again than a disk has been waited for three times.
const SOON_S: f64 = 1.0;

/// The files of a result while it is made.
pub struct Files {
    folder: Folder,
    tables: Option<Tables>,
    nothing: NoRecorder,
    packets: bool,
}

/// What may differ between runs of the same thing.
#[derive(Serialize)]
struct RunFile<'a> {
    schema: &'static str,
    command_line: Vec<String>,
    set: Vec<[&'a str; 2]>,
    jobs: usize,
    wall_s: f64,
    events: u64,
    failures: Vec<String>,
    /// What the guest kernel was made from, where there was one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    guest_kernel: BTreeMap<String, String>,
    /// How far each attempt at a run in real time can be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    validity: Option<&'a serde_json::Value>,
}

impl Files {
    /// Makes the folder and begins the tables.
    pub fn create(job: &Job<'_>) -> Result<Self, Failure> {
        let settings = job.settings;
        let path = settings.out.clone().unwrap_or_else(|| Path::new("results").join(file_name(job.folder)));
        let folder = Folder::create(&path)?;
        let tables = if settings.recorded()? == Recorded::Nothing {
            None
        } else {
            let kinds = if settings.packets { TableKinds::SeriesAndPackets } else { TableKinds::Series };
            let facts = [
                ("scenario_sha256", job.plan.sha256()),
                ("seed", job.plan.seed().to_string()),
                ("version", VERSION.to_owned()),
                ("commit", COMMIT.to_owned()),
            ];
            Some(Tables::create(&folder, kinds, &facts)?)
        };
        Ok(Self { folder, tables, nothing: NoRecorder, packets: settings.packets })
    }

    /// What takes the runs' records.
    pub fn recorder(&mut self) -> &mut dyn Recorder {
        match &mut self.tables {
            Some(tables) => tables,
            None => &mut self.nothing,
        }
    }

    /// Where the result is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes everything. A file that fails does not keep the others from being written.
    pub fn finish(&mut self, finished: &Finished<'_>) -> Result<(), Failure> {
        let write = if finished.wall_s < SOON_S { Folder::write_in_passing } else { Folder::write };
        let put = |name, text: &str| write(&self.folder, name, text.as_bytes()).map(drop);
        let results = [
            put("summary.json", &finished.summary.to_json()),
            put("scenario.toml", finished.job.scenario_text),
            put("run.json", &run_file(finished)),
            self.finish_tables(),
            self.finish_report(finished),
        ];
        let errors: Vec<String> = results.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
        if errors.is_empty() { Ok(()) } else { Err(Failure::Run(errors.join("\nerror: "))) }
    }

    fn finish_tables(&mut self) -> Result<(), RecordError> {
        match self.tables.take() {
            Some(tables) => tables.finish()?,
            None => self.folder.remove("series.parquet")?,
        }
        if self.packets { Ok(()) } else { self.folder.remove("packets.parquet") }
    }

    fn finish_report(&self, finished: &Finished<'_>) -> Result<(), RecordError> {
        let reported = finished.summary.points.len();
        if finished.job.settings.no_report {
            return self.folder.remove("report.html");
        }
        if reported > MOST_REPORTED {
            say(&format!("no report.html: {reported} points are more than the {MOST_REPORTED} that a page shows"));
            return self.folder.remove("report.html");
        }
        let path = self.folder.path().join("report.html");
        write_report(&path, finished).map_err(|source| RecordError::Write { path, source })
    }
}

fn write_report(path: &Path, finished: &Finished<'_>) -> std::io::Result<()> {
    let summary = serde_json::to_value(finished.summary)?;
    let results = finished.report.points.iter().zip(finished.points).zip(&finished.labels.names);
    let points = results
        .filter(|((result, _), _)| result.summary.is_some())
        .map(|((result, point), label)| ReportPoint {
            label: label.clone(),
            kind: point.plan.main_link().down.queue.as_ref().map_or_else(String::new, Queue::name),
            cdfs: result.cdfs.clone(),
            rtt_cdfs: result.rtt_cdfs.clone(),
            series: &result.series,
        })
        .collect();
    let plan = finished.points.first().map(|point| &point.plan);
    let measured = plan.map(|plan| (plan.warmup.as_secs_f64(), (plan.warmup + plan.duration).as_secs_f64()));
    let command_line = command_line().join(" ");
    let input = ReportInput {
        title: finished.job.plan.name(),
        sentence: &finished.sentence,
        warnings: &finished.warnings,
        scenario_toml: finished.job.scenario_text,
        command_line: Some(&command_line),
        summary: &summary,
        provenance: &[],
        main_link: finished.main_link,
        measured_s: measured,
        points,
    };
    report::write(path, &input)
}

fn run_file(finished: &Finished<'_>) -> String {
    let file = RunFile {
        schema: "goodqueue.run/1",
        command_line: command_line(),
        set: finished.job.overrides.iter().map(|(key, value)| [key.as_str(), value.as_str()]).collect(),
        jobs: finished.job.settings.jobs(),
        wall_s: finished.wall_s,
        events: finished.report.events,
        failures: finished.report.failures.iter().map(ToString::to_string).collect(),
        guest_kernel: finished.job.host.guest_kernel(),
        validity: finished.validity.as_ref(),
    };
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

/// A scenario's name as the name of a folder.
pub fn file_name(name: &str) -> String {
    let mut file = String::new();
    for character in name.chars() {
        if character.is_alphanumeric() {
            file.extend(character.to_lowercase());
        } else if !file.is_empty() && !file.ends_with('-') {
            file.push('-');
        }
    }
    let file: String = file.trim_end_matches('-').chars().take(60).collect();
    if file.is_empty() { "scenario".to_owned() } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_folders_below_results() {
        assert_eq!(file_name("Home uplink, 10 Mbit/s"), "home-uplink-10-mbit-s");
        assert_eq!(file_name("../../etc"), "etc");
        assert_eq!(file_name("..."), "scenario");
    }
}
