//! Ctrl-C: once to stop and keep what is finished, twice to give up.

use crate::output::say;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Message of the first interrupt.
const STOPPING: &str = "stopping: finished runs are kept; once more gives up\n";

/// A flag that the first interrupt sets; the second ends the program. Interrupts that the process
/// was started to ignore, as under `nohup`, stay ignored.
pub fn stop_flag() -> Arc<AtomicBool> {
    stop_flag_saying(STOPPING)
}

/// The same, with other words about the first interrupt.
pub fn stop_flag_saying(words: &'static str) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(target_os = "linux")]
    let installed = goodqueue_live::sys::signals::stop_by(Arc::clone(&stop), words);
    #[cfg(not(target_os = "linux"))]
    let installed = on_thread(Arc::clone(&stop), words);
    if let Err(error) = installed {
        say(&format!("warning: interrupts will lose the result: {error}"));
    }
    stop
}

#[cfg(not(target_os = "linux"))]
fn on_thread(flag: Arc<AtomicBool>, words: &'static str) -> Result<(), ctrlc::Error> {
    /// Exit code that a shell reports for a program ended by Ctrl-C.
    const GIVEN_UP: i32 = 130;
    ctrlc::set_handler(move || {
        if flag.swap(true, std::sync::atomic::Ordering::Relaxed) {
            std::process::exit(GIVEN_UP);
        }
        say(words.trim_end());
    })
}
