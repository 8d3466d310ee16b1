//! `gq sweep`: every point of a scenario's sweep, one file each; a stopped sweep resumes.

use crate::commands::run::Overrides;
use crate::failure::Failure;
use crate::output::{self, print, say};
use crate::settings::Jobs;
use crate::{interrupt, progress, table};
use clap::Args;
use goodqueue_lab::run::sweep::{Sweep, SweepEnd, SweepError};
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_lab::verdict::words::count;
use std::path::PathBuf;

/// Arguments of `gq sweep`.
#[derive(Args)]
#[command(after_help = "Finished points are kept: the same command resumes a stopped sweep and ends with the same bytes.")]
pub struct Arguments {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    jobs: Jobs,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.overrides.only_sim("a sweep runs on sim")?;
    let plan = Plan::load(&arguments.scenario)?.with_overrides(&arguments.overrides.pairs()?)?;
    let sweep = Sweep::open(&plan, plan.source_text(), &arguments.out)?;
    let stop = interrupt::stop_flag();
    let runs = plan.point_count() * plan.replications() as usize;
    let (ended, _) = progress::during(runs, |progress| sweep.run(arguments.jobs.count(), &stop, progress));
    let (end, headline) = ended?;
    print(&format!("{}\n", told(&end)))?;
    say(&format!("results in {}", arguments.out.display()));
    print(&format!("\n{}\n", table::wrapped(&headline.text, output::width())))?;
    verdict(&end, &arguments.out)
}

fn told(end: &SweepEnd) -> String {
    let before = if end.found > 0 { format!(", {} of them from before", end.found) } else { String::new() };
    format!("{} of {} points finished{before}", end.finished, end.points)
}

fn verdict(end: &SweepEnd, out: &std::path::Path) -> Result<(), Failure> {
    let failed = out.join("failed");
    match end {
        SweepEnd { failed: some @ 1.., .. } => {
            Err(Failure::Run(format!("{} failed: see {}", count(*some, "point"), failed.display())))
        }
        end if end.is_complete() => Ok(()),
        _ => Err(Failure::Run("interrupted: the same command resumes".to_owned())),
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Record(error) => error.into(),
            SweepError::Other { .. } | SweepError::Foreign { .. } | SweepError::Unreadable { .. } => {
                Self::Input(format!("--out {error}"))
            }
        }
    }
}
