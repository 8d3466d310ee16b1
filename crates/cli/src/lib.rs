//! `gq`: queue experiments from the command line, as a library for programs that offer the same
//! command.
#![forbid(unsafe_code)]

mod backend;
mod commands;
#[doc(hidden)]
pub mod failure;
mod help;
#[doc(hidden)]
pub mod interrupt;
#[cfg(target_os = "linux")]
mod lock;
mod mistakes;
mod opening;
#[doc(hidden)]
pub mod output;
mod progress;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod reference;
mod result;
mod settings;
mod table;

#[doc(hidden)]
#[cfg(target_os = "linux")]
pub use commands::bridge::try_orders;

use clap::{Args as _, CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use std::ffi::OsString;
use std::io::Write as _;
use std::panic::UnwindSafe;

/// Active queue management, measured: run scenarios, compare algorithms, see what a queue does to
/// delay.
#[derive(Parser)]
#[command(name = "gq", version = VERSION_AND_COMMIT, max_term_width = 120, arg_required_else_help = true)]
#[command(after_help = "Examples:
  gq compare --rate 10mbit --rtt 20ms --aqm tail-drop,codel,fq-codel --open
  gq recommend --down 50mbit --up 10mbit
  gq import speedtest test.json > line.toml && gq run line.toml
  gq list aqm fq-codel

Documentation: gq COMMAND --help, gq man COMMAND, and docs/README.md of the source,
which packages install below share/doc/goodqueue.
Exit codes: 0 success, 1 a run failed or was interrupted, 2 bad usage or input.")]
struct Cli {
    /// When text is bold or colored
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = output::Color::Auto, display_order = 900)]
    color: output::Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare queues on one line; no file needed.
    Compare(Box<commands::compare::Arguments>),
    /// Find the queue, settings and shaped rate for a line that is known only roughly.
    Recommend(Box<commands::recommend::Arguments>),
    /// Judge a queue by RFC 7928, or a congestion control by RFC 9743.
    Evaluate(commands::evaluate::Arguments),
    /// Run a scenario file with its sweep and replications.
    Run(commands::run::Arguments),
    /// Compare a run with stored results; exit with 1 when something is significantly worse.
    Gate(commands::gate::Arguments),
    /// Run every point of a scenario's sweep, one file each; the same command resumes.
    Sweep(commands::sweep::Arguments),
    /// Rerun the published studies of the gallery: which statements hold, and every figure.
    Reproduce(commands::reproduce::Arguments),
    /// Parse and check a scenario without running it.
    Check(commands::check::Arguments),
    /// Write a scenario's queues as tc lines or as the configuration of a router.
    Export(Box<commands::export::Arguments>),
    /// Draw a figure for a paper from a result: PDF, SVG or PNG.
    Plot(Box<commands::plot::Arguments>),
    /// Make a scenario from a measurement: a speed test, a host's queues, a log, a recording.
    Import(commands::import::Arguments),
    /// Compare recorded and simulated connections.
    Qlog(commands::qlog::Arguments),
    /// Find what keeps packets from the queue management of this host, and how to fix it.
    Doctor(commands::doctor::Arguments),
    /// List names, parameters, units, defaults, ranges and sources.
    List(commands::list::Arguments),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Linux(LinuxCommand),
    /// Watch queues at work in a browser, and change things while they run.
    Serve(commands::serve::Arguments),
    /// Is a command of `gq-checks`.
    #[command(hide = true, disable_help_flag = true)]
    Conformance(Moved),
    /// Is a command of `gq-checks`.
    #[command(hide = true, disable_help_flag = true)]
    Packetdrill(Moved),
    /// Print how to cite goodqueue, and the sources of algorithms or of a result.
    Cite(commands::cite::Arguments),
    /// Print the completion script of a shell.
    Completions(commands::completions::Arguments),
    /// Print or write manual pages.
    Man(commands::man::Arguments),
    /// Print version, commit, platform and license.
    Version,
}

/// Commands that need Linux.
#[cfg(target_os = "linux")]
#[derive(Subcommand)]
enum LinuxCommand {
    /// Run a scenario in the simulator and with real kernel senders, side by side.
    Validate(commands::validate::Arguments),
    /// Run unmodified programs across a simulated network, in virtual time.
    Exec(Box<commands::exec::Arguments>),
    /// Measure the line between two machines of your own, and whether a change to it helped.
    Measure(commands::measure::Arguments),
    /// Run a program, or a shell, behind a line of its own, in real time and without privileges.
    Shell(Box<commands::shell::Arguments>),
    /// Put a shaped line with a queue between two network interfaces.
    Bridge(Box<commands::bridge::Arguments>),
    /// Replay the recorded packets of a bridge without a network, and compare every verdict.
    Replay(commands::replay::Arguments),
    /// Puts interfaces back as they were when a bridge is gone.
    #[command(hide = true)]
    BridgeKeeper(commands::bridge::KeeperArguments),
    /// Takes the namespaces of `gq shell`.
    #[command(hide = true)]
    ShellBetween(commands::shell::StageArguments),
    /// Is the first process in the namespaces of `gq shell`.
    #[command(hide = true)]
    ShellInside(commands::shell::StageArguments),
    /// Becomes the program of `gq shell`.
    #[command(hide = true)]
    ShellSeat(commands::shell::SeatArguments),
    /// Does the job of a guest of `--on linux`, inside it.
    #[command(hide = true)]
    LinuxGuest(commands::guest::Arguments),
}

/// Arguments of a command that another program has now.
#[derive(clap::Args)]
struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

impl Moved {
    fn failure(command: &str) -> Failure {
        Failure::Input(format!("gq {command} has moved: use gq-checks {command}"))
    }
}

/// Carries out a command and gives its exit code. `arguments` are those after the program's name.
///
/// `itself` is how this process is started again with other arguments: a program and what comes
/// before them. Prints to standard output and standard error, and handles interrupts: this is the
/// whole of a process's work, not a part of it.
pub fn run(itself: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    output::remember_itself(itself);
    carry_out(|| {
        let named = std::iter::once(OsString::from("gq")).chain(arguments.iter().cloned());
        output::remember_command_line(named.clone());
        let words = with_negative_values(named);
        if let Some(arguments) = as_run(&words) {
            return commands::run::run(&arguments);
        }
        let Cli { color, command } = match parse(&words) {
            Ok(command) => command,
            // Help was asked for.
            Err(error) if !error.use_stderr() => return Ok(error.print().and_then(|()| std::io::stdout().flush())?),
            Err(error) => error.exit(),
        };
        output::remember_color(color);
        match command {
            Command::Compare(arguments) => commands::compare::run(&arguments),
            Command::Recommend(arguments) => commands::recommend::run(&arguments),
            Command::Evaluate(arguments) => commands::evaluate::run(&arguments),
            Command::Run(arguments) => commands::run::run(&arguments),
            Command::Gate(arguments) => commands::gate::run(&arguments),
            Command::Sweep(arguments) => commands::sweep::run(&arguments),
            Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
            Command::Check(arguments) => commands::check::run(&arguments),
            Command::Export(arguments) => commands::export::run(&arguments),
            Command::Plot(arguments) => commands::plot::run(&arguments),
            Command::Doctor(arguments) => commands::doctor::run(&arguments),
            Command::Import(arguments) => commands::import::run(&arguments),
            Command::Qlog(arguments) => commands::qlog::run(&arguments),
            Command::List(arguments) => commands::list::run(&arguments),
            Command::Serve(arguments) => commands::serve::run(&arguments),
            #[cfg(target_os = "linux")]
            Command::Linux(command) => run_on_linux(&command),
            Command::Conformance(_) => Err(Moved::failure("conformance")),
            Command::Packetdrill(_) => Err(Moved::failure("packetdrill")),
            Command::Cite(arguments) => commands::cite::run(&arguments),
            Command::Completions(arguments) => commands::completions::run(&arguments, Cli::command()),
            Command::Man(arguments) => commands::man::run(&arguments, Cli::command()),
            Command::Version => {
                let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
                let license = env!("CARGO_PKG_LICENSE");
                Ok(output::print(&format!("gq {VERSION_AND_COMMIT}\n{machine} {os}\nlicense {license}\n"))?)
            }
        }
    })
}

#[cfg(target_os = "linux")]
fn run_on_linux(command: &LinuxCommand) -> Result<(), Failure> {
    match command {
        LinuxCommand::Bridge(arguments) => commands::bridge::run(arguments),
        LinuxCommand::Validate(arguments) => commands::validate::run(arguments),
        LinuxCommand::Exec(arguments) => commands::exec::run(arguments),
        LinuxCommand::Measure(arguments) => commands::measure::run(arguments),
        LinuxCommand::Shell(arguments) => commands::shell::run(arguments),
        LinuxCommand::ShellBetween(arguments) => commands::shell::between(arguments),
        LinuxCommand::ShellInside(arguments) => commands::shell::inside(arguments),
        LinuxCommand::ShellSeat(arguments) => commands::shell::seat(arguments),
        LinuxCommand::Replay(arguments) => commands::replay::run(arguments),
        LinuxCommand::BridgeKeeper(arguments) => commands::bridge::keep(arguments),
        LinuxCommand::LinuxGuest(arguments) => commands::guest::run(arguments),
    }
}

/// Carries out a command's work and gives its exit code; says what went wrong.
#[doc(hidden)]
pub fn carry_out(work: impl FnOnce() -> Result<(), Failure> + UnwindSafe) -> u8 {
    failure::install_panic_hook();
    match std::panic::catch_unwind(work) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => failure.report(),
        // The hook has said it.
        Err(_) => Failure::RUN,
    }
}

/// The arguments of a faultless `gq run`, read without building the descriptions of all other
/// commands, which takes longer than reading. The whole description says what is wrong with others.
fn as_run(words: &[OsString]) -> Option<commands::run::Arguments> {
    let [_, command, arguments @ ..] = words else { return None };
    if command != "run" {
        return None;
    }
    let described = commands::run::Arguments::augment_args(clap::Command::new("run").no_binary_name(true));
    let matches = described.try_get_matches_from(arguments).ok()?;
    commands::run::Arguments::from_arg_matches(&matches).ok()
}

/// The command line as typed values. Help and mistakes have the colors that it asks for, too.
fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let asks = |value: &str| {
        let spaced = arguments.windows(2).any(|pair| pair[0] == "--color" && pair[1] == value);
        spaced || arguments.iter().any(|argument| *argument == *format!("--color={value}"))
    };
    let choice = match (asks("always"), asks("never")) {
        (true, false) => clap::ColorChoice::Always,
        (false, true) => clap::ColorChoice::Never,
        (true, true) | (false, false) => clap::ColorChoice::Auto,
    };
    let described = help::grouped(Cli::command()).color(choice);
    let matches =
        described.clone().try_get_matches_from(arguments).map_err(|error| mistakes::explained(error, arguments, &described))?;
    Cli::from_arg_matches(&matches)
}

/// `--rate -3mbit` as `--rate=-3mbit`: what begins with a minus and a digit is a value, which the
/// option refuses with its own words, and no option.
fn with_negative_values(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_negative = argument
            .to_str()
            .and_then(|text| text.strip_prefix('-'))
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
        let option = joined
            .last_mut()
            .filter(|last| is_negative && last.to_str().is_some_and(|text| text.starts_with("--") && !text.contains('=')));
        if let Some(option) = option {
            option.push("=");
            option.push(argument);
        } else {
            joined.push(argument);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_faultless_run_is_read_alone() {
        let read = |line: &str| as_run(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).is_some();
        assert!(read("gq run a.toml --set x=1 --jobs 2 --json -"));
        for other in ["gq", "gq check a.toml", "gq run", "gq run a.toml --jobs 0", "gq run --help", "gq run a.toml b.toml"] {
            assert!(!read(other), "{other}");
        }
    }

    #[test]
    fn a_negative_value_belongs_to_its_option() {
        let joined = |line: &str| with_negative_values(line.split(' ').map(OsString::from)).join(&OsString::from(" "));
        assert_eq!(joined("gq compare --rate -3mbit --rtt -.5"), "gq compare --rate=-3mbit --rtt=-.5");
        assert_eq!(joined("gq run a.toml --set x=1 -3 --json -"), "gq run a.toml --set x=1 -3 --json -");
        assert_eq!(joined("gq run --seed=1 -2"), "gq run --seed=1 -2");
    }
}
