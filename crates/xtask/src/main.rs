//! Developer commands, run as `cargo xtask COMMAND`.

mod ci;
mod comments;
mod cost;
mod cycles;
mod deps;
mod errors;
mod packages;
mod result;
mod sources;
mod tool;
mod worlds;

use result::Result;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci       everything that must pass before a change lands; what this machine cannot run is skipped by name
           --only STEP[,STEP…] or --skip STEP[,STEP…] choose; --list names the steps
  deps     check who depends on whom against the table in crates/xtask/src/deps.rs
  cite     check that every RFC the code names is in SOURCES.bib
  cycles   check that no files of a crate use each other in a circle without a reason
  comments check the width of comments, the first words of doc comments, and the length of names
  errors   check that errors are types and not strings
  cost     instructions and nanoseconds of a packet for every kind of queue; --write makes docs/cost.md, --check compares with it
  files    name the source files of more than 600 lines
  size     count files, lines of code, tests and comments, and public items by crate";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    let outcome = match command {
        "ci" => ci::run(rest),
        "deps" => none(rest).and_then(|()| deps::run()),
        "cost" => cost::run(rest),
        "cycles" => none(rest).and_then(|()| cycles::check()),
        "comments" => none(rest).and_then(|()| comments::check()),
        "errors" => none(rest).and_then(|()| errors::check()),
        "cite" => none(rest).and_then(|()| sources::cite()),
        "files" => none(rest).and_then(|()| sources::files()),
        "size" => none(rest).and_then(|()| sources::size()),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(format!("unknown command `{other}`\n\n{USAGE}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {command}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn none(rest: &[String]) -> Result {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(format!("takes no arguments, but got `{extra}`").into()),
    }
}
