//! `gq-checks packetdrill`: scripts of segments and assertions against our sender and receiver.

use clap::Args;
use goodqueue_base::units::Duration;
use goodqueue_checks::packetdrill::goodqueue::Goodqueue;
use goodqueue_checks::packetdrill::{MAX_SCRIPT, Settings, Verdict, parse};
use goodqueue_cli::failure::{Failure, check_file};
use goodqueue_cli::interrupt;
use goodqueue_cli::output::{json, print, say};
use goodqueue_lab::scenario::input::open_named;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Depth to which folders are searched.
const MAX_DEPTH: usize = 16;
/// Most scripts of one run.
const MAX_SCRIPTS: usize = 100_000;

/// Arguments of `gq-checks packetdrill`.
#[derive(Args)]
#[command(after_help = "Exit codes: 0 no script fails, 1 some fail, 2 one cannot be read. Scripts: docs/packetdrill.md")]
pub struct Arguments {
    /// Scripts, or folders with scripts (*.pkt)
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Tolerance of times, unless a script sets it, in microseconds
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    tolerance_usecs: u32,
    /// Also write a table of verdicts
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    json: bool,
}

/// The outcome of one script.
#[derive(Serialize)]
struct Row {
    script: String,
    verdict: Fate,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    got: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    Passes,
    Fails,
    DoesNotApply,
    Unreadable,
}

impl Fate {
    const fn name(self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Fails => "fails",
            Self::DoesNotApply => "does not apply",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let stop = interrupt::stop_flag();
    let settings = Settings { tolerance: Duration::us(u64::from(arguments.tolerance_usecs)), ..Settings::default() };
    let scripts = scripts(&arguments.paths)?;
    let mut rows = Vec::new();
    for script in &scripts {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let row = judge(script, &settings);
        if !arguments.json {
            print(&line(&row))?;
        }
        rows.push(row);
    }
    if arguments.json {
        print(&json(&rows)?)?;
    }
    if let Some(file) = &arguments.markdown {
        check_file("--markdown", Some(file))?;
        let table = table(&rows);
        fs::write(file, table).map_err(|error| Failure::Run(format!("--markdown {}: {error}", file.display())))?;
    }
    if rows.len() < scripts.len() {
        return Err(Failure::Run(format!("interrupted: {} of {} scripts were run", rows.len(), scripts.len())));
    }
    verdict(&rows)
}

/// The files named, and those in the folders named, in the order of their names.
fn scripts(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            search(path, 0, &mut found)?;
            if found.len() == before {
                return Err(Failure::Input(format!("{}: no *.pkt in this folder", path.display())));
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fault = |error: std::io::Error| Failure::Input(format!("{}: {error}", folder.display()));
    let mut entries = fs::read_dir(folder).map_err(fault)?.collect::<Result<Vec<_>, _>>().map_err(fault)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links are not followed: they may lead around in circles.
        let kind = entry.file_type().map_err(fault)?;
        if kind.is_dir() && depth < MAX_DEPTH {
            search(&path, depth + 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "pkt") {
            if found.len() == MAX_SCRIPTS {
                return Err(Failure::Input(format!("{}: more than {MAX_SCRIPTS} scripts", folder.display())));
            }
            found.push(path);
        }
    }
    Ok(())
}

fn judge(path: &Path, settings: &Settings) -> Row {
    let script = path.display().to_string();
    let blank = Row { script, verdict: Fate::Passes, line: None, what: None, expected: None, got: None, reason: None };
    let text = match read(path) {
        Ok(text) => text,
        Err(fault) => {
            let reason = Some(format!("{}: {fault}", path.display()));
            return Row { verdict: Fate::Unreadable, reason, ..blank };
        }
    };
    match parse(&text) {
        Err(error) => Row {
            verdict: Fate::Unreadable,
            line: Some(error.place.line),
            reason: Some(format!("{}:{error}", path.display())),
            ..blank
        },
        Ok(script) => match goodqueue_checks::packetdrill::run(&script, &mut Goodqueue::new(), settings) {
            Verdict::Pass => blank,
            Verdict::Fail(difference) => Row {
                verdict: Fate::Fails,
                line: Some(difference.line),
                what: Some(difference.what),
                expected: Some(difference.expected),
                got: Some(difference.got),
                ..blank
            },
            Verdict::NotApplicable { line, reason } => {
                Row { verdict: Fate::DoesNotApply, line: Some(line), reason: Some(reason), ..blank }
            }
        },
    }
}

/// The text of a script: as much as shows the parser that it is too long.
fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_named(path)?.take(MAX_SCRIPT as u64 + 1).read_to_end(&mut bytes)?;
    // Remarks of old scripts are in other encodings.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The words that follow the verdict on a script.
fn details(row: &Row) -> String {
    let line = row.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    match row.verdict {
        Fate::Passes => String::new(),
        Fate::Fails => {
            let part = |text: &Option<String>| text.clone().unwrap_or_default();
            format!("{line}{}: expected {}, got {}", row.what.unwrap_or_default(), part(&row.expected), part(&row.got))
        }
        Fate::DoesNotApply => format!("{line}{}", row.reason.as_deref().unwrap_or_default()),
        Fate::Unreadable => row.reason.clone().unwrap_or_default(),
    }
}

fn line(row: &Row) -> String {
    match (row.verdict, details(row)) {
        (Fate::Passes, _) => format!("{}: passes\n", row.script),
        (Fate::Unreadable, details) => format!("unreadable: {details}\n"),
        (other, details) => format!("{}: {}: {details}\n", row.script, other.name()),
    }
}

/// The verdicts as a table, without the folders that all scripts are in.
fn table(rows: &[Row]) -> String {
    let folder = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
    let mut common = rows.first().map_or("", |row| &row.script[..folder(&row.script)]);
    for row in rows {
        while !row.script.starts_with(common) {
            common = &common[..folder(common.trim_end_matches('/'))];
        }
    }
    let mut text = "| script | verdict | |\n|---|---|---|\n".to_owned();
    for row in rows {
        let details = details(row).replace('|', "\\|").replace('<', "&lt;");
        let _ = writeln!(text, "| {} | {} | {details} |", &row.script[common.len()..], row.verdict.name());
    }
    text
}

fn verdict(rows: &[Row]) -> Result<(), Failure> {
    let count = |fate| rows.iter().filter(|row| row.verdict == fate).count();
    let (failed, unreadable) = (count(Fate::Fails), count(Fate::Unreadable));
    say(&format!(
        "{} of {} scripts pass, {failed} fail, {} do not apply, {unreadable} cannot be read",
        count(Fate::Passes),
        rows.len(),
        count(Fate::DoesNotApply)
    ));
    if unreadable > 0 {
        return Err(Failure::Input(format!("{unreadable} of {} scripts cannot be read", rows.len())));
    }
    if failed > 0 {
        return Err(Failure::Run(format!("{failed} of {} scripts fail", rows.len())));
    }
    Ok(())
}
