//! Sweeps: one file a point, going on where they were stopped.

use crate::error::{sweep_error, with_faults};
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
    if plan.has_own {
        let why = "a sweep's points may run anywhere and later, so it takes no algorithms of the program's own";
        let fault = ("sweep()".to_owned(), None, None, "algorithms".to_owned(), why.to_owned(), None);
        return Err(with_faults(py, &format!("sweep(): algorithms: {why}"), vec![fault]));
    }
    let stop = AtomicBool::new(false);
    let mut watch = Watch::new(&stop, progress);
    let ended = py.detach(|| {
        let sweep = Sweep::open(&plan.plan, plan.plan.source_text(), &path)?;
        sweep.run(jobs, &stop, &mut |part| watch.look(part))
    });
    watch.finish()?;
    let end = ended.map_err(|error| sweep_error(py, &error))?;
    Ok((end.points, end.found, end.finished, end.failed))
}
