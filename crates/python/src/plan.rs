//! Scenarios as read by the Rust parser.

use crate::custom::{PyKind, PythonError};
use crate::error::scenario_error;
use goodqueue_aqm::custom::CustomKind;
use goodqueue_lab::scenario::plan::{CustomKinds, PlanError};
use goodqueue_lab::scenario::{lint, plan};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario, read and checked.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Plan {
    pub plan: plan::Plan,
    /// First exception of its algorithms written in Python.
    pub trouble: Arc<PythonError>,
    pub has_own: bool,
}

/// Name, version and factory of an algorithm written in Python.
type Algorithm = (String, String, Py<PyAny>);

impl From<plan::Plan> for Plan {
    fn from(plan: plan::Plan) -> Self {
        Self { plan, trouble: Arc::default(), has_own: false }
    }
}

impl Plan {
    /// Reads a plan with `read`, which receives the algorithms.
    fn made(
        py: Python<'_>,
        algorithms: Vec<Algorithm>,
        read: impl FnOnce(CustomKinds) -> Result<plan::Plan, PlanError> + Send,
    ) -> PyResult<Self> {
        let trouble = Arc::new(PythonError::default());
        let has_own = !algorithms.is_empty();
        let kind = |(name, version, make): Algorithm| -> Arc<dyn CustomKind> {
            Arc::new(PyKind::new(&name, version, make, trouble.clone()))
        };
        let own: CustomKinds = algorithms.into_iter().map(kind).collect();
        let plan = py.detach(|| read(own));
        // An exception raised by a factory is more informative than the error it caused.
        trouble.raise()?;
        let plan = plan.map_err(|error| scenario_error(py, &error))?;
        Ok(Self { plan, trouble, has_own })
    }
}

#[pymethods]
impl Plan {
    /// Reads TOML text. `source_name` is the file name in messages; paths in the text are relative
    /// to `base_dir`.
    #[new]
    #[pyo3(signature = (source_name, text, base_dir, overrides = Vec::new(), algorithms = Vec::new()))]
    fn new(
        py: Python<'_>,
        source_name: &str,
        text: &str,
        base_dir: PathBuf,
        overrides: Vec<(String, String)>,
        algorithms: Vec<Algorithm>,
    ) -> PyResult<Self> {
        Self::made(py, algorithms, |own| {
            let plan = plan::Plan::parse_knowing(source_name, text, &base_dir, own)?;
            if overrides.is_empty() { Ok(plan) } else { plan.with_overrides(&overrides) }
        })
    }

    /// Reads a file.
    #[staticmethod]
    #[pyo3(signature = (path, algorithms = Vec::new()))]
    fn load(py: Python<'_>, path: PathBuf, algorithms: Vec<Algorithm>) -> PyResult<Self> {
        Self::made(py, algorithms, |own| plan::Plan::load_knowing(&path, own))
    }

    /// Reads the same text with dotted keys set.
    fn with_overrides(&self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let plan = py.detach(|| self.plan.with_overrides(&overrides));
        self.trouble.raise()?;
        let plan = plan.map_err(|error| scenario_error(py, &error))?;
        Ok(Self { plan, trouble: self.trouble.clone(), has_own: self.has_own })
    }

    #[getter]
    fn name(&self) -> &str {
        self.plan.name()
    }

    #[getter]
    fn replications(&self) -> u32 {
        self.plan.replications()
    }

    #[getter]
    fn point_count(&self) -> usize {
        self.plan.point_count()
    }

    #[getter]
    fn source_text(&self) -> &str {
        self.plan.source_text()
    }

    #[getter]
    fn sha256(&self) -> String {
        self.plan.sha256()
    }

    /// Name, text, folder and overrides, from which it can be read again in another process.
    fn parts(&self) -> (&str, &str, PathBuf, Vec<(String, String)>) {
        let base_dir = self.plan.base_dir().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        (self.plan.source_name(), self.plan.source_text(), base_dir.unwrap_or_default(), self.plan.overrides().to_vec())
    }

    /// Warnings about the scenario, each once.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let points = py.detach(|| self.plan.points()).map_err(|error| scenario_error(py, &error))?;
        let mut known = BTreeSet::new();
        let all = points.iter().flat_map(lint::warnings).map(|warning| warning.to_string());
        Ok(all.filter(|text| known.insert(text.clone())).collect())
    }
}
