//! `gq doctor`: whether the queue management of a host is exercised.

use crate::failure::Failure;
use crate::output::{self, print};
use clap::Args;
use goodqueue_interop::router::doctor::{self, Folder, NoFacts, Report, Source, Weight};
use goodqueue_lab::verdict::words::count;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arguments of `gq doctor`.
#[derive(Args)]
#[command(after_help = "Reads /proc, /sys, tc and ethtool, and changes nothing.")]
pub struct Arguments {
    /// The interface [default: that of the default route]
    #[arg(long, value_name = "NAME")]
    dev: Option<String>,
    /// For programs
    #[arg(long)]
    json: bool,
    /// A folder with files of another machine, and the output of its commands in commands/
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let dev = arguments.dev.as_deref();
    let report = match &arguments.root {
        Some(root) => doctor::examine(&Folder::new(root.clone()), dev),
        None => doctor::examine(&Machine, dev),
    };
    let report = report.map_err(|error| {
        let option = if matches!(error, NoFacts::NoFolder(_) | NoFacts::NoText(_)) { "--root" } else { "--dev" };
        Failure::of(option)(error)
    })?;
    let text = if arguments.json { json(&report)? } else { listing(&report) };
    print(&text)?;
    match report.findings.iter().filter(|finding| finding.weight == Weight::Problem).count() {
        0 => Ok(()),
        some => Err(Failure::Run(format!("{} at {}", count(some, "problem"), report.dev))),
    }
}

/// This machine.
struct Machine;

impl Source for Machine {
    fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }

    fn names(&self, path: &str) -> Vec<String> {
        Folder::new(PathBuf::from("/")).names(path)
    }

    fn output(&self, words: &[&str]) -> Option<String> {
        let (program, arguments) = words.split_first()?;
        // Tools of administrators are in folders that are not searched for everybody.
        let found = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
            .iter()
            .map(|folder| Path::new(folder).join(program))
            .find(|path| path.exists());
        let output = Command::new(found?).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn listing(report: &Report) -> String {
    let mut text = format!("{}:\n", report.dev);
    for finding in &report.findings {
        let _ = writeln!(text, "{:>8}  {}: {}", finding.weight.name(), finding.check, finding.text);
        for command in &finding.mend {
            let _ = writeln!(text, "          {command}");
        }
    }
    if report.findings.is_empty() {
        text.push_str("nothing to mend was found\n");
    }
    text
}

fn json(report: &Report) -> Result<String, Failure> {
    let findings: Vec<serde_json::Value> = report
        .findings
        .iter()
        .map(|finding| {
            serde_json::json!({
                "check": finding.check,
                "weight": finding.weight.name(),
                "text": finding.text,
                "mend": finding.mend,
            })
        })
        .collect();
    let whole = serde_json::json!({ "schema": "goodqueue.doctor/1", "dev": report.dev, "findings": findings });
    Ok(output::json(&whole)?)
}
