//! Failures that end a command early, and their messages.

mod excerpt;

use crate::output::{is_styled, say, say_styled};
use excerpt::Style;
use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::results::record::check_target;
use goodqueue_lab::scenario::plan::PlanError;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The scenario is wrong.
    Plan(PlanError),
    /// Something else given is wrong.
    Input(String),
    /// Work was begun and did not succeed.
    Run(String),
    /// A program that was run has ended with this code, which is the command's, too.
    Program(u8),
    /// Standard output is gone or broken.
    Output(io::Error),
}

impl Failure {
    /// Exit code when a run failed.
    pub const RUN: u8 = 1;
    /// Exit code for bad usage or input.
    pub const INPUT: u8 = 2;

    /// Returns the failure in words.
    pub fn text(&self) -> String {
        match self {
            Self::Plan(error) => error.faults().map(line).collect::<Vec<_>>().join("\n"),
            Self::Input(message) | Self::Run(message) => message.clone(),
            Self::Program(code) => format!("the program ended with code {code}"),
            Self::Output(error) => error.to_string(),
        }
    }

    /// Says it on standard error, and gives the exit code.
    pub fn report(self) -> u8 {
        match self {
            Self::Plan(error) => {
                show(&error);
                Self::INPUT
            }
            Self::Input(message) => {
                say(&format!("error: {message}"));
                Self::INPUT
            }
            Self::Run(message) => {
                say(&format!("error: {message}"));
                Self::RUN
            }
            // The program itself has said what there is to say.
            Self::Program(code) => code,
            // The reader of the output has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Output(error) => {
                say(&format!("error: standard output cannot be written: {error}"));
                Self::RUN
            }
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Unusable { .. } | RecordError::Held { .. } => Self::Input(format!("--out {error}")),
            RecordError::Target { .. } => Self::Input(error.to_string()),
            RecordError::Write { .. } => Self::Run(error.to_string()),
        }
    }
}

/// All faults: with the lines they are in on a terminal, one line each elsewhere.
fn show(error: &PlanError) {
    if !io::stderr().is_terminal() {
        error.faults().for_each(|fault| say(&line(fault)));
        return;
    }
    let style = if is_styled(&io::stderr()) { Style::Colored } else { Style::Plain };
    let width = crate::output::width().min(120);
    say_styled(&error.faults().map(|fault| excerpt::render(fault, style, width)).collect::<Vec<_>>().join("\n\n"));
}

fn line(fault: &goodqueue_lab::scenario::plan::Fault) -> String {
    match fault.suggestion() {
        Some(help) => format!("error: {fault}; {help}"),
        None => format!("error: {fault}"),
    }
}

/// Checks that the file that `option` names can be written, before anything runs.
pub fn check_file(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    path.map_or(Ok(()), check_target).map_err(|error| Failure::Input(format!("{option} {error}")))
}

/// One line for a panic, which is always a mistake in this program: no backtrace.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let message = message.unwrap_or("unknown").replace('\n', " ");
        say(&format!("gq: internal error: {message}{place}; this is a mistake in gq, please report it"));
    }));
}
