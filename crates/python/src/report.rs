//! Results of a run: the summary as a string, and tables.

use crate::in_memory_recorder::{InMemoryRecorder, KeptRun};
use crate::table::{Batches, Table};
use crate::tables::{self, one};
use goodqueue_figure::plot::{Line, PlotError, Source, Subject};
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::summary::PointSummary;
use goodqueue_lab::run::plan_results::Results;
use goodqueue_lab::run::runner::{PointResult, RunReport};
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_lab::verdict::Criteria;
use goodqueue_sim::Series;
use pyo3::prelude::*;

/// Result of running a plan.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Report {
    results: Results,
    kept: Vec<KeptRun>,
}

impl Report {
    /// Aggregates the results of `plan`.
    pub fn new(plan: &Plan, points: Vec<Point>, mut report: RunReport, kept: InMemoryRecorder) -> Self {
        let mut kept = kept.0;
        for run in kept.iter_mut().filter(|run| run.replication == 0) {
            if let Some(point) = report.points.get_mut(run.point) {
                run.series = std::mem::take(&mut point.series);
            }
        }
        Self { results: Results::new(plan, points, report, &Criteria::default()), kept }
    }

    /// Points with a finished run, and their numbers; others have no summary.
    fn finished(&self) -> impl Iterator<Item = (usize, &PointResult)> {
        self.results.report.points.iter().enumerate().filter(|(_, point)| point.summary.is_some())
    }

    fn batches(&self, name: &str) -> Option<Batches> {
        let labels = &self.results.labels.names;
        let sets: Vec<_> = self.results.points.iter().map(|point| point.set.as_slice()).collect();
        let summaries: Vec<_> = self.finished().map(|(number, _)| number as u32).zip(&self.results.summary.points).collect();
        Some(match name {
            "cdf" => one(tables::cdf(&self.results.report.points, labels)),
            "series" => tables::series(&self.kept, labels),
            "validity" => one(tables::validity(&self.results.report.attempts, &self.results.points, labels)),
            "packets" => tables::packets(&self.kept, labels),
            _ => one(tables::of_figures(name, &sets, &summaries, labels)?),
        })
    }
}

impl Source for Report {
    fn points(&self) -> &[PointSummary] {
        &self.results.summary.points
    }

    fn labels(&self) -> &Labels {
        &self.results.labels
    }

    fn distributions(&self, subject: &Subject) -> Result<Vec<Option<Line>>, PlotError> {
        let of = |point: &PointResult| {
            let (all, name) = match subject {
                Subject::Link(name) => (&point.cdfs, name),
                Subject::Group(name) => (&point.rtt_cdfs, name),
            };
            all.iter().find(|cdf| cdf.subject == *name).map(|cdf| cdf.points.clone())
        };
        Ok(self.finished().map(|(_, point)| of(point)).collect())
    }

    fn lines(&self, subject: &Subject, name: &str) -> Result<Vec<Vec<Line>>, PlotError> {
        let line = |series: &Series| -> Option<Line> {
            let column = series.columns.iter().find(|column| column.name == name)?;
            Some(series.times.iter().map(|time| time.as_secs_f64()).zip(column.values.iter().copied()).collect())
        };
        let of = |number: usize| -> Vec<Line> {
            let run = self.kept.iter().find(|run| run.point == number);
            let series = run.into_iter().flat_map(|run| &run.series);
            series.filter(|series| subject.is_of(&series.subject)).filter_map(line).collect()
        };
        Ok(self.finished().map(|(number, _)| of(number)).collect())
    }

    fn sampled(&self) -> Result<Vec<(String, String)>, PlotError> {
        let all = self.kept.iter().flat_map(|run| &run.series);
        let named = |series: &Series| -> Vec<(String, String)> {
            series.columns.iter().map(|column| (series.subject.clone(), column.name.clone())).collect()
        };
        Ok(all.flat_map(named).collect())
    }
}

#[pymethods]
impl Report {
    /// Contents of `summary.json`.
    #[getter]
    fn summary_json(&self) -> String {
        self.results.summary.to_json()
    }

    /// The host of the runs.
    #[getter]
    fn host(&self) -> &'static str {
        self.results.report.host
    }

    /// Whether every run finished.
    #[getter]
    fn complete(&self) -> bool {
        self.results.report.complete
    }

    /// Point, replication and message of each failed run.
    #[getter]
    fn failures(&self) -> Vec<(String, u32, String)> {
        self.results.report.failures.iter().map(|f| (f.place.clone(), f.replication, f.message.clone())).collect()
    }

    /// Returns one of the tables by name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        Table::made(name, py.detach(|| self.batches(name)))
    }
}
