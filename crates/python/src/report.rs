//! Results of a run: the summary as a string, and tables.

use crate::kept::{Kept, KeptRun};
use crate::table::Table;
use crate::tables;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use goodqueue_lab::compare::Labels;
use goodqueue_lab::headline::{Headline, Policy};
use goodqueue_lab::plan::{Plan, Point};
use goodqueue_lab::runner::RunReport;
use goodqueue_lab::summary::Summary;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

/// Result of running a plan.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Report {
    summary: Summary,
    labels: Vec<String>,
    points: Vec<Point>,
    report: RunReport,
    kept: Vec<KeptRun>,
}

impl Report {
    /// Aggregates the results of `plan`.
    pub fn new(plan: &Plan, points: Vec<Point>, mut report: RunReport, kept: Kept) -> Self {
        let sets: Vec<_> = points.iter().map(|point| point.set.as_slice()).collect();
        let labels = Labels::new(&sets, plan.name());
        let headline = Headline::of(&points, &report.points, &labels, &Policy::default());
        let summary = Summary { headline: Some(headline), ..report.summary(plan) };
        let labels = labels.names;
        let mut kept = kept.0;
        for run in kept.iter_mut().filter(|run| run.replication == 0) {
            if let Some(point) = report.points.get_mut(run.point) {
                run.series = std::mem::take(&mut point.series);
            }
        }
        Self { summary, labels, points, report, kept }
    }

    fn batches(&self, name: &str) -> Option<Result<(SchemaRef, Vec<RecordBatch>), ArrowError>> {
        let one = |batch: Result<RecordBatch, ArrowError>| batch.map(|batch| (batch.schema(), vec![batch]));
        let sets: Vec<_> = self.points.iter().map(|point| point.set.as_slice()).collect();
        // Points without any finished run have no summary.
        let numbers: Vec<u32> =
            (0..).zip(&self.report.points).filter(|(_, point)| point.summary.is_some()).map(|(number, _)| number).collect();
        let summaries: Vec<_> = numbers.iter().copied().zip(&self.summary.points).collect();
        Some(match name {
            "points" => one(tables::points(&sets, &self.labels)),
            "links" => one(tables::links(&summaries, &self.labels)),
            "groups" => one(tables::groups(&summaries, &self.labels)),
            "flows" => one(tables::flows(&summaries, &self.labels)),
            "fairness" => one(tables::fairness(&summaries, &self.labels)),
            "cdf" => one(tables::cdf(&self.report.points, &self.labels)),
            "series" => tables::series(&self.kept, &self.labels),
            "validity" => one(tables::validity(&self.report.attempts, &self.points, &self.labels)),
            "packets" => tables::packets(&self.kept, &self.labels),
            _ => return None,
        })
    }
}

#[pymethods]
impl Report {
    /// Contents of `summary.json`.
    #[getter]
    fn summary_json(&self) -> String {
        self.summary.to_json()
    }

    /// Where it ran.
    #[getter]
    fn host(&self) -> &'static str {
        self.report.host
    }

    /// Whether every run finished.
    #[getter]
    fn complete(&self) -> bool {
        self.report.complete
    }

    /// Point, replication and message of each failed run.
    #[getter]
    fn failures(&self) -> Vec<(String, u32, String)> {
        self.report.failures.iter().map(|f| (f.place.clone(), f.replication, f.message.clone())).collect()
    }

    /// Events handled by all runs.
    #[getter]
    fn events(&self) -> u64 {
        self.report.events
    }

    /// Returns one of the tables by name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let made = py.detach(|| self.batches(name));
        let made = made.ok_or_else(|| PyKeyError::new_err(format!("{name}: there is no such table")))?;
        let (schema, batches) = made.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Table { schema, batches })
    }
}
