//! Ctrl-C: once to stop and keep what is finished, twice to give up.

use crate::output::say;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a shell reports for a program ended by Ctrl-C.
const GIVEN_UP: i32 = 130;

/// A flag that the first interrupt sets; the second ends the program. Interrupts that the process
/// was started to ignore, as under `nohup`, stay ignored.
pub fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    #[cfg(target_os = "linux")]
    let ignored = goodqueue_live::sys::signals::Ignored::find();
    let installed = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(GIVEN_UP);
        }
        say("stopping: finished runs are kept; once more gives up");
    });
    #[cfg(target_os = "linux")]
    if let Err(error) = ignored.restore() {
        say(&format!("warning: an interrupt that was ignored will stop the command: {error}"));
    }
    if let Err(error) = installed {
        say(&format!("warning: interrupts will lose the result: {error}"));
    }
    stop
}
