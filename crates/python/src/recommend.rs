//! Recommendations for a line, as `gq recommend` makes them.

use crate::error::{argument_error, host_error, run_error};
use crate::run::Watch;
use goodqueue_guests::backends::{BackendName, ProcessOwner, Settings, VoidRunPolicy};
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::run::recommend::{Asked, Effort, Question, Refused, check, recommend as search};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::fmt;
use std::sync::atomic::AtomicBool;

/// Name that stands for the file in messages.
const WHERE: &str = "recommend()";

/// The recommendation as JSON, schema `goodqueue.recommendation/2`. `on` names the host that checks
/// it, `itself` is the command that starts `gq`. `progress` is called with the finished share, in
/// [0, 1], of the search and then of the check.
#[pyfunction]
#[pyo3(signature = (*, down, up, varies, rtt, buffer, flows, cc, mix, hardware, policy, effort, on, itself, seed, jobs, progress))]
#[allow(clippy::too_many_arguments, reason = "one for each option of the command, by name")]
pub fn recommendation(
    py: Python<'_>,
    down: &str,
    up: &str,
    varies: &str,
    rtt: &str,
    buffer: &str,
    flows: &str,
    cc: &str,
    mix: &str,
    hardware: &str,
    policy: &str,
    effort: &str,
    on: Option<&str>,
    itself: Vec<OsString>,
    seed: u64,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let effort = match effort {
        "quick" => Effort::Quick,
        "thorough" => Effort::Thorough,
        other => return Err(refuse(py, "effort", &format!("`{other}` is not known: allowed quick, thorough"))),
    };
    let asked = Asked { down, up, varies, rtt, buffer, flows, cc, mix, hardware, policy, effort, seed, jobs, ..Asked::default() };
    let question = asked.question().map_err(|error| refuse(py, error.option, &error.why))?;
    let host = on.map(|name| checker(py, name, itself, &question)).transpose()?;
    let stop = AtomicBool::new(false);
    let mut watch = Watch::new(&stop, progress);
    let answer = py.detach(|| {
        let mut answer = search(&question, &stop, &mut |part| watch.look(part), &mut |_| {})?;
        if let Some(host) = &host {
            check::check(&question, &mut answer, &**host, &stop, &mut |part| watch.look(part))?;
        }
        Ok::<_, Refused>(answer)
    });
    // An exception from the interpreter is raised in place of the error that the search was
    // stopped.
    watch.finish()?;
    let answer = answer.map_err(|error| run_error(py, &format!("{WHERE}: {error}")))?;
    serde_json::to_string_pretty(&answer).map_err(|error| run_error(py, &format!("{WHERE}: {error}")))
}

/// The host that checks the answer.
fn checker(py: Python<'_>, name: &str, itself: Vec<OsString>, question: &Question) -> PyResult<Box<dyn Backend + Send>> {
    let wrong = |why: &dyn fmt::Display| refuse(py, "check", &format!("`{name}`: {why}"));
    let host = BackendName::read_checker(name).map_err(|why| wrong(&why))?;
    let settings = Settings { itself, process: ProcessOwner::Foreign, voids: VoidRunPolicy::default(), say: |_| {} };
    let host = host.open(&settings).map_err(|unavailable| host_error(py, &format!("{WHERE}: check: {unavailable}")))?;
    check::refuse(question, &*host).map_err(|refusal| refuse(py, "check", &refusal.to_string()))?;
    Ok(host)
}

/// Error for an argument that is wrong.
fn refuse(py: Python<'_>, argument: &str, message: &str) -> PyErr {
    argument_error(py, WHERE, argument, message)
}
