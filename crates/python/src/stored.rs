//! Results on disk.

use crate::error::result_error;
use crate::table::Table;
use crate::tables::{self, one};
use goodqueue_lab::results::stored::Stored;
use goodqueue_lab::results::summary::PointSummary;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A result of `gq run`, `gq compare` or `gq sweep`.
#[pyclass(frozen, module = "goodqueue._core", name = "Stored")]
pub struct StoredResult {
    stored: Stored,
}

#[pymethods]
impl StoredResult {
    /// Reads the result in a folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let stored = py.detach(|| Stored::load(&folder)).map_err(|error| result_error(py, &error.to_string()))?;
        Ok(Self { stored })
    }

    /// Contents of `summary.json`.
    #[getter]
    fn summary_json(&self) -> &str {
        self.stored.text()
    }

    /// The host of the runs.
    #[getter]
    fn host(&self) -> &str {
        self.stored.host()
    }

    /// Whether every run finished.
    #[getter]
    fn complete(&self) -> bool {
        self.stored.is_complete()
    }

    /// Names of the points.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.stored.labels().names.clone()
    }

    /// Returns one of the tables of figures by name; of those that have a file of their own, the
    /// columns.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let labels = &self.stored.labels().names;
        let points: Vec<(u32, &PointSummary)> = (0..).zip(self.stored.points()).collect();
        let sets: Vec<_> = points.iter().map(|(_, point)| point.set.as_slice()).collect();
        let made = py.detach(|| {
            Some(match name {
                "validity" => one(tables::validity(&[], &[], labels)),
                "series" => tables::series(&[], labels),
                "packets" => tables::packets(&[], labels),
                _ => one(tables::of_figures(name, &sets, &points, labels)?),
            })
        });
        Table::made(name, made)
    }
}

impl StoredResult {
    /// The result, for figures.
    pub const fn stored(&self) -> &Stored {
        &self.stored
    }
}
