//! A progress bar on standard error during work, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};

/// A bar for the finished part of the work.
pub struct Progress(ProgressBar);

const STEPS: u64 = 10_000;

impl Progress {
    /// Creates a bar for `runs` runs; hidden unless standard error is a terminal.
    pub fn new(runs: usize) -> Self {
        if !io::stderr().is_terminal() {
            return Self(ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden()));
        }
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        let template = "{prefix} {bar:40} {percent:>3} % {elapsed} of about {duration}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") });
        Self(bar)
    }

    /// So much is finished, in [0, 1].
    pub fn set(&self, part: f64) {
        self.0.set_position((part * STEPS as f64) as u64);
    }

    /// Takes the bar away; how long it was there, in seconds.
    pub fn finish(self) -> f64 {
        self.0.finish_and_clear();
        self.0.elapsed().as_secs_f64()
    }
}
