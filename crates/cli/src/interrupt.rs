//! Ctrl-C: once to stop and keep what is finished, twice to give up.

use crate::output::say;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a shell reports for a program ended by Ctrl-C.
const GIVEN_UP: i32 = 130;

/// A flag that the first interrupt sets; the second ends the program.
pub fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let installed = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(GIVEN_UP);
        }
        say("stopping: finished runs are kept; once more gives up");
    });
    if let Err(error) = installed {
        say(&format!("warning: interrupts will lose the result: {error}"));
    }
    stop
}
