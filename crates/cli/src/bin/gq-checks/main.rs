//! `gq-checks`: queues and senders held against judges from elsewhere.
#![forbid(unsafe_code)]

mod conformance;
#[cfg(target_os = "linux")]
mod endpoint;
mod packetdrill;

use clap::{Parser, Subcommand};
use goodqueue_cli::{carry_out, output};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use std::process::ExitCode;

/// Checks of queues and TCP senders, goodqueue's own and those of other programs.
#[derive(Parser)]
#[command(name = "gq-checks", version = VERSION_AND_COMMIT, max_term_width = 120, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 success, 1 a check failed or was interrupted, 2 bad usage or input.")]
struct Cli {
    /// When text is bold or colored
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = output::Color::Auto)]
    color: output::Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the queues of goodqueue, or of another program, against recorded verdicts.
    Conformance(conformance::Arguments),
    /// Check the sender and the receiver against scripts of packetdrill.
    Packetdrill(packetdrill::Arguments),
    /// Be one end of a TCP connection on a network interface, with another TCP at the other end.
    #[cfg(target_os = "linux")]
    Endpoint(endpoint::Arguments),
}

fn main() -> ExitCode {
    ExitCode::from(carry_out(|| {
        let Cli { color, command } = Cli::parse();
        output::remember_color(color);
        match command {
            Command::Conformance(arguments) => conformance::run(&arguments),
            Command::Packetdrill(arguments) => packetdrill::run(&arguments),
            #[cfg(target_os = "linux")]
            Command::Endpoint(arguments) => endpoint::run(&arguments),
        }
    }))
}
