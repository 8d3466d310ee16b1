//! From a question to measured points.

use crate::evaluate::evaluation::{self, Evaluation};
use crate::evaluate::question::Question;
use crate::gallery::error::GalleryError;
use crate::gallery::experiment::Experiment;
use crate::gallery::run::{self, RunProgress};
use crate::gallery::store::Store;
use goodqueue_lab::run::backend::Backend;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The outcome of running a question.
#[derive(Debug)]
pub struct RunEnd {
    /// Figures, comparisons and scorecard.
    pub evaluation: Evaluation,
    /// Points that were there before.
    pub reused: usize,
    /// Points run now.
    pub run: usize,
}

/// Runs on `host` the experiments of a question that `out` does not hold yet. `stop` ends it
/// early: finished points are kept, and the evaluation has what there is.
///
/// # Errors
/// When a finished point cannot be stored.
pub fn run(
    question: &Question,
    experiments: Vec<Experiment>,
    host: &dyn Backend,
    out: &Path,
    jobs: usize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(RunProgress),
) -> Result<RunEnd, GalleryError> {
    let store = Store::on(host, out, question.mode);
    let end = run::run(experiments, host, &store, host.jobs(jobs), stop, progress)?;
    let evaluation = evaluation::evaluate(question, host, &end.measured.into(), end.complete);
    Ok(RunEnd { evaluation, reused: end.reused, run: end.run })
}
