//! Running other programs from the workspace's root.

use crate::Result;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The workspace's root, known when this program was built.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Description of the workspace by cargo.
pub fn metadata() -> Result<serde_json::Value> {
    let args = ["metadata", "--format-version", "1", "--no-deps"];
    let text = output("cargo", &[&args[..], &["--offline"]].concat()).or_else(|_| output("cargo", &args))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("cargo metadata printed bad JSON: {error}"))?)
}

/// The path of a program that cargo has built for release, below its folder.
pub fn built(name: &str) -> Result<String> {
    let metadata = metadata()?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(Path::new(target).join("release").join(name).display().to_string())
}

/// Instructions that a program takes, counted by valgrind.
pub fn instructions(program: &str, args: &[&str]) -> Result<f64> {
    let watched = ["--log-fd=2", "--tool=callgrind", "--callgrind-out-file=/dev/null", program];
    let args = [&watched, args].concat();
    let output = command("valgrind", &args, &[]).output().map_err(|e| format!("`valgrind` did not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    ended("valgrind", &args, output.status).map_err(|error| format!("{error}: {text}"))?;
    Ok(collected(&text).ok_or_else(|| format!("valgrind counted nothing for {program} {}: {text}", args.join(" ")))?)
}

/// The number behind `Collected :` in valgrind's words.
pub fn collected(text: &str) -> Option<f64> {
    let (_, rest) = text.rsplit_once("Collected")?;
    rest.trim_start_matches([' ', ':']).split_whitespace().next()?.parse().ok()
}

/// Whether `program` starts.
pub fn exists(program: &str, probe: &[&str]) -> bool {
    let status = Command::new(program).args(probe).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|s| s.success())
}

/// Runs a command line, its output going where ours goes.
pub fn run(program: &str, args: &[&str], env: &[(&str, &str)]) -> Result {
    ended(program, args, command(program, args, env).status().map_err(|e| format!("`{program}` did not start: {e}"))?)
}

/// Runs a command line and returns what it printed.
pub fn output(program: &str, args: &[&str]) -> Result<String> {
    let output = command(program, args, &[]).stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| format!("`{program}` did not start: {e}"))?;
    ended(program, args, output.status)?;
    Ok(String::from_utf8(output.stdout).map_err(|_| format!("`{program}` printed something that is not UTF-8"))?)
}

/// Runs a command line, passing its output on and showing each line to `watch`.
pub fn watched(program: &str, args: &[&str], env: &[(&str, &str)], mut watch: impl FnMut(&str)) -> Result {
    let mut child =
        command(program, args, env).stdout(Stdio::piped()).spawn().map_err(|e| format!("`{program}` did not start: {e}"))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|e| format!("reading from `{program}`: {e}"))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            watch(&line);
        }
    }
    ended(program, args, child.wait().map_err(|e| format!("waiting for `{program}`: {e}"))?)
}

/// Fails unless a command line has succeeded.
fn ended(program: &str, args: &[&str], status: ExitStatus) -> Result {
    if status.success() { Ok(()) } else { Err(format!("`{program} {}` failed ({status})", args.join(" ")).into()) }
}

fn command(program: &str, args: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root()).stdin(Stdio::null());
    for (key, value) in env {
        command.env(key, value);
    }
    command
}
