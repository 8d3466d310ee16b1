//! `gq run`: a scenario file with its sweep and replications.

use crate::backend;
use crate::failure::Failure;
use crate::result::{self, Job};
use crate::settings::{self, RunSettings};
use clap::Args;
use goodqueue_guests::backends::{BackendName, VoidRunPolicy};
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::scenario::plan::Plan;
use std::path::PathBuf;

/// Arguments of `gq run`.
#[derive(Args)]
pub struct Arguments {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    settings: RunSettings,
}

/// Changes to a scenario that leave its file as it is.
#[derive(Args)]
pub struct Overrides {
    /// Where it runs: sim, the simulator; linux, guest kernels in virtual time, or linux-7.3, those
    /// of Linux 7.3; kernel, the same with queues in a kernel; or live, this machine's own kernel
    /// in real time
    #[arg(long, value_name = "HOST", default_value = "sim")]
    on: String,
    /// Set a key of the scenario, for instance link.bottleneck.rate='20 Mbit/s'; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Root of all randomness, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Independent repetitions of each point, instead of the scenario's
    #[arg(long, value_name = "N")]
    replications: Option<u64>,
}

impl Overrides {
    /// The name of the host it is to run on.
    pub fn host_name(&self) -> Result<BackendName, Failure> {
        BackendName::read(&self.on).map_err(|why| Failure::Input(format!("--on {}: {why}", self.on)))
    }

    /// The host it is to run on.
    pub fn host(&self) -> Result<Box<dyn Backend + Send>, Failure> {
        backend::open("--on", self.host_name()?, VoidRunPolicy::default())
    }

    /// For commands that have no choice of hosts: `why` explains that when one is asked for.
    pub fn only_sim(&self, why: &str) -> Result<(), Failure> {
        let is_sim = self.host_name()? == BackendName::Sim;
        if is_sim { Ok(()) } else { Err(Failure::Input(format!("--on {}: {why}", self.on))) }
    }

    /// As dotted keys and values, `--seed` and `--replications` last.
    pub fn pairs(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut pairs = settings::pairs(&self.set)?;
        let numbers = [("seed", self.seed), ("replications", self.replications)];
        pairs.extend(numbers.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_string()))));
        Ok(pairs)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let host = arguments.overrides.host()?;
    let overrides = arguments.overrides.pairs()?;
    let plan = Plan::load(&arguments.scenario)?.with_overrides(&overrides)?;
    let scenario_text = plan.source_text();
    result::produce(&Job {
        plan: &plan,
        scenario_text,
        overrides: &overrides,
        folder: plan.name(),
        settings: &arguments.settings,
        host: &*host,
    })
}
