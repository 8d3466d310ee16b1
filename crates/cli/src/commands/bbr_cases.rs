//! `gq bbr-cases`: the example test cases of the BBR draft.

use crate::failure::Failure;
use crate::output::{print, say};
use clap::Args;
use goodqueue_lab::record::{check_target, write_file};
use goodqueue_studies::evaluate::bbr_draft::{self, Verdict};
use goodqueue_tcp::kinds;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Arguments of `gq bbr-cases`.
#[derive(Args)]
#[command(
    after_help = "The cases are those of draft-ietf-ccwg-bbr, appendix \"BBR Example Test Cases\"; docs/evaluate.md says what each does.\nExit codes: 0 no case fails, 1 some fail, 2 a control is unknown"
)]
pub struct Arguments {
    /// Controls that model their path
    #[arg(value_name = "CONTROL", default_values = ["bbr3", "bbr"])]
    controls: Vec<String>,
    /// Also write a table of verdicts
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    json: bool,
}

/// What became of one case.
#[derive(Serialize)]
struct Row {
    control: &'static str,
    case: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.markdown {
        check_target(path).map_err(|error| Failure::Input(format!("--markdown {error}")))?;
    }
    let controls = arguments.controls.iter().map(|name| known(name)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for control in controls {
        let verdicts = bbr_draft::judge(control).map_err(|error| Failure::Input(error.to_string()))?;
        rows.extend(verdicts.into_iter().map(|(case, verdict)| row(control, case.title, verdict)));
    }
    match arguments.json {
        true => {
            let json = serde_json::to_string_pretty(&rows).map_err(std::io::Error::from)?;
            print(&format!("{json}\n"))?;
        }
        false => {
            for row in &rows {
                let why = if row.why.is_empty() { String::new() } else { format!(": {}", row.why) };
                print(&format!("{}: {}: {}{why}\n", row.control, row.case, row.verdict))?;
            }
        }
    }
    if let Some(path) = &arguments.markdown {
        write_file(path, table(&rows).as_bytes())?;
    }
    let count = |verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
    let failed = count("fails");
    say(&format!("{} of {} cases pass, {failed} fail, {} do not apply", count("passes"), rows.len(), count("does not apply")));
    if failed > 0 { Err(Failure::Run(format!("{failed} of {} cases fail", rows.len()))) } else { Ok(()) }
}

/// The control of this name, which must have a model of the path.
fn known(name: &str) -> Result<&'static str, Failure> {
    let models: Vec<&'static str> = kinds().iter().filter(|spec| spec.needs.models_path).map(|spec| spec.base.kind).collect();
    models.iter().find(|kind| **kind == name).copied().ok_or_else(|| {
        Failure::Input(format!(
            "CONTROL: `{name}` has no model of its path that could be held to the cases: allowed {}",
            models.join(", ")
        ))
    })
}

fn row(control: &'static str, case: &'static str, verdict: Verdict) -> Row {
    let (verdict, why) = match verdict {
        Verdict::Passes => ("passes", String::new()),
        Verdict::Fails(what) => ("fails", what),
        Verdict::DoesNotApply(why) => ("does not apply", why.to_owned()),
    };
    Row { control, case, verdict, why }
}

fn table(rows: &[Row]) -> String {
    let mut text = "| control | case | verdict | |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let _ = writeln!(text, "| `{}` | {} | {} | {} |", row.control, row.case, row.verdict, row.why.replace('|', "\\|"));
    }
    text
}
