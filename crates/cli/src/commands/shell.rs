//! `gq shell`: a program behind a line of its own, in real time.

mod report;

use crate::commands::bridge::LineSettings;
use crate::commands::path::PathSettings;
use crate::failure::{Failure, check_other_file};
use crate::output::{itself, say};
use clap::Args;
use goodqueue_guests::backends::live;
use goodqueue_lab::scenario::plan::Link;
use goodqueue_live::shell::inside::{self, Said};
use goodqueue_live::shell::{DEPTH_VARIABLE, MAX_DEPTH, Order, outside};
use report::Samples;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// Arguments of `gq shell`.
#[derive(Args)]
#[command(after_help = "Example: gq shell --rate 50/10mbit --rtt 30ms --aqm fq-codel -- curl -O https://example.org/file\n\n\
    Inside, `outside` is this machine, and `server` is what runs at the far end.")]
pub struct Arguments {
    #[command(flatten)]
    path: PathSettings,
    /// A command for a shell at the far end, whose name inside is `server`
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// Root of all randomness [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write a page with the line's rates, delays, drops and marks over time
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write every frame that leaves the line to a pcapng file
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// The program and its arguments [default: a shell]
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

/// Arguments of the processes that accompany the program.
#[derive(Args)]
pub struct StageArguments {
    /// The order, as JSON
    order: String,
    /// As of `gq shell`
    #[arg(long)]
    report: Option<PathBuf>,
    /// Words for the line in the report
    #[arg(long, default_value = "")]
    line: String,
}

/// Arguments of the process that becomes the program.
#[derive(Args)]
pub struct SeatArguments {
    /// Numbers of user and group
    #[arg(long = "as", num_args = 2, value_names = ["USER", "GROUP"])]
    user: Vec<u32>,
    #[arg(last = true)]
    program: Vec<String>,
}

/// Time between two samples of a report.
const SAMPLE: &str = "100ms";

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let settings = LineSettings { seed: arguments.seed, ..arguments.path.line()? };
    let link = settings.link()?;
    for (option, path) in [("--report", &arguments.report), ("--pcap", &arguments.pcap)] {
        if let Some(path) = path {
            check_other_file(option, path)?;
            // Better now than when the program has ended.
            let writable = std::fs::OpenOptions::new().append(true).create(true).open(path);
            writable.map_err(Failure::of(format!("{option} {}", path.display())))?;
        }
    }
    let depth = depth()?;
    let mut program = arguments.program.clone();
    if program.is_empty() {
        program.push(shell());
        say(&format!("behind {}; `exit` leaves it", words(&link)));
    }
    let mut line = own_words("bridge");
    line.extend(settings.options());
    // Frames come and go by pairs of virtual interfaces, behind which kernels join packets.
    line.extend(["--offloads", "split"].map(str::to_owned));
    if arguments.report.is_some() {
        line.extend(["--stats", SAMPLE, "--json"].map(str::to_owned));
    }
    if let Some(path) = &arguments.pcap {
        line.extend(["--pcap".to_owned(), path.display().to_string()]);
    }
    let order = Order { program, server: arguments.server.clone(), line, seat: own_words("shell-seat"), depth, connection: 0 };
    let start = |order: &Order| stage("shell-between", order, arguments.report.as_deref(), &words(&link));
    ended(outside::run(order, start))
}

/// The process between: gives itself mounts and processes of its own.
pub fn between(arguments: &StageArguments) -> Result<(), Failure> {
    let mut order = arguments.order()?;
    let start = |user: Option<(u32, u32)>| {
        if let Some((user, group)) = user {
            order.seat.extend(["--as".to_owned(), user.to_string(), group.to_string()]);
        }
        order.seat.push("--".to_owned());
        stage("shell-inside", &order, arguments.report.as_deref(), &arguments.line)
    };
    ended(outside::between(start))
}

/// The first process inside.
pub fn inside(arguments: &StageArguments) -> Result<(), Failure> {
    let order = arguments.order()?;
    let samples = Arc::new(Mutex::new(Samples::default()));
    let collected = Arc::clone(&samples);
    let tell = move |said: Said<'_>| match said {
        Said::Statistics(line) => collected.lock().unwrap_or_else(PoisonError::into_inner).add(line),
        Said::Note(line) => say(line),
    };
    let tell: Arc<dyn Fn(Said<'_>) + Send + Sync> = Arc::new(tell);
    let outcome = inside::run(&order, &tell);
    if let Some(path) = &arguments.report {
        write(path, &samples.lock().unwrap_or_else(PoisonError::into_inner), &order, &arguments.line)?;
    }
    ended(outcome)
}

fn write(path: &Path, samples: &Samples, order: &Order, line: &str) -> Result<(), Failure> {
    std::fs::write(path, report::html(samples, &order.program.join(" "), line))
        .map_err(|error| Failure::Run(format!("--report {}: {error}", path.display())))
}

/// The process that becomes the program.
pub fn seat(arguments: &SeatArguments) -> Result<(), Failure> {
    let user = if let [user, group] = arguments.user[..] { Some((user, group)) } else { None };
    let error = inside::take_seat(user, &arguments.program);
    say(&format!("{}: {error}", arguments.program.first().map_or("", String::as_str)));
    // As shells do.
    Err(Failure::Program(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }))
}

impl StageArguments {
    fn order(&self) -> Result<Order, Failure> {
        serde_json::from_str(&self.order).map_err(Failure::of("this command is started by gq shell"))
    }
}

fn ended(outcome: io::Result<u8>) -> Result<(), Failure> {
    match outcome {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure::Program(code)),
        Err(error) => Err(Failure::Run(error.to_string())),
    }
}

/// The words that start this program with another command.
fn own_words(command: &str) -> Vec<String> {
    itself().iter().map(|word| word.to_string_lossy().into_owned()).chain([command.to_owned()]).collect()
}

/// The command that starts the next of the processes that accompany the program.
fn stage(name: &str, order: &Order, report: Option<&Path>, line: &str) -> Command {
    let words = own_words(name);
    let mut command = Command::new(&words[0]);
    // An order holds nothing but words and numbers, which JSON has.
    command.args(&words[1..]).arg(serde_json::to_string(order).unwrap_or_default()).arg("--line").arg(line);
    if let Some(path) = report {
        command.arg("--report").arg(path);
    }
    command
}

/// The line in words.
fn words(link: &Link) -> String {
    let way = |direction: &goodqueue_lab::scenario::plan::LinkDirection| {
        format!("{} at {} with {} of delay", live::name(direction), direction.nominal_rate(), direction.delay)
    };
    format!("{}, and back {}", way(&link.down), way(&link.up))
}

#[allow(clippy::disallowed_methods, reason = "how many shells are around this one, and which shell its user prefers")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn depth() -> Result<u8, Failure> {
    let around = variable(DEPTH_VARIABLE).and_then(|text| text.parse().ok()).unwrap_or(0);
    if around > MAX_DEPTH {
        return Err(Failure::Input(format!("gq shell: {around} shells are around this one: allowed {MAX_DEPTH}")));
    }
    Ok(around)
}

fn shell() -> String {
    variable("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned())
}
