//! Sweeps: one file per point; interrupted sweeps resume. Points can be run one by one, for
//! schedulers that distribute them.

use crate::error::{argument_error, sweep_error};
use crate::plan::Plan;
use crate::run::Watch;
use goodqueue_lab::run::sweep as lab;
use goodqueue_lab::run::sweep::{PointOutcome, Sweep};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Runs every missing point of a plan into a folder. Returns the numbers (points, found, finished,
/// failed).
#[pyfunction]
#[pyo3(signature = (plan, path, *, jobs, progress))]
pub fn sweep(
    py: Python<'_>,
    plan: &Plan,
    path: PathBuf,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, usize, usize, usize)> {
    refuse_own(py, plan)?;
    let stop = AtomicBool::new(false);
    let mut watch = Watch::new(&stop, progress);
    let ended = py.detach(|| {
        let sweep = Sweep::open(&plan.plan, plan.plan.source_text(), &path)?;
        sweep.run(jobs, &stop, &mut |part| watch.look(part))
    });
    watch.finish()?;
    let (end, _) = ended.map_err(|error| sweep_error(py, &error))?;
    Ok((end.points, end.found, end.finished, end.failed))
}

fn refuse_own(py: Python<'_>, plan: &Plan) -> PyResult<()> {
    if !plan.has_own {
        return Ok(());
    }
    let why = "a sweep's points may run anywhere and later, so it takes no algorithms of the program's own";
    Err(argument_error(py, "sweep()", "algorithms", why))
}

/// Contents of `sweep.json` for a plan.
#[pyfunction]
pub fn sweep_facts(py: Python<'_>, plan: &Plan) -> PyResult<String> {
    refuse_own(py, plan)?;
    Ok(lab::facts(&plan.plan))
}

/// The exception for a folder whose `sweep.json` does not match that of a plan.
#[pyfunction]
pub fn another_sweep(py: Python<'_>, plan: &Plan, place: &str, theirs: &str) -> Py<PyAny> {
    let error = lab::differs(Path::new(place).to_owned(), theirs, &lab::facts(&plan.plan));
    sweep_error(py, &error).into_value(py).into_any()
}

/// Runs one point. Returns whether it finished, and the contents of its file.
#[pyfunction]
pub fn run_point<'py>(py: Python<'py>, plan: &Plan, sha256: &str, number: usize) -> (bool, Bound<'py, PyBytes>) {
    let never = AtomicBool::new(false);
    let outcome = py.detach(|| lab::run_point(&plan.plan, sha256, number, &never));
    match outcome {
        PointOutcome::Finished(bytes) => (true, PyBytes::new(py, &bytes)),
        PointOutcome::Failed(bytes) => (false, PyBytes::new(py, &bytes)),
        PointOutcome::Stopped => (false, PyBytes::new(py, b"")),
    }
}

/// The file of a point that was given up because its workers failed.
#[pyfunction]
pub fn failed_point<'py>(py: Python<'py>, plan: &Plan, sha256: &str, number: usize, error: String) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &lab::failed(&plan.plan, sha256, number, vec![error]))
}

/// Whether these bytes are a complete file of this point, of this sweep and this version.
#[pyfunction]
pub fn is_point(py: Python<'_>, sha256: &str, number: usize, bytes: &[u8]) -> bool {
    py.detach(|| lab::read_bytes(bytes.to_vec(), sha256, number).is_some())
}

/// Contents of `summary.json`, from the files that `read` returns by number.
#[pyfunction]
pub fn sweep_summary<'py>(py: Python<'py>, plan: &Plan, read: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let (sha256, mut text, mut trouble) = (plan.plan.sha256(), Vec::new(), Ok(()));
    let mut file = |number: usize| {
        if trouble.is_err() {
            return None;
        }
        let given = read.call1((number,)).and_then(|bytes| bytes.extract::<Option<Bound<'_, PyBytes>>>().map_err(PyErr::from));
        match given {
            Ok(bytes) => lab::read_bytes(bytes?.as_bytes().to_vec(), &sha256, number),
            Err(error) => {
                trouble = Err(error);
                None
            }
        }
    };
    let written = lab::write_summary(&plan.plan, &mut file, &mut text);
    trouble?;
    written?;
    Ok(PyBytes::new(py, &text))
}

/// The folder of a sweep on this machine.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct SweepFolder(Sweep);

#[pymethods]
impl SweepFolder {
    /// Starts a sweep in a folder, or resumes an existing one.
    #[new]
    fn new(py: Python<'_>, plan: &Plan, path: PathBuf) -> PyResult<Self> {
        refuse_own(py, plan)?;
        let opened = py.detach(|| Sweep::open(&plan.plan, plan.plan.source_text(), &path));
        opened.map(Self).map_err(|error| sweep_error(py, &error))
    }

    /// Points without a readable file.
    fn missing(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| self.0.missing())
    }

    /// Stores the file of a point.
    fn keep(&self, py: Python<'_>, number: usize, finished: bool, bytes: &[u8]) -> PyResult<()> {
        let bytes = bytes.to_vec();
        let outcome = if finished { PointOutcome::Finished(bytes) } else { PointOutcome::Failed(bytes) };
        py.detach(|| self.0.keep(number, &outcome)).map_err(|error| sweep_error(py, &error.into()))
    }

    /// Writes `summary.json`.
    fn summarize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.summarize().map(drop)).map_err(|error| sweep_error(py, &error))
    }
}
