//! A plan to be run, and its result.

use crate::settings::RunSettings;
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::run::plan_results::Results;
use goodqueue_lab::scenario::plan::Plan;

/// A plan to be run, and the text of its scenario for the folder.
pub struct Job<'a> {
    /// Plan to run.
    pub plan: &'a Plan,
    /// The scenario as it was given or made.
    pub scenario_text: &'a str,
    /// `KEY=VALUE`s on top of it.
    pub overrides: &'a [(String, String)],
    /// Name of the folder of results where no other is asked for.
    pub folder: &'a str,
    /// Settings of the run and of its output.
    pub settings: &'a RunSettings,
    /// Host that the plan runs on.
    pub host: &'a dyn Backend,
}

/// Everything a result is written and printed from.
pub struct Finished<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) results: Results,
    /// The text of `summary.json`.
    pub(super) json: String,
    pub(super) wall_s: f64,
    /// Runs at the same time.
    pub(super) jobs: usize,
}
