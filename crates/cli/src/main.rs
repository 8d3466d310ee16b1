//! `gq`: queue experiments from the command line.
#![forbid(unsafe_code)]

mod commands;
mod failure;
mod interrupt;
#[cfg(target_os = "linux")]
mod live;
mod output;
mod progress;
mod result;
mod settings;
mod table;

use clap::{Parser, Subcommand};
use failure::Failure;
use goodqueue_lab::provenance::VERSION_AND_COMMIT;
use std::process::ExitCode;

/// Active queue management, measured: run scenarios, compare algorithms, see what a queue does to delay.
#[derive(Parser)]
#[command(name = "gq", version = VERSION_AND_COMMIT, max_term_width = 120, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 success, 1 a run failed or was interrupted, 2 bad usage or input.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare queues on one line; no file needed.
    Compare(Box<commands::compare::Arguments>),
    /// Run a scenario file with its sweep and replications.
    Run(commands::run::Arguments),
    /// Parse and check a scenario without running it.
    Check(commands::check::Arguments),
    /// Names, parameters, units, defaults, ranges and sources.
    List(commands::list::Arguments),
    /// A shaped line with a queue between two network interfaces.
    #[cfg(target_os = "linux")]
    Bridge(Box<commands::bridge::Arguments>),
    /// Puts interfaces back as they were when a bridge is gone.
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    BridgeKeeper(commands::bridge::KeeperArguments),
    /// Hold the queues of gq, or of another program, to recorded verdicts.
    Conformance(commands::conformance::Arguments),
}

fn main() -> ExitCode {
    failure::install_panic_hook();
    let run = || match Cli::parse().command {
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Bridge(arguments) => commands::bridge::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::BridgeKeeper(arguments) => commands::bridge::keep(&arguments),
        Command::Conformance(arguments) => commands::conformance::run(&arguments),
    };
    match std::panic::catch_unwind(run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.report(),
        // The hook has said it.
        Err(_) => ExitCode::from(Failure::RUN),
    }
}
