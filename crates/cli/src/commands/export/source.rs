//! What is exported: a scenario, a result with what was set when it ran, or a recommendation.

use crate::failure::Failure;
use crate::result::recorded_plan;
use goodqueue_import::Input;
use goodqueue_lab::plan::Plan;
use goodqueue_recommend::answer;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// A scenario, wherever it came from.
pub struct Source {
    /// The scenario.
    pub plan: Plan,
    /// Whether `gq recommend` made it, which decides kinds and rates but not whether queues mark:
    /// none of its senders negotiates ECN.
    pub is_recommended: bool,
}

impl Source {
    /// Reads a scenario file, a folder of results, or an answer of `gq recommend --json`, which
    /// begins with a brace as no scenario does.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Ok(Self { plan: recorded_plan(path)?, is_recommended: false });
        }
        if path.as_os_str() == "-" || begins_with_brace(path) {
            return Ok(Self { plan: recommendation(path)?, is_recommended: true });
        }
        Ok(Self { plan: Plan::load(path)?, is_recommended: false })
    }
}

/// Whether the first character of a file that is no blank opens an object of JSON.
fn begins_with_brace(path: &Path) -> bool {
    const ENOUGH: u64 = 256;
    let is_file = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(ENOUGH).read_to_end(&mut start));
    is_file && read.is_ok() && start.trim_ascii_start().starts_with(b"{")
}

fn recommendation(path: &Path) -> Result<Plan, Failure> {
    let input = Input::load(path).map_err(|error| Failure::Input(error.to_string()))?;
    let fault = |message: String| Failure::Input(input.fault(message).to_string());
    let answer: Value = input.json().map_err(|error| Failure::Input(error.to_string()))?;
    if answer["schema"] != answer::SCHEMA {
        return Err(fault(format!("is no recommendation: expected schema {}, as gq recommend --json writes it", answer::SCHEMA)));
    }
    let text = answer["scenario"].as_str().ok_or_else(|| fault("scenario: is missing".to_owned()))?;
    if answer["choice"]["shape_percent"].is_null() {
        return Err(fault("choice: shapes nothing, so there is nothing to set on a router".to_owned()));
    }
    Ok(Plan::parse(&input.name, text, Path::new(""))?)
}
