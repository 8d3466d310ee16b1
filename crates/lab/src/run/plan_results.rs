//! The results of a plan, as commands print them and as the folder of a result holds them.

use crate::results::error::{RecordError, RunFailure};
use crate::results::labels::Labels;
use crate::results::record::{Folder, NoRecorder, Settled};
use crate::results::report::{self, ReportInput};
use crate::results::summary::Summary;
use crate::run::runner::{self, Recorded, RunOptions, RunReport};
use crate::scenario::lint;
use crate::scenario::plan::{Plan, PlanError, Point, Scenario};
use crate::verdict::{Criteria, Headline};
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

/// Largest number of points whose series and distributions are kept in memory for the report.
pub const MAX_DRAWN: usize = 24;

/// Results of a plan's points, with the answer in words.
#[derive(Clone, Debug)]
pub struct Results {
    /// The points of the sweep, in its order.
    pub points: Vec<Point>,
    /// The figures of each point.
    pub report: RunReport,
    /// The names of the points.
    pub labels: Labels,
    /// The answer.
    pub headline: Headline,
    /// The content of `summary.json`.
    pub summary: Summary,
}

/// A plan that cannot be run, or a run that failed.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A point of the sweep is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The first run that failed.
    #[error("{0}")]
    Run(RunFailure),
}

impl Plan {
    /// Runs all points and replications in the simulator, on all processors. [`runner::run_on`]
    /// has more choices.
    ///
    /// # Errors
    /// When a point of the sweep is wrong, or a run failed: the first failure.
    pub fn run(&self) -> Result<Results, ResultsError> {
        let points = self.points()?;
        let options = RunOptions {
            jobs: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            replications: self.replications(),
            recorded: Recorded::First,
            sample_every: None,
            packets: false,
            drawn_points: MAX_DRAWN,
        };
        let report = runner::run(&points, &options, &AtomicBool::new(false), &mut |_| {}, &mut NoRecorder);
        match report.failures.first() {
            Some(failure) => Err(ResultsError::Run(failure.clone())),
            None => Ok(Results::new(self, points, report, &Criteria::default())),
        }
    }
}

impl Results {
    /// The results of `plan`, whose `points` gave this `report`.
    #[must_use]
    pub fn new(plan: &Plan, points: Vec<Point>, report: RunReport, criteria: &Criteria) -> Self {
        let labels = Labels::of_points(&points);
        let headline = Headline::of(&points, &report.points, &labels, criteria);
        let summary = Summary { headline: Some(headline.clone()), ..report.summary(plan) };
        Self { points, report, labels, headline, summary }
    }

    /// Remarks on the scenario, and on runs that are missing.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = lint::warnings_of_points(&self.points);
        if !self.report.complete {
            let (finished, all) = (self.report.fingerprints.len(), self.points.len() * self.summary.replications as usize);
            warnings.push(format!("This result is incomplete: {finished} of {all} runs finished."));
        }
        warnings
    }

    /// The name of the link that is reported first.
    #[must_use]
    pub fn main_link(&self) -> &str {
        self.points.first().map_or("", |point| point.plan.main_link().name.as_str())
    }

    /// Writes `report.html`, with the scenario's text and the command that made it, if there was
    /// one.
    ///
    /// # Errors
    /// When `out` takes no more.
    pub fn write_page(&self, scenario_toml: &str, command_line: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
        let results = self.report.points.iter().zip(&self.points).zip(&self.labels.names);
        let points = results
            .filter(|((result, _), _)| result.summary.is_some())
            .map(|((result, point), label)| result.drawn(label.clone(), point.plan.main_queue()))
            .collect();
        let plan = self.points.first().map(|point| &point.plan);
        let input = ReportInput {
            title: &self.summary.scenario,
            sentence: &self.headline.text,
            warnings: &self.warnings(),
            scenario_toml,
            command_line,
            summary: &self.summary.to_value(),
            provenance: &[],
            main_link: self.main_link(),
            measured_s: plan.map(Scenario::measured_s),
            points,
        };
        report::write_to(out, &input)
    }

    /// Writes `summary.json`, `scenario.toml` and `report.html`, as `gq run` does.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_into(&self, folder: &Folder, scenario_toml: &str) -> Result<(), RecordError> {
        folder.write("summary.json", self.summary.to_json().as_bytes())?;
        folder.write("scenario.toml", scenario_toml.as_bytes())?;
        folder.write_by("report.html", Settled::OnDisk, &mut |out| self.write_page(scenario_toml, None, out))?;
        Ok(())
    }
}
