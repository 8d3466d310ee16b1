//! `gq check`: parse and lint, run nothing.

use crate::backend;
use crate::commands::run::Overrides;
use crate::failure::Failure;
use crate::output::print;
use clap::Args;
use goodqueue_base::units::Duration;
use goodqueue_lab::run::backend::{Backend as _, Simulator};
use goodqueue_lab::run::runner;
use goodqueue_lab::scenario::lint;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_lab::verdict::words::count;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Arguments of `gq check`.
#[derive(Args)]
pub struct Arguments {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let host = arguments.overrides.host()?;
    let plan = Plan::load(&arguments.scenario)?.with_overrides(&arguments.overrides.pairs()?)?;
    let points = plan.points()?;
    backend::check("--on", &*host, &points)?;
    // What only kernels have cannot be built here.
    for point in points.iter().filter(|point| Simulator.check(point).is_ok()) {
        runner::try_build(point).map_err(|failure| Failure::Input(format!("{}: {failure}", arguments.scenario.display())))?;
    }
    let replications = plan.replications() as usize;
    let runs = points.len() * replications;
    let seconds: f64 = points.iter().map(|point| (point.plan.warmup + point.plan.duration).as_secs_f64()).sum();
    let seconds = seconds * replications as f64;
    // A duration ends where 64 bits of nanoseconds do.
    let simulated = if seconds < 1e10 { Duration::from_secs_f64(seconds).to_string() } else { format!("{seconds:.0} s") };
    let mut text = format!("{}: good\n", arguments.scenario.display());
    let _ = writeln!(
        text,
        "{}: {} and {}, {} to simulate {simulated} in all",
        plan.name(),
        count(points.len(), "point"),
        count(replications, "replication"),
        count(runs, "run")
    );
    for warning in lint::warnings_of_points(&points) {
        let _ = writeln!(text, "warning: {warning}");
    }
    Ok(print(&text)?)
}
