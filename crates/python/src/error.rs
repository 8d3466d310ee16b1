//! Errors of Rust as exceptions of `goodqueue.exceptions`.

use goodqueue_figure::plot::PlotError;
use goodqueue_lab::run::sweep::SweepError;
use goodqueue_lab::scenario::plan::{Fault, PlanError};
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// File, line, column, field, message and help of one fault.
pub type FaultFacts = (String, Option<usize>, Option<usize>, String, String, Option<String>);

fn facts(fault: &Fault) -> FaultFacts {
    let (line, column) = fault.position().unzip();
    let help = fault.suggestion().map(str::to_owned);
    (fault.source_name().to_owned(), line, column, fault.field().to_owned(), fault.message().to_owned(), help)
}

/// `goodqueue.ScenarioError` with every fault.
pub fn scenario_error(py: Python<'_>, error: &PlanError) -> PyErr {
    with_faults(py, &error.text(), error.faults().map(facts).collect())
}

/// `goodqueue.ScenarioError` with these faults and this message.
pub fn with_faults(py: Python<'_>, text: &str, faults: Vec<FaultFacts>) -> PyErr {
    raise(py, "ScenarioError", (text, faults))
}

/// `goodqueue.ScenarioError` for one argument of a function.
pub fn argument_error(py: Python<'_>, function: &str, argument: &str, message: &str) -> PyErr {
    let fault = (function.to_owned(), None, None, argument.to_owned(), message.to_owned(), None);
    with_faults(py, &format!("{function}: {argument}: {message}"), vec![fault])
}

/// `goodqueue.HostError`.
pub fn host_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "HostError", (text,))
}

/// `goodqueue.RunError` without a result.
pub fn run_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "RunError", (text,))
}

/// `goodqueue.SweepError`.
pub fn sweep_error(py: Python<'_>, error: &SweepError) -> PyErr {
    raise(py, "SweepError", (error.to_string(),))
}

/// `goodqueue.ResultError`.
pub fn result_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "ResultError", (text,))
}

/// `goodqueue.PlotError`.
pub fn plot_error(py: Python<'_>, error: &PlotError) -> PyErr {
    raise(py, "PlotError", (error.field.replace('-', "_"), error.message.as_str()))
}

/// `goodqueue.ArrivalError`.
pub fn arrival_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "ArrivalError", (text,))
}

/// The exception with this name in `goodqueue.exceptions`, or the error that prevented its
/// creation.
fn raise<'py>(py: Python<'py>, name: &str, arguments: impl IntoPyObject<'py, Target = PyTuple, Error = PyErr>) -> PyErr {
    let made = || {
        let arguments = arguments.into_pyobject(py)?.into_bound();
        py.import("goodqueue.exceptions")?.getattr(name)?.call1(arguments)
    };
    made().map_or_else(|error| error, PyErr::from_value)
}
