//! Points times replications, in parallel, with results that do not depend on how many workers
//! there are.
//!
//! Worlds are independent and single-threaded, so a worker takes the next run in the order of
//! points and replications, reduces its outcome to figures, and hands them to one collector, which
//! puts them back into that order.

pub use crate::results::labels::{label, shown};
pub use crate::results::runs::{PointResult, Replication, RunReport};

use crate::results::error::RunFailure;
use crate::results::metrics::RunFigures;
use crate::results::record::{RecordedRun, Recorder};
use crate::results::runs::{Finished, PointRuns};
use crate::results::validity::Validity;
use crate::run::backend::{Backend, BackendFailure, Ended, HostRun, Packets, Samples, Simulator, Task};
use crate::scenario::build;
use crate::scenario::plan::{Direction, Point, Scenario};
use goodqueue_base::units::Duration;
use goodqueue_sim::{Series, World};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration as WallDuration;

/// The runs that are sampled and have their packets kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// None.
    Nothing,
    /// Replication 0 of each point.
    #[default]
    First,
    /// All.
    All,
}

impl Recorded {
    /// Whether this replication of a point is among them.
    #[must_use]
    pub const fn includes(self, replication: u32) -> bool {
        match self {
            Self::Nothing => false,
            Self::First => replication == 0,
            Self::All => true,
        }
    }
}

/// Options for carrying out runs.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Runs at the same time, at least 1.
    pub jobs: usize,
    /// Independent repetitions of each point, at least 1.
    pub replications: u32,
    /// The runs that are recorded.
    pub recorded: Recorded,
    /// Time between two samples; `None` chooses one that gives about 2500 samples per run.
    pub sample_every: Option<Duration>,
    /// Whether packet events of recorded runs are kept.
    pub packets: bool,
    /// The number of points for which to keep what a report draws: series of the first replication
    /// and distributions of sojourn times.
    pub drawn_points: usize,
}

impl RunOptions {
    /// Runs of which only the figures are kept.
    #[must_use]
    pub const fn unrecorded(jobs: usize, replications: u32) -> Self {
        Self { jobs, replications, recorded: Recorded::Nothing, sample_every: None, packets: false, drawn_points: 0 }
    }

    /// The values over time that this replication of a point records.
    #[must_use]
    pub fn samples(&self, replication: u32) -> Samples {
        match self.sample_every {
            _ if !self.recorded.includes(replication) => Samples::Off,
            None => Samples::Usual,
            Some(period) => Samples::Every(period),
        }
    }

    /// Whether this replication of a point records packet events.
    #[must_use]
    pub fn packets(&self, replication: u32) -> Packets {
        if self.packets && self.recorded.includes(replication) { Packets::On } else { Packets::Off }
    }
}

/// Runs every replication of every point in the simulator, as [`run_on`] does.
pub fn run(
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
) -> RunReport {
    run_on(&Simulator, points, options, stop, progress, recorder)
}

/// Runs every replication of every point on `host`.
///
/// `stop` ends it early: runs under way stop at their next check and are given up, finished ones
/// are kept. `progress` receives the finished part of the work, in [0, 1], a few times per second.
pub fn run_on(
    host: &dyn Backend,
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
) -> RunReport {
    let total = points.len() * options.replications as usize;
    let workers = host.jobs(options.jobs).clamp(1, total.max(1));
    let shared = Shared {
        host,
        points,
        options,
        stop,
        next: AtomicUsize::new(0),
        total,
        under_way: (0..workers).map(|_| AtomicU64::new(0)).collect(),
    };
    let mut collector = Collector::new(host.name(), points, options, recorder);
    if total == 1 && host.shares_thread() {
        if !stop.load(Ordering::Relaxed) {
            collector.take(0, shared.run(0, progress));
        }
        progress(1.0);
        return collector.finish();
    }
    // Bounded, so that workers wait when the disk is slower than they are.
    let (sender, receiver) = mpsc::sync_channel(2 * workers);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || host.on_thread(&mut || shared.work(worker, &sender)));
        }
        drop(sender);
        let mut done = 0;
        loop {
            match receiver.recv_timeout(WallDuration::from_millis(100)) {
                Ok((number, result)) => {
                    done += u32::from(!matches!(result.end, RunEnd::Stopped));
                    collector.take(number, result);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress((f64::from(done) + shared.parts_under_way()) / total.max(1) as f64);
        }
    });
    collector.finish()
}

/// Builds the world of a point and discards it. The plan's figures are checked when it is read;
/// this finds what only building can.
///
/// # Errors
/// The failure that every run of this point would have.
pub fn try_build(point: &Point) -> Result<(), RunFailure> {
    // The others are like the first.
    match World::new(&build::separate_world(point, 0, 0)) {
        Ok(_) => Ok(()),
        Err(error) => Err(RunFailure { place: label(&point.set), replication: 0, message: error.to_string() }),
    }
}

/// The shortest time between two samples of a run: a million samples, and fewer where each has many
/// values, which are kept in memory until the run has ended.
#[must_use]
pub fn shortest_sampling_period(plan: &Scenario) -> Duration {
    /// Flows and gauges that are sampled, and what is sampled of each.
    const MAX_FLOWS: u64 = 64;
    const OF_A_FLOW: u64 = 4;
    const OF_A_LINK: u64 = 12;
    const MAX_SAMPLES: u64 = 1_000_000;
    const MAX_VALUES: u64 = 32_000_000;
    let flows: u64 = plan.traffic.iter().map(|group| u64::from(group.flows) * group.parts().count() as u64).sum();
    let queues = plan.links.iter().flat_map(|link| [Direction::Down, Direction::Up].map(|heading| link.direction(heading)));
    let queues = queues.filter(|direction| direction.queue.is_some()).count() as u64;
    let values = flows.min(MAX_FLOWS) * OF_A_FLOW + queues * OF_A_LINK;
    let most = MAX_SAMPLES.min(MAX_VALUES / values.max(1)).max(1);
    Duration::ns((plan.warmup + plan.duration).as_nanos().div_ceil(most).max(1))
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct SingleRun {
    /// The figures of the run.
    pub figures: RunFigures,
    /// Sampled values, if they were asked for.
    pub series: Vec<Series>,
}

/// One replication of a point on a host, for callers that divide the work themselves; the same as
/// [`run`] makes of it. `None` when `stop` ended it. `sampled` asks for series, with this time
/// between samples or one that gives about 2500 of them.
///
/// # Errors
/// What keeps its world from being built, or a mistake in this program.
pub fn run_single(
    host: &dyn Backend,
    point: &Point,
    replication: u32,
    sampled: Option<Option<Duration>>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Option<Result<SingleRun, BackendFailure>> {
    let samples = match sampled {
        None => Samples::Off,
        Some(None) => Samples::Usual,
        Some(Some(period)) => Samples::Every(period),
    };
    let task = Task { point, replication, samples, packets: Packets::Off, stop };
    match guarded(host, &task, progress).ended {
        Ended::Finished { outcome, measured } => {
            Some(Ok(SingleRun { figures: RunFigures::of(&outcome, measured, &point.plan.base_rtts()), series: outcome.series }))
        }
        Ended::Stopped => None,
        Ended::Failed(failure) => Some(Err(failure)),
    }
}

/// Carries out a run. A panic in one is a mistake in this program; it must not take the results of
/// the others with it.
fn guarded(host: &dyn Backend, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
    catch_unwind(AssertUnwindSafe(|| host.run(task, progress)))
        .unwrap_or_else(|panic| Ended::Failed(BackendFailure::Panic(panic_message(&*panic))).into())
}

struct Shared<'a> {
    host: &'a dyn Backend,
    points: &'a [Point],
    options: &'a RunOptions,
    stop: &'a AtomicBool,
    next: AtomicUsize,
    total: usize,
    /// Finished part of each worker's run, in millionths.
    under_way: Vec<AtomicU64>,
}

struct RunResult {
    end: RunEnd,
    attempts: Vec<Validity>,
}

enum RunEnd {
    Finished(Box<Finished>),
    Stopped,
    Failed(BackendFailure),
}

impl Shared<'_> {
    fn work(&self, worker: usize, results: &mpsc::SyncSender<(usize, RunResult)>) {
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.total {
                break;
            }
            let mut progress = |part: f64| self.under_way[worker].store((part * 1e6) as u64, Ordering::Relaxed);
            let result = self.run(number, &mut progress);
            self.under_way[worker].store(0, Ordering::Relaxed);
            if results.send((number, result)).is_err() {
                break;
            }
        }
    }

    fn run(&self, number: usize, progress: &mut dyn FnMut(f64)) -> RunResult {
        let replications = self.options.replications as usize;
        let (place, replication) = (number / replications, (number % replications) as u32);
        let task = Task {
            point: &self.points[place],
            replication,
            samples: self.options.samples(replication),
            packets: self.options.packets(replication),
            stop: self.stop,
        };
        let HostRun { ended, attempts } = guarded(self.host, &task, progress);
        let end = match ended {
            Ended::Finished { outcome, measured } => RunEnd::Finished(Box::new(Finished::of(
                &self.points[place],
                *outcome,
                measured,
                place < self.options.drawn_points,
            ))),
            Ended::Stopped => RunEnd::Stopped,
            Ended::Failed(failure) => RunEnd::Failed(failure),
        };
        RunResult { end, attempts }
    }

    fn parts_under_way(&self) -> f64 {
        self.under_way.iter().map(|part| part.load(Ordering::Relaxed) as f64 * 1e-6).sum()
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("internal error: {}", text.unwrap_or("unknown"))
}

/// Puts results into order and reduces each point's as soon as all of them are there.
struct Collector<'a> {
    points: &'a [Point],
    options: &'a RunOptions,
    recorder: &'a mut dyn Recorder,
    /// Results whose turn has not come.
    early: BTreeMap<usize, RunResult>,
    next: usize,
    current: PointRuns,
    report: RunReport,
}

impl<'a> Collector<'a> {
    fn new(host: &'static str, points: &'a [Point], options: &'a RunOptions, recorder: &'a mut dyn Recorder) -> Self {
        let report = RunReport::begun(host);
        Self { points, options, recorder, early: BTreeMap::new(), next: 0, current: PointRuns::default(), report }
    }

    fn take(&mut self, number: usize, result: RunResult) {
        self.early.insert(number, result);
        while let Some(result) = self.early.remove(&self.next) {
            self.in_order(Some(result));
        }
    }

    /// The result of run number `next`; `None` when there is none.
    fn in_order(&mut self, result: Option<RunResult>) {
        let replications = self.options.replications as usize;
        let (point, replication) = (self.next / replications, (self.next % replications) as u32);
        self.next += 1;
        let RunResult { end, attempts } = result.unwrap_or(RunResult { end: RunEnd::Stopped, attempts: Vec::new() });
        self.report.attempts.extend(attempts);
        match end {
            RunEnd::Finished(finished) => self.finished(point, replication, *finished),
            RunEnd::Failed(failure) => {
                let place = label(&self.points[point].set);
                self.report.failures.push(RunFailure { place, replication, message: failure.to_string() });
                self.report.complete = false;
            }
            RunEnd::Stopped => self.report.complete = false,
        }
        if self.next.is_multiple_of(replications) {
            let runs = std::mem::take(&mut self.current);
            self.report.points.push(runs.reduce(&self.points[point]));
        }
    }

    fn finished(&mut self, point: usize, replication: u32, run: Finished) {
        let links: Vec<String> = run.figures.links.iter().map(|link| link.name.clone()).collect();
        self.recorder.record(RecordedRun { point, replication, links: &links, series: &run.series, packets: &run.packets });
        self.report.fingerprints.push(run.figures.fingerprint);
        self.report.events += run.figures.events;
        let current = &mut self.current;
        if replication == 0 && point < self.options.drawn_points {
            current.series = run.series;
        }
        current.times.add(run.times);
        current.replications.push(replication);
        current.figures.push(run.figures);
    }

    fn finish(mut self) -> RunReport {
        let total = self.points.len() * self.options.replications as usize;
        while self.next < total {
            let result = self.early.remove(&self.next);
            self.in_order(result);
        }
        self.report
    }
}

#[cfg(test)]
mod tests;
