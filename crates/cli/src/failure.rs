//! Failures that end a command early, and their messages.

mod excerpt;
pub mod options;

use crate::output::{is_styled, say, say_styled};
use excerpt::Style;
use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::results::record::check_target;
use goodqueue_lab::scenario::input::was_read;
use goodqueue_lab::scenario::plan::{Fault, PlanError};
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The scenario is wrong.
    #[error("{}", .0.faults().map(line).collect::<Vec<_>>().join("\n"))]
    Plan(#[from] PlanError),
    /// Something else given is wrong.
    #[error("{0}")]
    Input(String),
    /// Work was begun and did not succeed.
    #[error("{0}")]
    Run(String),
    /// A program that was run has ended with this code, which is the command's, too.
    #[error("the program ended with code {0}")]
    Program(u8),
    /// Standard output is gone or broken.
    #[error("standard output cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Exit code when a run failed.
    pub const RUN: u8 = 1;
    /// Exit code for bad usage or input.
    pub const INPUT: u8 = 2;

    /// Wraps an error of something given.
    pub fn input(error: impl Display) -> Self {
        Self::Input(error.to_string())
    }

    /// Wraps an error of the value of an option, or of a file, whose name comes first.
    pub fn of<E: Display>(name: impl Display) -> impl Fn(E) -> Self {
        move |error| Self::Input(format!("{name}: {error}"))
    }

    /// The end of work in which a run has failed or points are missing.
    pub fn incomplete(first: Option<impl Display>, missing: usize) -> Self {
        Self::Run(match first {
            Some(failure) => format!("runs failed; the first: {failure}"),
            None => format!("interrupted: {missing} points are missing; the same command resumes"),
        })
    }

    /// Says it on standard error, and gives the exit code.
    pub fn report(self) -> u8 {
        match &self {
            Self::Plan(error) => show(error),
            // The program itself has said what there is to say.
            Self::Program(code) => return *code,
            // The reader of the output has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return 0,
            Self::Input(_) | Self::Run(_) | Self::Output(_) => say(&format!("error: {self}")),
        }
        if matches!(self, Self::Plan(_) | Self::Input(_)) { Self::INPUT } else { Self::RUN }
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

fn line(fault: &Fault) -> String {
    match fault.suggestion() {
        Some(help) => format!("error: {fault}; {help}"),
        None => format!("error: {fault}"),
    }
}

/// Checks that the file that `option` names can be written, before anything runs and after all has
/// been read.
pub fn check_file(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    check_other_file(option, path)?;
    check_target(path).map_err(|error| Failure::Input(format!("{option} {error}")))
}

/// Refuses to write over a file that this command has read.
pub fn check_other_file(option: &str, path: &Path) -> Result<(), Failure> {
    if !was_read(path) {
        return Ok(());
    }
    Err(Failure::Input(format!("{option} {}: is a file that is read: name another one", path.display())))
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
