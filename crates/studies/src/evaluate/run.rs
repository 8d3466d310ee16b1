//! From a question to measured points.

use crate::evaluate::evaluation::{self, Evaluation};
use crate::evaluate::question::{Planned, Question, Slot};
use crate::gallery::error::GalleryError;
use crate::gallery::run::{self, RunProgress};
use crate::gallery::store::Store;
use goodqueue_lab::scenario::plan::PlanError;
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

/// Returns the number of runs that a question takes.
///
/// # Errors
/// When a subject cannot stand in a scenario.
pub fn run_count(question: &Question) -> Result<usize, PlanError> {
    let planned = question.experiments()?;
    Ok(planned
        .iter()
        .filter_map(|one| one.what.as_ref().ok())
        .map(|one| one.points.len() * one.plan.replications() as usize)
        .sum())
}

/// Runs what `out` does not hold yet. `stop` ends it early: finished points are kept, and the
/// evaluation has what there is.
///
/// # Errors
/// When a subject cannot stand in a scenario, or a finished point cannot be stored.
pub fn run(
    question: &Question,
    out: &Path,
    jobs: usize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(RunProgress),
) -> Result<RunEnd, GalleryError> {
    let planned = question.experiments()?;
    let mut places = Vec::new();
    let mut experiments = Vec::new();
    for Planned { family, placement, subject, what } in planned {
        places.push((family, placement, subject, what.as_ref().err().copied()));
        experiments.extend(what.ok());
    }
    let end = run::run(experiments, &Store::new(out, question.mode), jobs, stop, progress)?;
    let mut measured = end.measured.into_iter();
    let slots = places.into_iter().filter_map(|(family, placement, subject, reason)| {
        let measured = match reason {
            Some(reason) => Err(reason),
            None => Ok(measured.next()?),
        };
        Some(Slot { family, placement, subject, measured })
    });
    let evaluation = evaluation::evaluate(question, slots.collect(), end.complete);
    Ok(RunEnd { evaluation, reused: end.reused, run: end.run })
}
