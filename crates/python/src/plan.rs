//! Scenarios as the Rust parser reads them.

use crate::error::scenario_error;
use goodqueue_lab::{lint, plan};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A scenario, read and checked.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Plan(pub plan::Plan);

#[pymethods]
impl Plan {
    /// Reads TOML text. `source_name` stands for the file in messages; paths in it are relative to `base_dir`.
    #[new]
    #[pyo3(signature = (source_name, text, base_dir, overrides = Vec::new()))]
    fn new(py: Python<'_>, source_name: &str, text: &str, base_dir: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let read = || {
            let plan = plan::Plan::parse(source_name, text, &base_dir)?;
            if overrides.is_empty() { Ok(plan) } else { plan.with_overrides(&overrides) }
        };
        py.detach(read).map(Self).map_err(|error| scenario_error(py, &error))
    }

    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| plan::Plan::load(&path)).map(Self).map_err(|error| scenario_error(py, &error))
    }

    /// The same with dotted keys set.
    fn with_overrides(&self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<Self> {
        py.detach(|| self.0.with_overrides(&overrides)).map(Self).map_err(|error| scenario_error(py, &error))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    #[getter]
    fn replications(&self) -> u32 {
        self.0.replications()
    }

    #[getter]
    fn point_count(&self) -> usize {
        self.0.point_count()
    }

    #[getter]
    fn source_text(&self) -> &str {
        self.0.source_text()
    }

    #[getter]
    fn sha256(&self) -> String {
        self.0.sha256()
    }

    /// What is odd about the scenario, each thing once.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let points = py.detach(|| self.0.points()).map_err(|error| scenario_error(py, &error))?;
        let mut known = BTreeSet::new();
        let all = points.iter().flat_map(lint::warnings).map(|warning| warning.to_string());
        Ok(all.filter(|text| known.insert(text.clone())).collect())
    }
}
