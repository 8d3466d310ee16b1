//! Recommendations for a line, as `gq recommend` makes them.

use crate::error::{argument_error, host_error, run_error};
use crate::run::Watch;
use goodqueue_guests::backends::{BackendName, ProcessOwner, Settings, VoidRunPolicy};
use goodqueue_interop::import::line_text::LineText;
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::run::recommend::{Asked, Effort, Question, Refused, check, recommend as search};
use goodqueue_lab::scenario::mix::note_on_name;
use goodqueue_lab::verdict::Unit;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::{CString, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Name that stands for the file in messages.
const WHERE: &str = "recommend()";

/// Arguments; see `goodqueue.recommend`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments {
    from_file: Option<PathBuf>,
    down: String,
    up: String,
    line: String,
    overhead: String,
    varies: String,
    rtt: String,
    buffer: String,
    modem: String,
    hosts: String,
    cpu: String,
    want: String,
    flows: String,
    cc: String,
    mix: String,
    hardware: String,
    policy: String,
    unit: String,
    effort: String,
    seed: u64,
    jobs: usize,
}

/// The recommendation as JSON, schema `goodqueue.recommendation/2`. `on` names the host that checks
/// it, `itself` is the command that starts `gq`. `progress` is called with the finished share, in
/// [0, 1], of the search and then of the check.
#[pyfunction]
pub fn recommendation(
    py: Python<'_>,
    arguments: Arguments,
    on: Option<&str>,
    itself: Vec<OsString>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let question = question(py, &arguments)?;
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

/// The question that the arguments ask, with the file where they are silent. Warnings have former
/// names, and remarks on the file.
fn question(py: Python<'_>, asked: &Arguments) -> PyResult<Question> {
    let mut line = LineText {
        down: asked.down.clone(),
        up: asked.up.clone(),
        varies: asked.varies.clone(),
        rtt: asked.rtt.clone(),
        buffer: asked.buffer.clone(),
        overhead: asked.overhead.clone(),
    };
    let source = asked.from_file.as_deref().map(|path| line.take(path)).transpose();
    let source = source.map_err(|error| refuse(py, "from_file", &error.to_string()))?;
    let remarks = source.iter().flat_map(|source| source.remarks.iter().cloned());
    for remark in remarks.chain(note_on_name(&asked.mix)) {
        let message = CString::new(format!("{WHERE}: {remark}")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)?;
    }
    if let Some(missing) = line.missing(source.as_ref()) {
        return Err(refuse(py, missing.option, &missing.why));
    }
    let effort = match asked.effort.as_str() {
        "quick" => Effort::Quick,
        "thorough" => Effort::Thorough,
        other => return Err(refuse(py, "effort", &format!("`{other}` is not known: allowed quick, thorough"))),
    };
    let unit = asked.unit.parse::<Unit>().map_err(|unknown| refuse(py, "unit", &unknown.to_string()))?;
    let options = Asked {
        down: &line.down,
        up: &line.up,
        line: &asked.line,
        overhead: &line.overhead,
        varies: &line.varies,
        rtt: &line.rtt,
        buffer: &line.buffer,
        modem: &asked.modem,
        hosts: &asked.hosts,
        cpu: &asked.cpu,
        want: &asked.want,
        flows: &asked.flows,
        cc: &asked.cc,
        mix: &asked.mix,
        hardware: &asked.hardware,
        policy: &asked.policy,
        unit,
        effort,
        seed: asked.seed,
        jobs: asked.jobs,
    };
    options.question().map_err(|error| match source.filter(|source| source.taken.contains(&error.option)) {
        Some(source) => refuse(py, "from_file", &format!("{}: {error}", source.name)),
        None => refuse(py, error.option, &error.why),
    })
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
