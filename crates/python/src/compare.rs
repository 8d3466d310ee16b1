//! The scenario of a comparison of queues on one line.

use crate::error::{FaultFacts, argument_error, with_faults};
use crate::plan::Plan;
use goodqueue_lab::scenario::compare::{Comparison, Line, Load, Signal};
use goodqueue_lab::scenario::plan::{self, Fault};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::Path;

/// Name that stands for the file in messages.
const WHERE: &str = "compare()";

/// Arguments; see `goodqueue.compare`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments {
    rate: Option<String>,
    rate_up: Option<String>,
    trace: Option<String>,
    trace_up: Option<String>,
    rtt: String,
    overhead: Option<String>,
    buffer: Option<String>,
    buffer_up: Option<String>,
    traffic: Option<(bool, String)>,
    flows: Option<u32>,
    flows_up: Option<u32>,
    cc: Vec<String>,
    aqm: Option<Vec<String>>,
    aqm_up: Vec<String>,
    ecn: bool,
    warmup: Option<String>,
    duration: Option<String>,
    replications: Option<u32>,
    seed: u64,
}

/// Builds the scenario as `gq compare` does. Faults name the arguments, since users never see the
/// lines of the scenario.
#[pyfunction]
pub fn comparison(py: Python<'_>, arguments: Arguments) -> PyResult<Plan> {
    let refuse = |field: &str, message: &str| argument_error(py, WHERE, field, message);
    let Arguments { rate, rate_up, trace, trace_up, ecn, aqm, traffic, .. } = arguments;
    let line = match (rate, trace, trace_up) {
        (Some(rate), None, None) => {
            Line::rates(&rate, rate_up.as_deref()).map_err(|error| refuse(&argument(error.option), &error.message))?
        }
        (None, ..) if rate_up.is_some() => return Err(refuse("rate_up", "needs a rate: give trace_up for a recording")),
        (None, Some(down), up) => Line::Trace { down, up },
        (Some(_), ..) => return Err(refuse("rate", "is given with a recording of it")),
        (None, None, _) => return Err(refuse("rate", "is missing: give a rate or a trace")),
    };
    let usual = || Comparison::USUAL.iter().map(|kind| (*kind).to_owned()).collect();
    let signal = if ecn { Signal::Mark } else { Signal::Drop };
    let aqm = aqm.unwrap_or_else(usual);
    let traffic = match traffic {
        None => Load::default(),
        Some((false, name)) => Load::Mix(name),
        Some((true, text)) => Load::Toml(text),
    };
    let comparison = Comparison {
        line,
        rtt: arguments.rtt,
        overhead: arguments.overhead,
        buffer: arguments.buffer.unwrap_or_else(|| Comparison::USUAL_BUFFER.to_owned()),
        buffer_up: arguments.buffer_up,
        traffic,
        flows: arguments.flows,
        flows_up: arguments.flows_up,
        cc: arguments.cc,
        aqm,
        aqm_up: arguments.aqm_up,
        signal,
        warmup: arguments.warmup,
        duration: arguments.duration,
        replications: arguments.replications.unwrap_or(Comparison::USUAL_REPLICATIONS),
        seed: arguments.seed,
    };
    let made = comparison.scenario().map_err(|error| refuse(&argument(error.option), &error.message))?;
    for note in &made.notes {
        let message = CString::new(format!("{WHERE}: {note}")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)?;
    }
    let read = plan::Plan::parse("scenario made from the options", &made.toml, Path::new(""));
    read.map(Plan::from).map_err(|error| {
        let facts = |fault: &Fault| {
            let name = Comparison::option_of(fault.field()).map_or_else(|| fault.field().to_owned(), argument);
            (WHERE.to_owned(), None, None, name, fault.message().to_owned(), fault.suggestion().map(str::to_owned))
        };
        let faults: Vec<_> = error.faults().map(facts).collect();
        let line = |(place, .., field, message, help): &FaultFacts| match help {
            Some(help) => format!("{place}: {field}: {message}; {help}"),
            None => format!("{place}: {field}: {message}"),
        };
        let text = faults.iter().map(line).collect::<Vec<_>>().join("\n");
        with_faults(py, &text, faults)
    })
}

/// Argument of the function that corresponds to an option of the command.
fn argument(option: &str) -> String {
    option.trim_start_matches("--").replace('-', "_")
}
