//! `gq compare`: queues on one line, side by side, without a file.

use crate::failure::Failure;
use crate::result::{self, Job};
use crate::settings::RunSettings;
use clap::{ArgGroup, Args};
use goodqueue_lab::compare::{Comparison, Line, Signal};
use goodqueue_lab::hosts::Simulator;
use goodqueue_lab::plan::{Fault, Plan, PlanError};
use std::path::Path;

/// Arguments of `gq compare`.
#[derive(Args)]
#[command(group(ArgGroup::new("line").required(true).args(["rate", "trace"])))]
#[command(after_help = "Example: gq compare --rate 10mbit --rtt 20ms --buffer 1bdp --flows 16 --aqm codel,pie,cp-aqm")]
pub struct Arguments {
    /// Rate of the bottleneck, for instance 10mbit
    #[arg(long)]
    rate: Option<String>,
    /// Recorded rate of the bottleneck: a mahimahi file of delivery opportunities
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Recorded rate of the way back, which has a buffer of its own then
    #[arg(long, value_name = "FILE", requires = "trace")]
    trace_up: Option<String>,
    /// Round-trip time without queueing
    #[arg(long, value_name = "TIME", default_value = "20ms")]
    rtt: String,
    /// Buffer of the bottleneck, for instance 1bdp, 100packets, 45kB or 50ms
    #[arg(long, value_name = "AMOUNT", default_value = "4bdp")]
    buffer: String,
    /// Bulk flows
    #[arg(long, value_name = "N", default_value_t = 4)]
    flows: u32,
    /// Their congestion control, as KIND or KIND:PARAMETER=VALUE:…, see gq list cc
    #[arg(long, value_name = "CC", default_value = "cubic")]
    cc: String,
    /// Queues, see gq list aqm; parameters follow a colon: codel:target=10ms, fair:pie
    #[arg(long, value_name = "AQM,…", value_delimiter = ',', default_values = Comparison::USUAL)]
    aqm: Vec<String>,
    /// Mark instead of drop where queues can
    #[arg(long)]
    ecn: bool,
    /// Time before measuring begins
    #[arg(long, value_name = "TIME", default_value = "5s")]
    warmup: String,
    /// The measured part, after the warm-up
    #[arg(long, value_name = "TIME", default_value = "30s")]
    duration: String,
    /// Independent repetitions of each queue
    #[arg(long, value_name = "N", default_value_t = 5)]
    replications: u32,
    /// Root of all randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    settings: RunSettings,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let line = match (&arguments.rate, &arguments.trace) {
        (Some(rate), _) => Line::Rate(rate.clone()),
        (None, Some(down)) => Line::Trace { down: absolute(down), up: arguments.trace_up.as_deref().map(absolute) },
        (None, None) => return Err(Failure::Input("one of --rate and --trace is needed".to_owned())),
    };
    let comparison = Comparison {
        line,
        rtt: arguments.rtt.clone(),
        buffer: arguments.buffer.clone(),
        flows: arguments.flows,
        cc: arguments.cc.clone(),
        aqm: arguments.aqm.clone(),
        signal: if arguments.ecn { Signal::Mark } else { Signal::Drop },
        warmup: arguments.warmup.clone(),
        duration: arguments.duration.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
    };
    let text = comparison.scenario().map_err(|error| Failure::Input(error.to_string()))?;
    let plan = Plan::parse("scenario made from the options", &text, Path::new("")).map_err(|error| refuse(&error))?;
    result::produce(&Job {
        plan: &plan,
        scenario_text: &text,
        overrides: &[],
        folder: "compare",
        settings: &arguments.settings,
        host: &Simulator,
    })
}

/// The options at fault: nobody has seen the lines of a scenario that was made from them.
fn refuse(error: &PlanError) -> Failure {
    let line = |fault: &Fault| {
        let place = Comparison::option_of(fault.field()).map_or_else(|| fault.place(), str::to_owned);
        let help = fault.suggestion().map_or_else(String::new, |help| format!("; {help}"));
        let parameter = fault.field().strip_prefix("link.bottleneck.queue.").map_or_else(String::new, |name| format!("{name}: "));
        format!("{place}: {parameter}{}{help}", fault.message())
    };
    Failure::Input(error.faults().map(line).collect::<Vec<_>>().join("\nerror: "))
}

/// The scenario is written to the folder of results, from where a relative path would not lead to the recording.
fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}
