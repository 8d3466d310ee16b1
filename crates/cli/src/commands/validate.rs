//! `gq validate`: the same scenario in the simulator and with real kernel senders, side by side.

mod page;
mod verdict;

use crate::commands::run::Overrides;
use crate::failure::{Failure, check_file};
use crate::opening::Opening;
use crate::output::{print, say};
use crate::{backend, interrupt, progress, result};
use clap::{Args, ValueEnum};
use goodqueue_guests::backends::{AfterRetries, BackendName, VoidRunPolicy};
use goodqueue_lab::results::record::{Folder, NoRecorder, write_file};
use goodqueue_lab::run::runner::{self, Recorded, RunOptions, RunReport};
use goodqueue_lab::scenario::lint;
use goodqueue_lab::scenario::plan::Plan;
use std::path::PathBuf;
use verdict::Comparison;

/// Arguments of `gq validate`.
#[derive(Args)]
pub struct Arguments {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Host that the simulator is compared with
    #[arg(long, value_enum, default_value_t = Against::Live)]
    against: Against,
    #[command(flatten)]
    overrides: Overrides,
    /// Folder for report.html and validate.json [default: results/NAME-against-HOST]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write everything as JSON to a file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Replace what another comparison left in --out
    #[arg(long, requires = "out")]
    force: bool,
    /// Write no report.html
    #[arg(long, conflicts_with = "open")]
    no_report: bool,
    #[command(flatten)]
    opening: Opening,
    /// In real time: a void run is repeated until it was tried so often [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: Option<u32>,
    /// In real time: of a run that is void in all attempts, count the least late one, marked as
    /// void, instead of failing
    #[arg(long)]
    keep_void: bool,
}

impl Arguments {
    /// Returns the policy for void runs, which there are in real time only.
    fn voids(&self) -> Result<VoidRunPolicy, Failure> {
        if self.against != Against::Live && (self.attempts.is_some() || self.keep_void) {
            return Err(Failure::Input(format!(
                "{AGAINST} {}: no run is ever void there, so no --attempts and no --keep-void",
                self.against.host().name()
            )));
        }
        let rest = if self.keep_void { AfterRetries::LeastLate } else { AfterRetries::Fails };
        Ok(VoidRunPolicy { attempts: self.attempts.unwrap_or(VoidRunPolicy::default().attempts), rest })
    }
}

/// Host that the simulator is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Guest kernels in virtual time
    Linux,
    /// Guest kernels of Linux 7.3 in virtual time
    #[value(name = "linux-7.3")]
    Linux73,
    /// Guest kernels in virtual time, with queues in a kernel
    Kernel,
    /// Kernel senders on this machine
    Live,
}

impl Against {
    const fn host(self) -> BackendName {
        match self {
            Self::Linux => BackendName::Linux,
            Self::Linux73 => BackendName::Linux73,
            Self::Kernel => BackendName::Kernel,
            Self::Live => BackendName::Live,
        }
    }

    /// Both hosts' names.
    const fn hosts(self) -> &'static str {
        match self {
            Self::Linux => "sim, linux",
            Self::Linux73 => "sim, linux-7.3",
            Self::Kernel => "sim, kernel",
            Self::Live => "sim, live",
        }
    }
}

/// The option that names the other side.
const AGAINST: &str = "--against";

/// Points of which the page shows distributions and lines over time.
const MAX_DRAWN: usize = 12;

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.overrides.only_sim("gq validate runs on both")?;
    let voids = arguments.voids()?;
    let plan = Plan::load(&arguments.scenario)?.with_overrides(&arguments.overrides.pairs()?)?;
    let points = plan.points()?;
    let against = backend::open(AGAINST, arguments.against.host(), voids)?;
    backend::check(AGAINST, &*against, &points)?;
    against.prepare().map_err(|why| Failure::Run(format!("{AGAINST} {}: {why}", against.name())))?;
    let warnings = lint::warnings_of_points(&points);
    for warning in &warnings {
        say(&format!("warning: {warning}"));
    }
    check_file("--json", arguments.json.as_deref())?;
    let default = || {
        let name = format!("{}-against-{}", result::file_name(plan.name()), against.name());
        result::without(&PathBuf::from(result::RESULTS).join(name), "validate.json")
    };
    let folder = Folder::create(&arguments.out.clone().unwrap_or_else(default))?;
    if let Some(name) =
        ["validate.json", "report.html"].into_iter().find(|name| !arguments.force && folder.path().join(name).exists())
    {
        let place = folder.path().display();
        return Err(Failure::Input(format!("--out {place}: holds a {name}: use another folder, or replace it with --force")));
    }
    let options = RunOptions {
        jobs: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        replications: plan.replications(),
        recorded: Recorded::First,
        sample_every: None,
        packets: false,
        drawn_points: if arguments.no_report { 0 } else { MAX_DRAWN },
    };
    let stop = interrupt::stop_flag();
    let ((sim, real), _) = progress::during(2 * points.len() * options.replications as usize, |set| {
        let sim = runner::run(&points, &options, &stop, &mut |part| set(part / 2.0), &mut NoRecorder);
        let real = runner::run_on(&*against, &points, &options, &stop, &mut |part| set(0.5 + part / 2.0), &mut NoRecorder);
        (sim, real)
    });

    let comparison = Comparison::new(&points, &sim, &real);
    // The table first: whatever happens to the files, nothing finished is lost.
    let printed = print(&comparison.text());
    let json = format!("{:#}\n", comparison.to_json());
    folder.write("validate.json", json.as_bytes())?;
    if let Some(path) = &arguments.json {
        write_file(path, json.as_bytes())?;
    }
    if arguments.no_report {
        folder.remove("report.html")?;
    } else {
        let hosts = arguments.against.hosts();
        page::Page { plan: &plan, points: &points, comparison: &comparison, sim: &sim, real: &real, hosts, warnings }
            .write(&folder)?;
    }
    say(&format!("results in {}", folder.path().display()));
    printed?;
    arguments.opening.show(folder.path());
    verdict([("sim", &sim), (against.name(), &real)], comparison.differ())
}

/// Fails unless everything ran and the figures are close enough.
fn verdict(reports: [(&str, &RunReport); 2], differ: usize) -> Result<(), Failure> {
    for (name, report) in reports {
        if let Some(first) = report.failures.first() {
            return Err(Failure::Run(format!("{name}: {} runs failed; the first: {first}", report.failures.len())));
        }
        if !report.complete {
            return Err(Failure::Run(format!("{name}: interrupted before all runs had finished")));
        }
    }
    match differ {
        0 => Ok(()),
        1 => Err(Failure::Run("1 figure differs by more than is allowed".to_owned())),
        _ => Err(Failure::Run(format!("{differ} figures differ by more than is allowed"))),
    }
}
