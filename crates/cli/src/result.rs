//! What `run` and `compare` have in common: run a plan, write its folder, print its table.

mod files;
mod place;
mod tables;

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{print, say};
use crate::progress::Progress;
use crate::settings::RunSettings;
use files::Files;
use goodqueue_lab::compare::{Labels, meaning};
use goodqueue_lab::lint;
use goodqueue_lab::plan::{Plan, Point};
use goodqueue_lab::record::{check_target, write_file};
use goodqueue_lab::runner::{self, RunOptions, RunReport};
use goodqueue_lab::summary::Summary;
use goodqueue_units::Duration;
#[cfg(target_os = "linux")]
pub use place::{file_name, without};
use std::collections::BTreeMap;

/// A plan to be run, and the text of its scenario for the folder.
pub struct Job<'a> {
    /// What to run.
    pub plan: &'a Plan,
    /// The scenario as it was given or made.
    pub scenario_text: &'a str,
    /// `KEY=VALUE`s on top of it.
    pub overrides: &'a [(String, String)],
    /// What the folder of results is called where no other is asked for.
    pub folder: &'a str,
    /// How, and where to.
    pub settings: &'a RunSettings,
    /// Where it runs.
    pub host: Host,
}

/// Where scenarios run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The simulator.
    Sim,
    /// Guest kernels in virtual time.
    Linux,
    /// Kernel senders in networks of their own.
    Live,
}

impl Host {
    /// Its name in results.
    const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Linux => "linux",
            Self::Live => "live",
        }
    }

    /// Can all points run there?
    pub fn accepts(self, points: &[Point]) -> Result<(), Failure> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux => crate::linux::check(points).map(drop),
            #[cfg(target_os = "linux")]
            Self::Live => points
                .iter()
                .try_for_each(crate::live::host::check)
                .map_err(|refusal| Failure::Input(format!("--on live: {refusal}"))),
            _ => {
                // The simulator runs all that can be written.
                let _ = points;
                Ok(())
            }
        }
    }

    /// What the kernel of its guests was made from; empty where there is none.
    fn guest_kernel(self) -> BTreeMap<String, String> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux => crate::linux::kernel_notes(),
            _ => BTreeMap::new(),
        }
    }

    /// Gets ready to run these points there.
    fn prepare(self, points: &[Point], settings: &RunSettings) -> Result<(), Failure> {
        if self != Self::Live {
            return self.accepts(points);
        }
        if settings.packets {
            let instead = "gq bridge --record keeps every event of a queue";
            return Err(Failure::Input(format!("--on live: --packets is for the simulator; {instead}")));
        }
        for point in points {
            if settings.sample_every(&point.plan)?.is_some_and(|every| every < Duration::ms(1)) {
                return Err(Failure::Input("--on live: --sample is out of range: allowed from 1 ms".to_owned()));
            }
        }
        self.accepts(points)?;
        #[cfg(target_os = "linux")]
        crate::live::host::prepare().map_err(Failure::Run)?;
        Ok(())
    }
}

/// Series and distributions are kept in memory for the report of so many points.
const MOST_DRAWN: usize = 24;
/// A page with more points could not be read.
const MOST_REPORTED: usize = 500;

/// Everything a result is written and printed from.
pub struct Finished<'a> {
    job: &'a Job<'a>,
    points: &'a [Point],
    report: &'a RunReport,
    summary: &'a Summary,
    labels: Labels,
    main_link: &'a str,
    sentence: String,
    warnings: Vec<String>,
    wall_s: f64,
    validity: Option<serde_json::Value>,
}

/// What was run, and how far each run can be trusted where that is a question.
struct Carried {
    report: RunReport,
    validity: Option<serde_json::Value>,
}

/// Runs all of it.
pub fn produce(job: &Job<'_>) -> Result<(), Failure> {
    let points = job.plan.points()?;
    let options = options(job, &points)?;
    if let Some(path) = job.settings.json.as_ref().filter(|_| !job.settings.json_to_stdout()) {
        check_target(path).map_err(|error| Failure::Input(format!("--json {error}")))?;
    }
    job.host.prepare(&points, job.settings)?;
    let mut warnings = warnings(&points);
    for warning in &warnings {
        say(&format!("warning: {warning}"));
    }
    let mut files = Files::create(job)?;
    let stop = interrupt::stop_flag();
    let bar = Progress::new(points.len() * options.replications as usize);
    let Carried { report, validity } = carry_out(job, &points, &options, &stop, &bar, &mut files);
    let wall_s = bar.finish();
    if !report.complete {
        warnings.push(missing_runs(&report, points.len() * options.replications as usize));
    }

    let summary = Summary { host: job.host.name(), ..Summary::of(job.plan, &report) };
    let sets: Vec<&[(String, serde_json::Value)]> = points.iter().map(|point| point.set.as_slice()).collect();
    let labels = Labels::new(&sets, job.plan.name());
    let main_link = points.first().map_or("", |point| point.plan.main_link().name.as_str());
    let sentence = meaning(&report.points, &labels, main_link);
    let finished = Finished {
        job,
        points: &points,
        report: &report,
        summary: &summary,
        labels,
        main_link,
        sentence,
        warnings,
        wall_s,
        validity,
    };

    // The table first: whatever happens to the files, nothing finished is lost.
    let printed = show(&finished);
    let written = files.finish(&finished);
    if let (Ok(()), Ok(path), false) = (&printed, &written, job.settings.json_to_stdout()) {
        say(&format!("results in {}", path.display()));
    }
    written?;
    printed?;
    verdict(&report, points.len() * options.replications as usize)
}

fn carry_out(
    job: &Job<'_>,
    points: &[Point],
    options: &RunOptions,
    stop: &std::sync::atomic::AtomicBool,
    bar: &Progress,
    files: &mut Files,
) -> Carried {
    let progress = &mut |part| bar.set(part);
    let report = match job.host {
        #[cfg(target_os = "linux")]
        Host::Live => {
            let (report, runs) = crate::live::host::run(
                points,
                options,
                crate::live::validity::Voids::default(),
                stop,
                progress,
                files.recorder(),
                &say,
            );
            return Carried { report, validity: Some(serde_json::json!(runs)) };
        }
        #[cfg(target_os = "linux")]
        Host::Linux => crate::linux::run(points, options, stop, progress, files.recorder()),
        _ => runner::run(points, options, stop, progress, files.recorder()),
    };
    Carried { report, validity: None }
}

fn options(job: &Job<'_>, points: &[Point]) -> Result<RunOptions, Failure> {
    let settings = job.settings;
    let mut sample_every = None;
    for point in points {
        sample_every = settings.sample_every(&point.plan)?;
    }
    Ok(RunOptions {
        jobs: settings.jobs(),
        replications: job.plan.replications(),
        recorded: settings.recorded()?,
        sample_every,
        packets: settings.packets,
        drawn_points: if settings.no_report { 0 } else { MOST_DRAWN },
    })
}

/// What lint says, each thing once, with the number of points where it is not true of all.
pub fn warnings(points: &[Point]) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for point in points {
        for warning in lint::warnings(point) {
            let text = warning.to_string();
            match found.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => found.push((text, 1)),
            }
        }
    }
    let all = points.len();
    let line = |(text, count)| if count == all { text } else { format!("{text} (at {count} of {all} points)") };
    found.into_iter().map(line).collect()
}

/// The table or the JSON on standard output, and the JSON file.
fn show(finished: &Finished<'_>) -> Result<(), Failure> {
    let settings = finished.job.settings;
    if settings.json_to_stdout() {
        return Ok(print(&finished.summary.to_json())?);
    }
    let printed = print(&tables::text(finished, crate::output::width()));
    if let Some(path) = &settings.json {
        write_file(path, finished.summary.to_json().as_bytes())?;
    }
    Ok(printed?)
}

/// What the report page says of a result that lacks runs.
fn missing_runs(report: &RunReport, total: usize) -> String {
    format!("This result is incomplete: {} of {total} runs finished.", report.fingerprints.len())
}

/// Did everything run?
fn verdict(report: &RunReport, total: usize) -> Result<(), Failure> {
    let finished = report.fingerprints.len();
    match report.failures.as_slice() {
        [] if report.complete => Ok(()),
        [] => Err(Failure::Run(format!("interrupted: {finished} of {total} runs finished; the result is marked incomplete"))),
        [only] => Err(Failure::Run(format!("1 of {total} runs failed: {only}"))),
        [first, ..] => Err(Failure::Run(format!("{} of {total} runs failed; the first: {first}", report.failures.len()))),
    }
}
