//! Running a plan: without the interpreter's lock, told to stop by its signals.

use crate::error::{scenario_error, with_faults};
use crate::plan::Plan;
use crate::report::{Kept, Report};
use goodqueue_lab::plan::Point;
use goodqueue_lab::quantity;
use goodqueue_lab::runner::{self, Recorded, RunOptions};
use goodqueue_units::Duration;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as WallDuration, Instant};

/// Between two looks at the interpreter's signals and calls of `progress`.
const LOOK_EVERY: WallDuration = WallDuration::from_millis(50);
/// A record of more samples would not fit in memory.
const MOST_SAMPLES: u64 = 1_000_000;

/// Runs all points and replications. `progress` is called with the finished part, in [0, 1].
#[pyfunction]
#[pyo3(signature = (plan, *, jobs, record, sample, packets, progress))]
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    jobs: usize,
    record: &str,
    sample: Option<&str>,
    packets: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
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
    let stop = AtomicBool::new(false);
    let mut watch = Watch::new(&stop, progress);
    let mut kept = Kept::default();
    let mut look = |part| {
        if plan.trouble.is_there() {
            stop.store(true, Ordering::Relaxed);
        }
        watch.look(part);
    };
    let report = py.detach(|| {
        if plan.has_own {
            runner::run_within(&points, &options, &stop, &mut look, &mut kept, known_to_python)
        } else {
            runner::run(&points, &options, &stop, &mut look, &mut kept)
        }
    });
    plan.trouble.raise()?;
    watch.finish()?;
    Ok(py.detach(|| Report::new(&plan.plan, points, report, kept)))
}

/// Does the work on a thread that the interpreter keeps its books of meanwhile: they would be made and thrown away for each packet.
fn known_to_python(work: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| py.detach(work));
}

/// Looks at the interpreter now and then while work goes on without it: tells of progress, and sets the flag that stops the work when a
/// signal or `progress` raised an exception.
pub struct Watch<'a> {
    stop: &'a AtomicBool,
    progress: Option<Py<PyAny>>,
    last: Instant,
    trouble: Option<PyErr>,
}

impl<'a> Watch<'a> {
    /// Tells `progress`, stops by `stop`.
    pub fn new(stop: &'a AtomicBool, progress: Option<Py<PyAny>>) -> Self {
        Self { stop, progress, last: now(), trouble: None }
    }

    /// So much is finished, in [0, 1].
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

    /// The exception, if there was one.
    pub fn finish(self) -> PyResult<()> {
        self.trouble.map_or(Ok(()), Err)
    }
}

#[allow(clippy::disallowed_methods, reason = "says when to look at the interpreter; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

/// A wrong argument of the function `run`.
fn refuse(py: Python<'_>, argument: &str, message: &str) -> PyErr {
    let fault = ("run()".to_owned(), None, None, argument.to_owned(), message.to_owned(), None);
    with_faults(py, &format!("run(): {argument}: {message}"), vec![fault])
}

/// Time between two samples, checked against the longest run.
fn sampling(py: Python<'_>, points: &[Point], text: &str) -> PyResult<Duration> {
    let period = quantity::duration(text).map_err(|error| {
        let help = error.help.map_or_else(String::new, |help| format!("; {help}"));
        refuse(py, "sample", &format!("{}{help}", error.message))
    })?;
    let span = points.iter().map(|point| point.plan.warmup + point.plan.duration).max().unwrap_or_default();
    let least = Duration::ns(span.as_nanos().div_ceil(MOST_SAMPLES).max(1));
    if period < least || period > span {
        let message = format!("`{text}` is out of range: allowed {least} to {span} for this scenario");
        return Err(refuse(py, "sample", &message));
    }
    Ok(period)
}
