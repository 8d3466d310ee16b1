//! goodqueue for Python: the extension module `goodqueue._core`. It is glue code, one file per
//! domain, without decisions of its own; users see the package in `crates/python/goodqueue`.

mod compare;
mod custom;
mod drive;
mod error;
mod in_memory_recorder;
mod plan;
mod plot;
mod qdisc;
mod recommend;
mod report;
mod run;
mod stored;
mod sweep;
mod table;
mod tables;

use pyo3::prelude::*;
use std::ffi::OsString;

/// The module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::compare::comparison;
    #[pymodule_export]
    use super::custom::{Decision, Packet, QueueState};
    #[pymodule_export]
    use super::drive::drive;
    #[pymodule_export]
    use super::kinds;
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::plot::{draw, looks};
    #[pymodule_export]
    use super::qdisc::Driven;
    #[pymodule_export]
    use super::recommend::recommendation;
    #[pymodule_export]
    use super::report::Report;
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::stored::StoredResult;
    #[pymodule_export]
    use super::sweep::{SweepFolder, another_sweep, failed_point, is_point, run_point, sweep, sweep_facts, sweep_summary};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::version;
}

/// Version and commit of this build.
#[pyfunction]
fn version() -> (&'static str, &'static str) {
    (goodqueue_lab::results::provenance::VERSION, goodqueue_lab::results::provenance::COMMIT)
}

/// Names of the available queues.
#[pyfunction]
fn kinds() -> Vec<&'static str> {
    goodqueue_aqm::sched::kinds().map(|spec| spec.kind).collect()
}

/// The `gq` command: runs it with `arguments` and returns the exit code. `itself` is the command
/// that starts it again with other arguments.
#[pyfunction]
fn command(py: Python<'_>, itself: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| goodqueue_cli::run(itself, arguments))
}
