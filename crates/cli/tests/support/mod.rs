//! Code shared by the tests of the command.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command with all its outputs caught.
pub fn gq(folder: &Path, arguments: &[&str]) -> Command {
    prepared(Command::new(env!("CARGO_BIN_EXE_gq")), folder, arguments)
}

/// The command with the default effect of an interrupt, which shells take from what they start in
/// the background, as tests may be.
pub fn interruptible(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_gq")]);
    prepared(command, folder, arguments)
}

fn prepared(mut command: Command, folder: &Path, arguments: &[&str]) -> Command {
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, standard output, standard error.
pub fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = gq(folder, arguments).output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().expect("it exits by itself"), text(stdout), text(stderr))
}

/// A folder with the scenario `s.toml`.
pub fn scenario(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("s.toml"), text).expect("the scenario is written");
    dir
}
