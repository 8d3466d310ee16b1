//! The `gq` command; its work is done in the library of this crate.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // A process that cannot name its own program can do everything but start itself again, and says
    // so when it comes to that.
    let itself = std::env::current_exe().into_iter().map(Into::into).collect();
    ExitCode::from(goodqueue_cli::run(itself, std::env::args_os().skip(1).collect()))
}
