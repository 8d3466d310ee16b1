//! What ends a command early, and how it is said.

use crate::output::say;
use goodqueue_lab::error::RecordError;
use goodqueue_lab::plan::PlanError;
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::io::{self, IsTerminal};

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The scenario is wrong.
    Plan(PlanError),
    /// Something else given is wrong.
    Input(String),
    /// Work was begun and did not succeed.
    Run(String),
    /// Standard output is gone or broken.
    Output(io::Error),
}

impl Failure {
    /// Exit code when a run failed.
    pub const RUN: u8 = 1;
    /// Exit code for bad usage or input.
    pub const INPUT: u8 = 2;

    /// What went wrong, in words.
    pub fn text(&self) -> String {
        match self {
            Self::Plan(error) => error.faults().map(line).collect::<Vec<_>>().join("\n"),
            Self::Input(message) | Self::Run(message) => message.clone(),
            Self::Output(error) => error.to_string(),
        }
    }

    /// Says it on standard error, and gives the exit code.
    pub fn report(self) -> u8 {
        match self {
            Self::Plan(error) => {
                say(&render(&error));
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
            // Whoever read the output has seen enough.
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
            RecordError::Unusable { .. } => Self::Input(format!("--out {error}")),
            RecordError::Write { .. } => Self::Run(error.to_string()),
        }
    }
}

/// All mistakes with the lines they are in: coloured on a terminal, plain elsewhere.
fn render(error: &PlanError) -> String {
    if !io::stderr().is_terminal() {
        return error.faults().map(line).collect::<Vec<_>>().join("\n");
    }
    #[allow(clippy::disallowed_methods, reason = "a convention of terminals; no result depends on it")]
    let plain = std::env::var_os("NO_COLOR").is_some();
    let theme = if plain { GraphicalTheme::unicode_nocolor() } else { GraphicalTheme::unicode() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(crate::output::width().min(120));
    let mut text = String::new();
    match handler.render_report(&mut text, error) {
        Ok(()) => text.trim_end().to_owned(),
        Err(_) => error.text(),
    }
}

fn line(fault: &goodqueue_lab::plan::Fault) -> String {
    match fault.suggestion() {
        Some(help) => format!("error: {fault}; {help}"),
        None => format!("error: {fault}"),
    }
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
