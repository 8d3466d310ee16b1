//! `gq compare`: queues on one line, side by side, without a file.

use crate::commands::circuits::{Controllers, Network, Rest};
use crate::failure::Failure;
use crate::failure::options::at_options;
use crate::output::say;
use crate::result::{self, Job};
use crate::settings::RunSettings;
use clap::{ArgGroup, Args};
use goodqueue_lab::run::backend::Simulator;
use goodqueue_lab::scenario::compare::{Comparison, Line, Load, Signal};
use goodqueue_lab::scenario::input::remember_named;
use goodqueue_lab::scenario::mix::Mix;
use goodqueue_lab::scenario::plan::{Plan, PlanError};
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of `gq compare`.
#[derive(Args)]
#[command(group(ArgGroup::new("line").required(true).args(["rate", "trace", "circuits"])))]
#[command(after_help = "Examples:
  gq compare --rate 10mbit --rtt 20ms --buffer 1bdp --flows 16 --aqm codel,pie,cp-aqm
  gq compare --rate 50/10mbit --buffer-up 500ms --aqm fq-codel,cake --traffic evening
  gq compare --rate 20mbit --cc cubic,bbr
  gq compare --circuits ShapedDevices.csv --network network.json")]
pub struct Arguments {
    /// All circuits of a network, in place of one line: LibreQoS' ShapedDevices.csv
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_A_LINE)]
    circuits: Option<PathBuf>,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    controllers: Controllers,
    /// Rate of the bottleneck, for instance 10mbit; or down and up, for instance 50/10mbit
    #[arg(long)]
    rate: Option<String>,
    /// Rate of the upload direction, which then has its own buffer and uploads
    #[arg(long, value_name = "RATE", requires = "rate")]
    rate_up: Option<String>,
    /// Recorded rate of the bottleneck: a mahimahi file of delivery opportunities
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Recorded rate of the upload direction, which then has its own buffer
    #[arg(long, value_name = "FILE", requires = "trace")]
    trace_up: Option<String>,
    /// Round-trip time without queueing
    #[arg(long, value_name = "TIME", default_value = "20ms")]
    rtt: String,
    /// Framing of the bottleneck: bytes for each packet, for instance 22B, or keywords of tc-cake,
    /// for instance pppoe-ptm
    #[arg(long, value_name = "FRAMING")]
    overhead: Option<String>,
    /// Buffer of the bottleneck, for instance 1bdp, 100packets, 45kB or 50ms
    #[arg(long, value_name = "AMOUNT", default_value = Comparison::USUAL_BUFFER)]
    buffer: String,
    /// Buffer of the upload direction [default: as --buffer]
    #[arg(long, value_name = "AMOUNT")]
    buffer_up: Option<String>,
    /// Traffic over the line: a mix, see gq list mix, or a file with [[traffic]] tables [default:
    /// download, or backup on lines of two rates, or slow]
    #[arg(long, value_name = "MIX|FILE")]
    traffic: Option<String>,
    /// Bulk flows of each congestion control [default: as the mix has, usually 4]
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
    /// The same for uploads [default: as the mix has, usually 1]
    #[arg(long, value_name = "N")]
    flows_up: Option<u32>,
    /// Congestion control, as KIND or KIND:PARAMETER=VALUE:…, see gq list cc; of several, each has
    /// bulk flows of its own
    #[arg(long, value_name = "CC,…", value_delimiter = ',', default_value = "cubic")]
    cc: Vec<String>,
    /// Queues, see gq list aqm; parameters follow a colon: codel:target=10ms, fair:pie
    #[arg(long, value_name = "AQM,…", value_delimiter = ',', default_values = Comparison::USUAL)]
    aqm: Vec<String>,
    /// Queues of the upload direction, each combined with each of --aqm [default: the same in both
    /// directions]
    #[arg(long, value_name = "AQM,…", value_delimiter = ',')]
    aqm_up: Vec<String>,
    /// Mark instead of drop where queues can
    #[arg(long)]
    ecn: bool,
    /// Time before measuring begins [default: 30s for mixes of sessions, 120s where videos compete
    /// with downloads, else 5s]
    #[arg(long, value_name = "TIME")]
    warmup: Option<String>,
    /// The measured part, after the warm-up [default: 120s for mixes of sessions, else 30s, or as
    /// long as the recording]
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
    /// Independent repetitions of each queue
    #[arg(long, value_name = "N", default_value_t = Comparison::USUAL_REPLICATIONS)]
    replications: u32,
    /// Root of all randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    settings: RunSettings,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.circuits {
        return circuits(arguments, file);
    }
    let line = match (&arguments.rate, &arguments.trace) {
        (Some(rate), _) => Line::rates(rate, arguments.rate_up.as_deref()).map_err(Failure::input)?,
        (None, Some(down)) => Line::Trace { down: absolute(down), up: arguments.trace_up.as_deref().map(absolute) },
        (None, None) => return Err(Failure::Input("one of --rate and --trace is needed".to_owned())),
    };
    let comparison = Comparison {
        line,
        rtt: arguments.rtt.clone(),
        overhead: arguments.overhead.clone(),
        buffer: arguments.buffer.clone(),
        buffer_up: arguments.buffer_up.clone(),
        traffic: arguments.traffic.as_deref().map_or(Ok(Load::Usual), load)?,
        flows: arguments.flows,
        flows_up: arguments.flows_up,
        cc: arguments.cc.clone(),
        aqm: arguments.aqm.clone(),
        aqm_up: arguments.aqm_up.clone(),
        signal: if arguments.ecn { Signal::Mark } else { Signal::Drop },
        warmup: arguments.warmup.clone(),
        duration: arguments.duration.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
    };
    let made = comparison.scenario().map_err(Failure::input)?;
    let text = made.toml;
    let plan = Plan::parse("scenario made from the options", &text, Path::new("")).map_err(|error| refuse(&error, arguments))?;
    for note in &made.notes {
        say(&format!("note: {note}"));
    }
    let measured = plan.point(0)?.plan.duration;
    if let Some(recorded) = made.recorded.filter(|recorded| measured < *recorded) {
        say(&format!("note: {measured} of {recorded} of the recording are measured"));
    }
    result::produce(&Job {
        plan: &plan,
        scenario_text: &text,
        overrides: &[],
        folder: "compare",
        settings: &arguments.settings,
        host: &Simulator,
    })
}

/// Options of [`Arguments`] about one line, or about what its runs record.
const OF_A_LINE: [&str; 20] = [
    "rate_up",
    "trace_up",
    "overhead",
    "buffer_up",
    "flows",
    "flows_up",
    "cc",
    "aqm_up",
    "ecn",
    "warmup",
    "duration",
    "replications",
    "out",
    "packets",
    "qlog",
    "record",
    "sample",
    "policy",
    "unit",
    "no_report",
];
/// The queues compared for circuits when none are named: none, and those of shapers at providers.
const FOR_CIRCUITS: [&str; 3] = ["tail-drop", "fq-codel", "cake"];

/// Compares queues for all circuits of a network.
fn circuits(arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let is_usual = arguments.aqm == Comparison::USUAL;
    let usual = if arguments.controllers.is_storm() { &FOR_CIRCUITS[2..] } else { &FOR_CIRCUITS[..] };
    let usual = if arguments.controllers.is_tree() { &FOR_CIRCUITS[1..] } else { usual };
    let queues = if is_usual { usual.iter().map(|one| (*one).to_owned()).collect() } else { arguments.aqm.clone() };
    arguments.network.run(
        file,
        &Rest {
            queues,
            mix: ("--traffic", arguments.traffic.as_deref()),
            rtt: &arguments.rtt,
            buffer: &arguments.buffer,
            seed: arguments.seed,
            jobs: arguments.settings.jobs.count(),
            json: arguments.settings.json.as_deref(),
            is_recommended: false,
            controllers: Some(&arguments.controllers),
        },
    )
}

/// Larger files of traffic are not read.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// A mix by its name, or the tables of a file.
fn load(text: &str) -> Result<Load, Failure> {
    let refuse = |why: String| Failure::Input(format!("--traffic: {text}: {why}"));
    if Mix::named(text).is_some() {
        return Ok(Load::Mix(text.to_owned()));
    }
    let Ok(facts) = fs::metadata(text) else { return Ok(Load::Mix(text.to_owned())) };
    if !facts.is_file() || facts.len() > MAX_FILE_SIZE {
        return Err(refuse(format!("is not a regular file of at most {MAX_FILE_SIZE} bytes")));
    }
    remember_named(Path::new(text));
    fs::read_to_string(text).map(Load::Toml).map_err(|error| refuse(error.to_string()))
}

/// The options at fault.
fn refuse(error: &PlanError, arguments: &Arguments) -> Failure {
    at_options(error, |field| match Comparison::option_of(field) {
        // Without it both directions have the queues of --aqm.
        Some("--aqm-up") if arguments.aqm_up.is_empty() => Some("--aqm"),
        option => option,
    })
}

/// The scenario is written to the folder of results, from where a relative path would not lead to
/// the recording.
fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}
