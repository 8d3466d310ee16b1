//! The page: both sides in the same charts, as if they were two points of a sweep.

use super::verdict::{Comparison, Verdict};
use crate::output::command_line;
use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::provenance::Provenance;
use goodqueue_lab::results::record::{Folder, Settled};
use goodqueue_lab::results::report::{self, ReportInput, ReportPoint};
use goodqueue_lab::results::summary::Summary;
use goodqueue_lab::run::backend::{self, Validity};
use goodqueue_lab::run::runner::{PointResult, RunReport};
use goodqueue_lab::scenario::plan::{Plan, Point, Scenario};

/// Data that the page is made from.
pub struct Page<'a> {
    pub plan: &'a Plan,
    pub points: &'a [Point],
    pub comparison: &'a Comparison,
    pub sim: &'a RunReport,
    pub real: &'a RunReport,
    /// Both hosts' names.
    pub hosts: &'static str,
    /// Warnings beside those that follow from the comparison.
    pub warnings: Vec<String>,
}

impl Page<'_> {
    /// Writes it into the folder.
    pub fn write(&self, folder: &Folder) -> Result<(), RecordError> {
        let against = self.comparison.against;
        let summary = serde_json::to_value(self.summary()).expect("plain values with string keys always serialise");
        let sets: Vec<_> = self.points.iter().map(|point| point.set.as_slice()).collect();
        let labels = Labels::new(&sets, "");
        let mut points = Vec::new();
        for ((point, label), results) in self.points.iter().zip(&labels.names).zip(self.sim.points.iter().zip(&self.real.points))
        {
            for (host, result) in [("sim", results.0), (against, results.1)] {
                if result.summary.is_some() {
                    points.push(drawn(point, label, host, result));
                }
            }
        }
        let plan = self.points.first().map(|point| &point.plan);
        let input = ReportInput {
            title: &format!("{}: simulator and {against}", self.plan.name()),
            sentence: &self.comparison.sentence(),
            warnings: &self.warnings(),
            scenario_toml: self.plan.source_text(),
            command_line: Some(&command_line().join(" ")),
            summary: &summary,
            provenance: &self.rows(),
            main_link: plan.map_or("", |plan| plan.main_link().name.as_str()),
            measured_s: plan.map(Scenario::measured_s),
            points,
        };
        folder.write_by("report.html", Settled::OnDisk, &mut |out| report::write_to(out, &input)).map(|_| ())
    }

    /// Both sides' figures as one result, point by point.
    fn summary(&self) -> Summary {
        let Self { plan, sim, real, .. } = self;
        let fingerprints = sim.fingerprints.iter().chain(&real.fingerprints).copied();
        let both = sim.points.iter().zip(&real.points).flat_map(|(sim, real)| [("sim", sim), (self.comparison.against, real)]);
        let points = both.filter_map(|(host, result)| {
            let mut summary = result.summary.clone()?;
            summary.set.push(("host".to_owned(), host.into()));
            Some(summary)
        });
        Summary {
            host: self.hosts,
            complete: sim.complete && real.complete,
            provenance: Provenance::new(plan.sha256(), fingerprints),
            points: points.collect(),
            ..sim.summary(plan)
        }
    }

    /// Returns the warnings, among them the figures that do not agree, which the page shows before
    /// all else.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        if self.real.attempts.iter().any(|run| run.void.is_some()) {
            warnings.push(backend::sentence(&self.real.attempts));
        }
        for point in &self.comparison.points {
            for row in point.rows.iter().filter(|row| matches!(row.verdict, Verdict::Differs | Verdict::Unclear)) {
                warnings.push(format!("{}: {}: {}.", point.label, row.name(), row.sentence(self.comparison.against)));
            }
        }
        warnings
    }

    /// All that was compared, and how far each run in real time can be trusted.
    fn rows(&self) -> Vec<(String, String)> {
        let rows = |point: &super::verdict::ComparedPoint| {
            let row =
                |row: &super::verdict::Row| (format!("{}: {}", point.label, row.name()), row.sentence(self.comparison.against));
            point.rows.iter().map(row).collect::<Vec<_>>()
        };
        let run = |run: &Validity| (run.name(), run.sentence());
        self.comparison.points.iter().flat_map(rows).chain(self.real.attempts.iter().map(run)).collect()
    }
}

fn drawn<'a>(point: &Point, label: &str, host: &str, result: &'a PointResult) -> ReportPoint<'a> {
    let label = if label.is_empty() { host.to_owned() } else { format!("{label}, {host}") };
    result.drawn(label, point.plan.main_queue())
}
