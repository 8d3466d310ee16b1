//! A progress bar on standard error during work, if that is a terminal.

use goodqueue_lab::verdict::words::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};

const STEPS: u64 = 10_000;

/// Shows a bar for `runs` runs during `work`, which gets a function that takes the finished part in
/// [0, 1]. Returns the outcome of the work and its duration in seconds.
pub fn during<T>(runs: usize, work: impl FnOnce(&mut dyn FnMut(f64)) -> T) -> (T, f64) {
    let bar = bar(runs);
    let outcome = work(&mut |part| bar.set_position((part * STEPS as f64) as u64));
    bar.finish_and_clear();
    (outcome, bar.elapsed().as_secs_f64())
}

/// Creates a bar that is hidden unless standard error is a terminal.
fn bar(runs: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
    let template = "{prefix} {bar:40} {percent:>3} % {elapsed} of about {duration}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(count(runs, "run"));
    bar
}
