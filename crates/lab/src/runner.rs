//! Points times replications, in parallel, with results that do not depend on how many workers there are.
//!
//! Worlds are independent and single-threaded, so a worker takes the next run in the order of points and replications, reduces
//! its outcome to figures, and hands them to one collector, which puts them back into that order.

use crate::build;
use crate::distributions::Distributions;
use crate::error::RunFailure;
use crate::metrics::{LinkFigures, RunFigures};
use crate::plan::{Heading, Point, Scenario};
use crate::record::{RecordedRun, Recorder};
use crate::report::Cdf;
use crate::summary::PointSummary;
use goodqueue_sim::{Continue, Outcome, Progress, Recording, Series, World, WorldSpec};
use goodqueue_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration as WallDuration;

/// Which runs are sampled and have their packets kept.
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
    /// Is this replication of a point among them?
    #[must_use]
    pub const fn includes(self, replication: u32) -> bool {
        match self {
            Self::Nothing => false,
            Self::First => replication == 0,
            Self::All => true,
        }
    }
}

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Runs at the same time, at least 1.
    pub jobs: usize,
    /// Independent repetitions of each point, at least 1.
    pub replications: u32,
    /// Which runs are recorded.
    pub recorded: Recorded,
    /// Time between two samples; `None` chooses one that gives about 2500 samples a run.
    pub sample_every: Option<Duration>,
    /// Keep packet events of recorded runs?
    pub packets: bool,
    /// Keep what a report draws: series of the first replication and distributions of sojourn times, for so many points.
    pub drawn_points: usize,
}

/// Called on each thread that runs worlds, with the work to do there.
pub type Within = fn(&mut (dyn FnMut() + Send));

/// Runs one world: what it measured, or why it could not.
pub type Simulate<'a> = dyn Fn(&WorldSpec, &mut dyn FnMut(Progress) -> Continue) -> Result<Outcome, String> + Sync + 'a;

/// In the simulator, all of it.
fn simulate(spec: &WorldSpec, progress: &mut dyn FnMut(Progress) -> Continue) -> Result<Outcome, String> {
    World::new(spec).map(|world| world.run(progress)).map_err(|error| error.to_string())
}

/// What running gave.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// One entry for each point, in order, also when none of its runs finished.
    pub points: Vec<PointResult>,
    /// Runs that failed, in order.
    pub failures: Vec<RunFailure>,
    /// Did every run finish?
    pub complete: bool,
    /// Fingerprints of finished runs, in order.
    pub fingerprints: Vec<u64>,
    /// Events of all finished runs.
    pub events: u64,
}

/// What one point gave.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// Its figures; `None` when no run finished.
    pub summary: Option<PointSummary>,
    /// Each finished replication, for comparisons replication by replication.
    pub runs: Vec<Replication>,
    /// Distributions of sojourn times over all replications, if kept.
    pub cdfs: Vec<Cdf>,
    /// Distributions of the round trips of probes, by group, over all replications, if kept.
    pub rtt_cdfs: Vec<Cdf>,
    /// Series of the first replication, if kept.
    pub series: Vec<Series>,
}

impl PointResult {
    /// Of one run of `point` that something else carried out, as its replication 0. `measured` is the length of its measured part.
    #[must_use]
    pub fn of_one_run(point: &Point, outcome: Outcome, measured: Duration) -> Self {
        let Finished { figures, series, times, .. } = Finished::of(outcome, measured, true);
        PointRuns { figures: vec![figures], replications: vec![0], times, series }.reduce(point)
    }
}

/// What is kept of one replication.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Its number, from zero.
    pub number: u32,
    /// Figures of its links.
    pub links: Vec<LinkFigures>,
    /// Data delivered once a second, all flows together.
    pub goodput_bit_s: f64,
}

/// Runs every replication of every point.
///
/// `stop` ends it early: runs under way stop at their next check and are given up, finished ones are kept. `progress` is told
/// the finished part of the work, in [0, 1], a few times a second.
pub fn run(
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
) -> RunReport {
    run_by(points, options, stop, progress, recorder, (|work| work(), &simulate))
}

/// As [`run`], for programs whose own algorithms need something of each thread that runs them: `within` is called on every such thread
/// with the work to do.
pub fn run_within(
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
    within: Within,
) -> RunReport {
    run_by(points, options, stop, progress, recorder, (within, &simulate))
}

/// As [`run`], with worlds run in another way.
pub fn run_with(
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
    simulate: &Simulate<'_>,
) -> RunReport {
    run_by(points, options, stop, progress, recorder, (|work| work(), simulate))
}

fn run_by(
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
    (within, simulate): (Within, &Simulate<'_>),
) -> RunReport {
    let total = points.len() * options.replications as usize;
    let workers = options.jobs.clamp(1, total.max(1));
    let shared = Shared {
        points,
        options,
        stop,
        simulate,
        next: AtomicUsize::new(0),
        total,
        under_way: (0..workers).map(|_| AtomicU64::new(0)).collect(),
    };
    let mut collector = Collector::new(points, options, recorder);
    // Bounded, so that workers wait when the disk is slower than they are.
    let (sender, receiver) = mpsc::sync_channel(2 * workers);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || within(&mut || shared.work(worker, &sender)));
        }
        drop(sender);
        let mut done = 0;
        loop {
            match receiver.recv_timeout(WallDuration::from_millis(100)) {
                Ok((number, result)) => {
                    done += 1;
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

/// Does the world of a point build? Figures of the plan are checked when it is read; this finds what only building can.
///
/// # Errors
/// The failure that every run of this point would have.
pub fn try_build(point: &Point) -> Result<(), RunFailure> {
    match World::new(&build::world(point, 0)) {
        Ok(_) => Ok(()),
        Err(error) => Err(RunFailure { place: label(&point.set), replication: 0, message: error.to_string() }),
    }
}

/// A name for a point: its swept values, or the scenario's name when nothing is swept.
#[must_use]
pub fn label(set: &[(String, serde_json::Value)]) -> String {
    if set.is_empty() {
        return "scenario".to_owned();
    }
    set.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect::<Vec<_>>().join(", ")
}

/// A value as a person writes it.
#[must_use]
pub fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The shortest time between two samples of a run: a million samples, and fewer where each has many
/// values, which are kept in memory until the run has ended.
#[must_use]
pub fn shortest_sampling_period(plan: &Scenario) -> Duration {
    /// Flows and gauges that are sampled, and what is sampled of each.
    const MOST_FLOWS: u64 = 64;
    const OF_A_FLOW: u64 = 4;
    const OF_A_LINK: u64 = 12;
    const MOST_SAMPLES: u64 = 1_000_000;
    const MOST_VALUES: u64 = 32_000_000;
    let flows: u64 = plan.traffic.iter().map(|group| u64::from(group.flows) * group.parts().count() as u64).sum();
    let queues = plan.links.iter().flat_map(|link| [Heading::Down, Heading::Up].map(|heading| link.direction(heading)));
    let queues = queues.filter(|direction| direction.queue.is_some()).count() as u64;
    let values = flows.min(MOST_FLOWS) * OF_A_FLOW + queues * OF_A_LINK;
    let most = MOST_SAMPLES.min(MOST_VALUES / values.max(1)).max(1);
    Duration::ns((plan.warmup + plan.duration).as_nanos().div_ceil(most).max(1))
}

/// The time between samples that gives about 2500 of them, a whole number of milliseconds.
#[must_use]
pub fn sampling_period(span: Duration) -> Duration {
    Duration::ms((span.as_nanos() / 1_000_000).div_ceil(2500).max(1))
}

/// What one run gave.
#[derive(Clone, Debug)]
pub struct SingleRun {
    /// Its figures.
    pub figures: RunFigures,
    /// Sampled values, if they were asked for.
    pub series: Vec<Series>,
}

/// One replication of a point, for callers that divide the work themselves; the same as [`run`] makes of it. `None` when `stop` ended
/// it. `sampled` asks for series, with this time between samples or one that gives about 2500 of them.
///
/// # Errors
/// What keeps its world from being built, or the message of a panic.
pub fn run_single(
    point: &Point,
    replication: u32,
    sampled: Option<Option<Duration>>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Option<Result<SingleRun, String>> {
    let mut spec = build::world(point, replication);
    if let Some(period) = sampled {
        let period = period.unwrap_or_else(|| sampling_period(spec.warmup + spec.duration));
        spec.recording = Recording { sample_every: Some(period), packets: false };
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| carry_out(&spec, &simulate, stop, progress)))
        .unwrap_or_else(|panic| Some(Err(panic_message(&*panic))))?;
    Some(outcome.map(|outcome| SingleRun { figures: RunFigures::of(&outcome, spec.duration), series: outcome.series }))
}

/// Runs a world to its end; `None` when it was stopped before.
fn carry_out(
    spec: &WorldSpec,
    simulate: &Simulate<'_>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Option<Result<Outcome, String>> {
    let outcome = simulate(spec, &mut |at: Progress| {
        progress(at.now.as_secs_f64() / at.end.since(Instant::ZERO).as_secs_f64());
        if stop.load(Ordering::Relaxed) { Continue::Stop } else { Continue::Yes }
    });
    match outcome {
        Ok(outcome) => outcome.complete.then_some(Ok(outcome)),
        Err(message) => Some(Err(message)),
    }
}

struct Shared<'a> {
    points: &'a [Point],
    options: &'a RunOptions,
    stop: &'a AtomicBool,
    simulate: &'a Simulate<'a>,
    next: AtomicUsize,
    total: usize,
    /// Finished part of each worker's run, in millionths.
    under_way: Vec<AtomicU64>,
}

enum RunResult {
    Finished(Box<Finished>),
    Failed(String),
}

struct Finished {
    figures: RunFigures,
    series: Vec<Series>,
    packets: Vec<goodqueue_trace::PacketEvent>,
    times: Distributions,
}

impl Shared<'_> {
    fn work(&self, worker: usize, results: &mpsc::SyncSender<(usize, RunResult)>) {
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.total {
                break;
            }
            // A panic in one world is a mistake in this program; it must not take the results of the other worlds with it.
            let result = catch_unwind(AssertUnwindSafe(|| self.run(worker, number)))
                .unwrap_or_else(|panic| Some(RunResult::Failed(panic_message(&*panic))));
            self.under_way[worker].store(0, Ordering::Relaxed);
            let Some(result) = result else { break };
            if results.send((number, result)).is_err() {
                break;
            }
        }
    }

    /// One run; `None` when it was stopped.
    fn run(&self, worker: usize, number: usize) -> Option<RunResult> {
        let replications = self.options.replications as usize;
        let (point, replication) = (number / replications, (number % replications) as u32);
        let mut spec = build::world(&self.points[point], replication);
        spec.recording = self.recording(spec.warmup + spec.duration, replication);
        let mut progress = |part: f64| self.under_way[worker].store((part * 1e6) as u64, Ordering::Relaxed);
        let outcome = match carry_out(&spec, self.simulate, self.stop, &mut progress)? {
            Ok(outcome) => outcome,
            Err(message) => return Some(RunResult::Failed(message)),
        };
        let drawn = point < self.options.drawn_points;
        Some(RunResult::Finished(Box::new(Finished::of(outcome, spec.duration, drawn))))
    }

    fn recording(&self, span: Duration, replication: u32) -> Recording {
        if !self.options.recorded.includes(replication) {
            return Recording::default();
        }
        let period = self.options.sample_every.unwrap_or_else(|| sampling_period(span));
        Recording { sample_every: Some(period), packets: self.options.packets }
    }

    fn parts_under_way(&self) -> f64 {
        self.under_way.iter().map(|part| part.load(Ordering::Relaxed) as f64 * 1e-6).sum()
    }
}

impl Finished {
    fn of(mut outcome: Outcome, duration: Duration, drawn: bool) -> Self {
        let figures = RunFigures::of(&outcome, duration);
        let (series, packets) = (std::mem::take(&mut outcome.series), std::mem::take(&mut outcome.packets));
        let times = if drawn { Distributions::of(outcome) } else { Distributions::default() };
        Self { figures, series, packets, times }
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

/// Results of the point being collected.
#[derive(Default)]
struct PointRuns {
    figures: Vec<RunFigures>,
    replications: Vec<u32>,
    times: Distributions,
    series: Vec<Series>,
}

impl<'a> Collector<'a> {
    fn new(points: &'a [Point], options: &'a RunOptions, recorder: &'a mut dyn Recorder) -> Self {
        let report = RunReport { points: Vec::new(), failures: Vec::new(), complete: true, fingerprints: Vec::new(), events: 0 };
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
        match result {
            Some(RunResult::Finished(finished)) => self.finished(point, replication, *finished),
            Some(RunResult::Failed(message)) => {
                let place = label(&self.points[point].set);
                self.report.failures.push(RunFailure { place, replication, message });
                self.report.complete = false;
            }
            None => self.report.complete = false,
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

impl PointRuns {
    fn reduce(self, point: &Point) -> PointResult {
        let [cdfs, rtt_cdfs] = self.times.cdfs();
        PointResult {
            summary: PointSummary::of(point.set.clone(), &self.figures),
            runs: self.replications.into_iter().zip(self.figures).map(Replication::of).collect(),
            cdfs,
            rtt_cdfs,
            series: self.series,
        }
    }
}

impl Replication {
    fn of((number, figures): (u32, RunFigures)) -> Self {
        let goodput_bit_s = figures.flows.iter().filter_map(|flow| flow.goodput_bit_s).sum();
        Self { number, links: figures.links, goodput_bit_s }
    }
}

#[cfg(test)]
mod tests;
