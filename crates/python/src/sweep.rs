//! Sweeps: one file a point, going on where they were stopped.

use crate::error::sweep_error;
use crate::plan::Plan;
use crate::run::Watch;
use goodqueue_lab::sweep::Sweep;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Runs every missing point of a plan into a folder: (points, found, finished, failed).
#[pyfunction]
#[pyo3(signature = (plan, path, *, jobs, progress))]
pub fn sweep(
    py: Python<'_>,
    plan: &Plan,
    path: PathBuf,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, usize, usize, usize)> {
    let stop = AtomicBool::new(false);
    let mut watch = Watch::new(&stop, progress);
    let ended = py.detach(|| {
        let sweep = Sweep::open(&plan.0, plan.0.source_text(), &path)?;
        sweep.run(jobs, &stop, &mut |part| watch.look(part))
    });
    watch.finish()?;
    let end = ended.map_err(|error| sweep_error(py, &error))?;
    Ok((end.points, end.found, end.finished, end.failed))
}
