//! Running what is not stored: all points of all experiments times their replications, the longest
//! first, on several processors.

use crate::gallery::error::GalleryError;
use crate::gallery::experiment::Experiment;
use crate::gallery::samples::{Measured, PointData, TimedRun};
use crate::gallery::store::Store;
use cpu_time::ThreadTime;
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::run::runner;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;

/// The progress of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// Finished part of the work that was not stored, in [0, 1], by an estimate of what each run
    /// takes.
    pub part: f64,
    /// Finished points of this call.
    pub finished: usize,
    /// Points to be run in this call.
    pub to_run: usize,
}

/// The outcome of running experiments.
#[derive(Debug)]
pub struct RunEnd {
    /// The experiments with their points.
    pub measured: Vec<Measured>,
    /// Points that were stored before.
    pub reused: usize,
    /// Points run now.
    pub run: usize,
    /// Every run finished.
    pub complete: bool,
}

/// One point to be run.
struct Task {
    experiment: usize,
    point: usize,
    replications: u32,
    /// About what one run of it takes, in a unit of no meaning.
    weight: f64,
}

/// Runs every point that `store` does not have on `host`. `stop` ends it early: finished points are
/// kept.
///
/// # Errors
/// When a finished point cannot be stored; the others are.
pub fn run(
    experiments: Vec<Experiment>,
    host: &dyn Backend,
    store: &Store,
    jobs: usize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(RunProgress),
) -> Result<RunEnd, GalleryError> {
    let mut measured: Vec<Measured> = experiments.into_iter().map(|experiment| stored(experiment, store)).collect();
    let tasks = tasks(&measured);
    let reused = measured.iter().flat_map(|one| &one.points).flatten().count();
    let mut failure = None;
    let mut finished = Vec::new();
    work(host, &measured, &tasks, jobs, stop, progress, &mut |task, data| {
        let experiment = &measured[task.experiment].experiment;
        if let Err(error) = store.save(experiment, task.point, &data) {
            failure.get_or_insert(error);
        }
        finished.push((task.experiment, task.point, data));
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let run = finished.len();
    for (experiment, point, data) in finished {
        measured[experiment].points[point] = Some(data);
    }
    let complete = measured.iter().all(Measured::is_complete);
    Ok(RunEnd { measured, reused, run, complete })
}

fn stored(experiment: Experiment, store: &Store) -> Measured {
    let points = (0..experiment.points.len()).map(|point| store.load(&experiment, point)).collect();
    Measured { experiment, points }
}

/// Returns the points that are missing, the longest runs first, so that no processor is left alone
/// with one at the end.
fn tasks(measured: &[Measured]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (number, one) in measured.iter().enumerate() {
        let replications = one.experiment.plan.replications();
        for (point, data) in one.points.iter().enumerate() {
            if data.is_none() {
                tasks.push(Task { experiment: number, point, replications, weight: weight(&one.experiment, point) });
            }
        }
    }
    tasks.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    tasks
}

/// Returns the number of bytes that the main link can carry in a run: events, and so time, are
/// about in proportion to it.
fn weight(experiment: &Experiment, point: usize) -> f64 {
    let scenario = &experiment.points[point].plan;
    let rate = scenario.main_link().direction(goodqueue_lab::scenario::plan::Direction::Down).nominal_rate();
    rate.as_bytes_s_f64() * (scenario.warmup + scenario.duration).as_secs_f64()
}

/// The place of one run: task and replication.
type Place = (usize, u32);

fn work(
    host: &dyn Backend,
    measured: &[Measured],
    tasks: &[Task],
    jobs: usize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(RunProgress),
    finished: &mut dyn FnMut(&Task, PointData),
) {
    let places: Vec<Place> =
        tasks.iter().enumerate().flat_map(|(task, what)| (0..what.replications).map(move |number| (task, number))).collect();
    let total: f64 = places.iter().map(|(task, _)| tasks[*task].weight).sum();
    let workers = jobs.clamp(1, places.len().max(1));
    let shared =
        Shared { host, measured, tasks, places: &places, stop, next: AtomicUsize::new(0), under_way: under_way(workers) };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || shared.work(worker, &sender));
        }
        drop(sender);
        let mut collected: BTreeMap<usize, BTreeMap<u32, TimedRun>> = BTreeMap::new();
        let (mut done, mut points) = (0.0, 0);
        loop {
            match receiver.recv_timeout(std::time::Duration::from_millis(100)) {
                Ok(((task, replication), run)) => {
                    done += tasks[task].weight;
                    let runs = collected.entry(task).or_default();
                    runs.insert(replication, run);
                    if runs.len() == tasks[task].replications as usize {
                        points += 1;
                        let runs = collected.remove(&task).unwrap_or_default().into_values().collect();
                        let set = &measured[tasks[task].experiment].experiment.points[tasks[task].point].set;
                        finished(&tasks[task], PointData::of(set, runs));
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            let part = if total > 0.0 { (done + shared.weight_under_way()) / total } else { 1.0 };
            progress(RunProgress { part: part.min(1.0), finished: points, to_run: tasks.len() });
        }
    });
}

fn under_way(workers: usize) -> Vec<(AtomicUsize, AtomicU64)> {
    (0..workers).map(|_| (AtomicUsize::new(0), AtomicU64::new(0))).collect()
}

struct Shared<'a> {
    host: &'a dyn Backend,
    measured: &'a [Measured],
    tasks: &'a [Task],
    places: &'a [Place],
    stop: &'a AtomicBool,
    next: AtomicUsize,
    /// Each worker's task, and the finished part of its run in millionths.
    under_way: Vec<(AtomicUsize, AtomicU64)>,
}

impl Shared<'_> {
    fn work(&self, worker: usize, results: &mpsc::Sender<(Place, TimedRun)>) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(&(task, replication)) = self.places.get(self.next.fetch_add(1, Ordering::Relaxed)) else { break };
            let Task { experiment, point, .. } = self.tasks[task];
            let experiment = &self.measured[experiment].experiment;
            let (own_task, own_part) = &self.under_way[worker];
            own_task.store(task, Ordering::Relaxed);
            let begun = ThreadTime::now();
            let mut progress = |part: f64| own_part.store((part * 1e6) as u64, Ordering::Relaxed);
            let point = &experiment.points[point];
            let run = runner::run_single(self.host, point, replication, experiment.series, self.stop, &mut progress);
            own_part.store(0, Ordering::Relaxed);
            let Some(run) = run else { break };
            // The cause that set `stop` may be a fault within this run.
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let cpu_s = begun.elapsed().as_secs_f64();
            if results.send(((task, replication), TimedRun { run, cpu_s })).is_err() {
                break;
            }
        }
    }

    fn weight_under_way(&self) -> f64 {
        let part = |(task, part): &(AtomicUsize, AtomicU64)| {
            self.tasks.get(task.load(Ordering::Relaxed)).map_or(0.0, |task| task.weight)
                * part.load(Ordering::Relaxed) as f64
                * 1e-6
        };
        self.under_way.iter().map(part).sum()
    }
}
