//! A queue discipline on a device whose line is outside: sets it up, and then leaves all to the
//! kernel.

use super::{Reports, named};
use crate::linux::job::ProgramJob;
use crate::linux::report::Line;
use std::io;
use std::process::{Command, Stdio};

/// Runs the commands that set it up, which find the plugin of `tc` in their folder.
pub(super) fn run(program: &ProgramJob, reports: &mut Reports) -> io::Result<()> {
    let ProgramJob { command, folder, .. } = program;
    let output = Command::new("/bin/sh")
        .args(["-c", command])
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("TC_LIB_DIR", folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| named("/bin/sh", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let message = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("without a word");
        return Err(io::Error::other(format!("tc: {}", message.trim_start_matches("Error: "))));
    }
    reports.say(&[Line::Ready])?;
    loop {
        std::thread::park();
    }
}
