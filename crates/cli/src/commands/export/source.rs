//! Source of an export: a scenario, a result with what was set when it ran, or a recommendation.

use crate::failure::Failure;
use crate::result::recorded_plan;
use goodqueue_interop::import::Input;
use goodqueue_lab::run::recommend::answer;
use goodqueue_lab::run::recommend::candidates::Hardware;
use goodqueue_lab::scenario::plan::Plan;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// A scenario, wherever it came from.
pub struct Source {
    /// The scenario.
    pub plan: Plan,
    /// The hardware that `gq recommend` made it for.
    pub hardware: Option<Hardware>,
}

impl Source {
    /// Reads a scenario, a folder of results, or an answer of `gq recommend --json`, which begins
    /// with a brace as no scenario does. `-` is a scenario or an answer from standard input.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Ok(Self { plan: recorded_plan(path)?, hardware: None });
        }
        if path.as_os_str() == "-" {
            let input = Input::load(path).map_err(Failure::input)?;
            if is_answer(&input.bytes) {
                return recommendation(&input);
            }
            let text = input.text().map_err(Failure::input)?;
            if text.trim().is_empty() {
                return Err(Failure::Input(format!("{}: is empty: expected a scenario or an answer", input.name)));
            }
            return Ok(Self { plan: Plan::parse(&input.name, text, Path::new(""))?, hardware: None });
        }
        if begins_with_brace(path) {
            return recommendation(&Input::load(path).map_err(Failure::input)?);
        }
        Ok(Self { plan: Plan::load(path)?, hardware: None })
    }
}

/// Whether the first character of a file that is no blank opens an object of JSON.
fn begins_with_brace(path: &Path) -> bool {
    const ENOUGH: u64 = 256;
    // A reader of the whole of a pipe would miss what is read here, and one with a name may
    // never end.
    if !std::fs::metadata(path).is_ok_and(|facts| facts.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(ENOUGH).read_to_end(&mut start));
    read.is_ok() && is_answer(&start)
}

fn is_answer(start: &[u8]) -> bool {
    start.trim_ascii_start().starts_with(b"{")
}

fn recommendation(input: &Input) -> Result<Source, Failure> {
    let fault = |message: String| Failure::Input(input.fault(message).to_string());
    let answer: Value = input.json().map_err(Failure::input)?;
    if answer["schema"] != answer::SCHEMA {
        return Err(fault(format!("is no recommendation: expected schema {}, as gq recommend --json writes it", answer::SCHEMA)));
    }
    let text = answer["scenario"].as_str().ok_or_else(|| fault("scenario: is missing".to_owned()))?;
    if answer["choice"]["shape_percent"].is_null() {
        return Err(fault("choice: shapes nothing, so there is nothing to set on a router".to_owned()));
    }
    let hardware = answer["line"]["hardware"].as_str().and_then(Hardware::named).ok_or_else(|| {
        let known: Vec<&str> = Hardware::names().collect();
        fault(format!("line.hardware: is missing or unknown: allowed {}", known.join(", ")))
    })?;
    Ok(Source { plan: Plan::parse(&input.name, text, Path::new(""))?, hardware: Some(hardware) })
}
