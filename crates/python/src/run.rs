//! Runs a plan without the interpreter's lock; signals of the interpreter stop it.

use crate::error::{argument_error, host_error, scenario_error, with_faults};
use crate::in_memory_recorder::InMemoryRecorder;
use crate::plan::Plan;
use crate::report::Report;
use goodqueue_base::units::Duration;
use goodqueue_guests::backends::{BackendName, ProcessOwner, Settings, VoidRunPolicy};
use goodqueue_lab::quantity::{self, Limits};
use goodqueue_lab::run::backend::{Backend, BackendFailure, HostRun, Packets, Refusal, Samples, Task};
use goodqueue_lab::run::runner::{self, Recorded, RunOptions, label, shortest_sampling_period};
use goodqueue_lab::scenario::plan::Point;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as WallDuration, Instant};

/// Time between two checks of the interpreter's signals and calls of `progress`.
const LOOK_EVERY: WallDuration = WallDuration::from_millis(50);

/// Runs all points and replications on a host. `itself` is the command that starts `gq`.
/// `progress` is called with the finished share, in [0, 1].
#[pyfunction]
#[pyo3(signature = (plan, *, on, itself, jobs, record, sample, packets, progress))]
#[allow(clippy::too_many_arguments, reason = "one for each argument of Python's function")]
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    on: &str,
    itself: Vec<OsString>,
    jobs: usize,
    record: &str,
    sample: Option<&str>,
    packets: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let name = BackendName::read(on).map_err(|why| refuse(py, "on", &format!("`{on}`: {why}")))?;
    let points = py.detach(|| plan.plan.points()).map_err(|error| scenario_error(py, &error))?;
    let recorded = match record {
        "nothing" if packets => return Err(refuse(py, "packets", "records the runs that record names, which is nothing")),
        "nothing" => Recorded::Nothing,
        "first" => Recorded::First,
        "all" => Recorded::All,
        other => return Err(refuse(py, "record", &format!("`{other}` is not known: allowed nothing, first, all"))),
    };
    let sample_every = sample.map(|text| sampling(py, &points, text)).transpose()?;
    let options = RunOptions {
        jobs: jobs.max(1),
        replications: plan.plan.replications(),
        recorded,
        sample_every,
        packets,
        drawn_points: points.len(),
    };
    let host = open(py, name, itself, plan.has_own)?;
    check(py, &*host, &points, &options)?;
    let stop = AtomicBool::new(false);
    let mut watch = Watch::new(&stop, progress);
    let mut kept = InMemoryRecorder::default();
    let mut look = |part| {
        if plan.trouble.is_there() {
            stop.store(true, Ordering::Relaxed);
        }
        watch.look(part);
    };
    let report = py.detach(|| runner::run_on(&*host, &points, &options, &stop, &mut look, &mut kept));
    plan.trouble.raise()?;
    watch.finish()?;
    Ok(py.detach(|| Report::new(&plan.plan, points, report, kept)))
}

/// The host of this name, in a process that belongs to the interpreter.
fn open(py: Python<'_>, name: BackendName, itself: Vec<OsString>, has_own: bool) -> PyResult<Box<dyn Backend + Send>> {
    let settings = Settings { itself, process: ProcessOwner::Foreign, voids: VoidRunPolicy::default(), say: |_| {} };
    let host = name.open(&settings).map_err(|unavailable| host_error(py, &format!("run(): on: {unavailable}")))?;
    Ok(if has_own { Box::new(Attached(host)) } else { host })
}

/// Refuses what the host cannot run or record, then gets it ready.
fn check(py: Python<'_>, host: &dyn Backend, points: &[Point], options: &RunOptions) -> PyResult<()> {
    let name = host.name();
    let refused = |Refusal { key, why }: Refusal, place: &str| {
        let text = format!("run(): on: {name}: {key}: {why}{place}");
        with_faults(py, &text, vec![("run()".to_owned(), None, None, key, format!("on {name}: {why}{place}"), None)])
    };
    host.check_recording(options.samples(0), options.packets(0)).map_err(|refusal| refused(refusal, ""))?;
    for point in points {
        let place = if point.set.is_empty() { String::new() } else { format!(" (at {})", label(&point.set)) };
        host.check(point).map_err(|refusal| refused(refusal, &place))?;
    }
    py.detach(|| host.prepare()).map_err(|why| host_error(py, &format!("run(): on: {name}: {why}")))
}

/// A host whose threads are attached to the interpreter for their whole duration; otherwise the
/// thread state would be created and destroyed for each packet of an algorithm in Python.
struct Attached(Box<dyn Backend + Send>);

impl Backend for Attached {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        self.0.check(point)
    }

    fn check_recording(&self, samples: Samples, packets: Packets) -> Result<(), Refusal> {
        self.0.check_recording(samples, packets)
    }

    fn prepare(&self) -> Result<(), BackendFailure> {
        self.0.prepare()
    }

    fn jobs(&self, wanted: usize) -> usize {
        self.0.jobs(wanted)
    }

    fn is_reproducible(&self) -> bool {
        self.0.is_reproducible()
    }

    fn notes(&self) -> BTreeMap<String, String> {
        self.0.notes()
    }

    fn on_thread(&self, work: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| py.detach(|| self.0.on_thread(work)));
    }

    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        self.0.run(task, progress)
    }
}

/// Attaches to the interpreter at intervals while work runs without it: reports progress, and sets
/// the flag that stops the work when a signal or `progress` raised an exception.
pub struct Watch<'a> {
    stop: &'a AtomicBool,
    progress: Option<Py<PyAny>>,
    last: Instant,
    trouble: Option<PyErr>,
}

impl<'a> Watch<'a> {
    /// Creates a watch that reports to `progress` and sets `stop`.
    pub fn new(stop: &'a AtomicBool, progress: Option<Py<PyAny>>) -> Self {
        Self { stop, progress, last: now(), trouble: None }
    }

    /// Reports the finished share, in [0, 1].
    pub fn look(&mut self, part: f64) {
        if self.trouble.is_some() || (now().duration_since(self.last) < LOOK_EVERY && part < 1.0) {
            return;
        }
        self.last = now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (part,)).map(drop))
        });
        if let Err(error) = told {
            self.stop.store(true, Ordering::Relaxed);
            self.trouble = Some(error);
        }
    }

    /// Returns the exception, if there was one.
    pub fn finish(self) -> PyResult<()> {
        self.trouble.map_or(Ok(()), Err)
    }
}

#[allow(clippy::disallowed_methods, reason = "times the checks of the interpreter; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

/// Error for an invalid argument of the function `run`.
fn refuse(py: Python<'_>, argument: &str, message: &str) -> PyErr {
    argument_error(py, "run()", argument, message)
}

/// Time between two samples, checked against the longest run.
fn sampling(py: Python<'_>, points: &[Point], text: &str) -> PyResult<Duration> {
    let span = points.iter().map(|point| point.plan.warmup + point.plan.duration).max().unwrap_or_default();
    let least = points.iter().map(|point| shortest_sampling_period(&point.plan)).max().unwrap_or_default();
    quantity::duration_within(text, Limits::new(least, span)).map_err(|error| refuse(py, "sample", &error.to_string()))
}
