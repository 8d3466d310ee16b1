//! Steps that `run` and `compare` share: run a plan, write its folder, print its table.

mod files;
mod job;
mod place;
mod recorded;
pub mod tables;

use crate::failure::{Failure, check_file};
use crate::output::{print, print_text, say};
use crate::{backend, interrupt, progress};
use files::Files;
use goodqueue_lab::results::qlog::QlogFiles;
use goodqueue_lab::results::record::{Recorder, write_file};
use goodqueue_lab::run::backend::{Backend, Refusal};
use goodqueue_lab::run::plan_results::{MAX_DRAWN, Results};
use goodqueue_lab::run::runner::{self, RunOptions, RunReport};
use goodqueue_lab::scenario::lint;
use goodqueue_lab::scenario::plan::Point;
use goodqueue_lab::verdict::Criteria;
pub use job::{Finished, Job};
pub use place::RESULTS;
#[cfg(target_os = "linux")]
pub use place::{file_name, without};
pub use recorded::recorded_plan;

/// Runs all of it.
pub fn produce(job: &Job<'_>) -> Result<(), Failure> {
    let points = job.plan.points()?;
    let options = options(job, &points)?;
    let criteria = Criteria { policy: job.settings.policy()?, unit: job.settings.unit };
    let json = job.settings.json.as_deref().filter(|_| !job.settings.json_to_stdout());
    check_file("--json", json)?;
    prepare(job.host, &points, &options)?;
    // Before there are files, so that no interrupt leaves half of them.
    let stop = interrupt::stop_flag();
    let mut files = Files::create(job)?;
    for warning in lint::warnings_of_points(&points) {
        say(&format!("warning: {warning}"));
    }
    let runs = points.len() * options.replications as usize;
    let (ran, wall_s) = progress::during(runs, |progress| {
        let mut run = |recorder: &mut dyn Recorder| runner::run_on(job.host, &points, &options, &stop, progress, recorder);
        let Some(folder) = &job.settings.qlog else { return Ok((run(files.recorder()), None)) };
        let qlog = QlogFiles::new(folder, &points, files.recorder());
        let mut qlog = qlog.map_err(|error| Failure::Input(format!("--qlog {error}")))?.form(job.settings.qlog_form.into());
        Ok::<_, Failure>((run(&mut qlog), Some((qlog.finish(), folder))))
    });
    let (report, qlog) = ran?;
    let results = Results::new(job.plan, points, report, &criteria);
    let finished = Finished { job, jobs: options.jobs, json: results.summary.to_json(), results, wall_s };

    // The table first: whatever happens to the files, nothing finished is lost.
    let printed = show(&finished);
    let written = files.finish(&finished);
    if let (Ok(()), Ok(path), false) = (&printed, &written, job.settings.json_to_stdout()) {
        say(&format!("results in {}", path.display()));
    }
    let conclude = || match job.settings.json_to_stdout() {
        true => Ok(()),
        false => print_text(&tables::verdict(&finished, crate::output::width())),
    };
    if written.is_err() {
        conclude()?;
    }
    let folder = written?;
    printed?;
    if let Some((written, folder)) = qlog {
        say(&format!("{} qlog files in {}", written?, folder.display()));
    }
    let opening = &job.settings.opening;
    if opening.open || !job.settings.json_to_stdout() {
        opening.show(&folder);
    }
    conclude()?;
    verdict(&finished.results.report, runs, "; the result is marked incomplete")
}

/// Refuses what the host cannot run or record, then gets it ready.
fn prepare(host: &dyn Backend, points: &[Point], options: &RunOptions) -> Result<(), Failure> {
    let name = host.name();
    let refused = |refusal: Refusal| Failure::Input(format!("--on {name}: --{refusal}"));
    host.check_recording(options.samples(0), options.packets(0)).map_err(refused)?;
    backend::check("--on", host, points)?;
    host.prepare().map_err(|why| Failure::Run(format!("--on {name}: {why}")))
}

fn options(job: &Job<'_>, points: &[Point]) -> Result<RunOptions, Failure> {
    let settings = job.settings;
    let mut sample_every = None;
    for point in points {
        sample_every = settings.sample_every(&point.plan)?;
    }
    let replications = job.plan.replications();
    Ok(RunOptions {
        // A single run need not ask what the machine has.
        jobs: if points.len() as u64 * u64::from(replications) == 1 { 1 } else { settings.jobs.count() },
        replications,
        recorded: settings.recorded()?,
        sample_every,
        packets: settings.packets || settings.qlog.is_some(),
        drawn_points: if settings.no_report { 0 } else { MAX_DRAWN },
    })
}

/// The table or the JSON on standard output, and the JSON file.
fn show(finished: &Finished<'_>) -> Result<(), Failure> {
    let settings = finished.job.settings;
    if settings.json_to_stdout() {
        return Ok(print(&finished.json)?);
    }
    let printed = print_text(&tables::text(finished, crate::output::width()));
    if let Some(path) = &settings.json {
        write_file(path, finished.json.as_bytes())?;
    }
    Ok(printed?)
}

/// Fails unless every run finished. `note` follows the count of those that finished before an
/// interrupt.
pub fn verdict(report: &RunReport, total: usize, note: &str) -> Result<(), Failure> {
    let finished = report.fingerprints.len();
    match report.failures.as_slice() {
        [] if report.complete => Ok(()),
        [] => Err(Failure::Run(format!("interrupted: {finished} of {total} runs finished{note}"))),
        [only] => Err(Failure::Run(format!("1 of {total} runs failed: {only}"))),
        [first, ..] => Err(Failure::Run(format!("{} of {total} runs failed; the first: {first}", report.failures.len()))),
    }
}
