//! `gq exec`: unmodified programs across a simulated network, in virtual time.

use crate::commands::path::PathSettings;
use crate::commands::run::Overrides;
use crate::failure::Failure;
use crate::output::{itself, print, say};
use crate::{backend, interrupt, progress};
use clap::Args;
use goodqueue_guests::backends::BackendName;
use goodqueue_guests::backends::linux::Linux;
use goodqueue_guests::linux::{ProgramSaid, Programs, Series};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_sim::{Continue, Outcome, WorldSpec};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Arguments of `gq exec`.
#[derive(Args)]
#[command(
    after_help = "Example: gq exec --rate 50/10mbit --rtt 30ms --aqm fq-codel --server 'iperf3 -s -4 -1' -- iperf3 -c server -R"
)]
pub struct Arguments {
    /// The scenario: its links, queues and traffic; not with --rate and the like
    #[arg(value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    path: PathSettings,
    /// Command that runs at the senders' side from the start, in a shell; the client
    /// knows it as `server`
    #[arg(long, value_name = "COMMAND", default_value = "true")]
    server: String,
    /// Command that runs at the receivers' side from the end of the warm-up on, in a
    /// shell; its end ends the run
    #[arg(long, value_name = "COMMAND", conflicts_with = "program")]
    client: Option<String>,
    /// The kernel's congestion control for programs that choose none
    #[arg(long, value_name = "CC", default_value = "cubic")]
    cc: String,
    #[command(flatten)]
    overrides: Overrides,
    /// The client and its arguments, instead of --client
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

/// Virtual time that a client has without a scenario; it ends the run before.
const MAX: &str = "1 h";

impl Arguments {
    fn plan(&self) -> Result<Plan, Failure> {
        let plan = match (&self.scenario, self.path.is_given()) {
            (Some(path), false) => Plan::load(path)?,
            (Some(path), true) => {
                let message = format!("{}: describes the path, and so do --rate and the like: give one of them", path.display());
                return Err(Failure::Input(message));
            }
            (None, _) => self.path.line()?.plan(MAX)?,
        };
        Ok(plan.with_overrides(&self.overrides.pairs()?)?)
    }

    /// The client as a command for a shell.
    fn client(&self) -> Result<String, Failure> {
        match &self.client {
            Some(command) => Ok(command.clone()),
            None if self.program.is_empty() => Err(Failure::Input("no client: give a program after --, or --client".to_owned())),
            None => shlex::try_join(self.program.iter().map(String::as_str))
                .map_err(Failure::of("the client cannot be quoted for a shell")),
        }
    }
}

/// The series of the guests' kernel.
fn series(overrides: &Overrides) -> Result<Series, Failure> {
    match overrides.host_name()? {
        BackendName::Sim | BackendName::Linux => Ok(Series::V6_12),
        BackendName::Linux73 => Ok(Series::V7_3),
        name @ (BackendName::Kernel | BackendName::Live) => {
            Err(Failure::Input(format!("--on {}: programs run in guests: allowed linux, linux-7.3", name.name())))
        }
    }
}

/// Exit code of the client, and the time of its exit, in seconds of virtual time.
type Ending = Option<(i32, f64)>;

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let series = series(&arguments.overrides)?;
    let (plan, client) = (arguments.plan()?, arguments.client()?);
    let points = plan.points()?;
    let [point] = &points[..] else {
        let message = format!("gq exec runs one point, and {} has {}: set what is swept", plan.name(), points.len());
        return Err(Failure::Input(message));
    };
    let linux = Linux::find(itself(), series).map_err(|missing| Failure::Input(missing.to_string()))?;
    backend::check("--on", &linux, &points)?;
    if !linux.controls().contains(&arguments.cc.as_str()) {
        let known = linux.controls().join(", ");
        return Err(Failure::Input(format!("--cc {}: is not in the guest kernel, which has {known}", arguments.cc)));
    }
    let folder = std::env::current_dir().map_err(|error| Failure::Run(format!("the current folder: {error}")))?;
    for (name, text) in
        [("--server", &arguments.server), ("the client", &client), ("the current folder", &folder.display().to_string())]
    {
        if text.contains('\n') {
            return Err(Failure::Input(format!("{name}: must be one line")));
        }
    }
    let spec = build::world(point, 0);
    let mut ending: Ending = None;
    let mut told = |said: ProgramSaid<'_>| tell(said, &mut ending);
    let mut programs = Programs::new(arguments.server.clone(), client, &mut told);
    programs.folder = folder.display().to_string();
    programs.control.clone_from(&arguments.cc);
    if !point.plan.warmup.is_zero() {
        programs.start = point.plan.warmup;
    }
    (programs.forward, programs.reverse) = way(&spec);
    let stop = interrupt::stop_flag();
    let (outcome, _) = progress::during(1, |set| {
        linux.execute(&spec, &mut programs, &mut |at| {
            set(at.now.as_nanos() as f64 / at.end.as_nanos().max(1) as f64);
            if stop.load(Ordering::Relaxed) { Continue::Stop } else { Continue::Yes }
        })
    });
    drop(programs);
    let outcome = outcome.map_err(|error| Failure::Run(error.to_string()))?;
    report(&outcome, ending, stop.load(Ordering::Relaxed))
}

/// The way of the first traffic that has one in both directions.
fn way(spec: &WorldSpec) -> (Vec<u32>, Vec<u32>) {
    let both = spec.flows.iter().find(|flow| !flow.reverse.is_empty());
    both.map_or_else(|| (vec![0], vec![1]), |flow| (flow.forward.clone(), flow.reverse.clone()))
}

/// Passes on the client's output on standard output; the server's goes to standard error.
fn tell(said: ProgramSaid<'_>, ending: &mut Ending) {
    match said {
        ProgramSaid::Client(bytes) => {
            // A reader that has gone will be told of at the end.
            let _ = print(&String::from_utf8_lossy(bytes));
        }
        ProgramSaid::Server(bytes) => {
            let mut error = std::io::stderr().lock();
            for line in String::from_utf8_lossy(bytes).lines() {
                let _ = writeln!(error, "server: {line}");
            }
        }
        ProgramSaid::ServerExit(0) => {}
        ProgramSaid::ServerExit(code) => say(&format!("the server ended with code {code}")),
        ProgramSaid::ClientExit(code, at) => *ending = Some((code, at.as_secs_f64())),
    }
}

fn report(outcome: &Outcome, ending: Ending, interrupted: bool) -> Result<(), Failure> {
    for link in &outcome.links {
        let counters = &link.counters;
        say(&format!(
            "{}: {:.2} % of the measured part in use, {:.2} packets waiting, {} of {} packets dropped, {} marked",
            link.name,
            100.0 * link.sent_bits / link.capacity_bits.max(1.0),
            link.queue_packets,
            counters.dropped_total().packets.get(),
            counters.arrived.packets.get(),
            counters.marked.packets.get(),
        ));
    }
    match ending {
        Some((0, at)) => {
            say(&format!("the client ended at {at:.3} s of virtual time"));
            Ok(())
        }
        Some((code, at)) => Err(Failure::Run(format!("the client ended with code {code} at {at:.3} s of virtual time"))),
        None if interrupted => Err(Failure::Run("interrupted before the client had ended".to_owned())),
        None => Err(Failure::Run("the client had not ended when the scenario did; a longer duration gives it time".to_owned())),
    }
}
