//! The plan of a result that was written before.

use crate::failure::Failure;
use goodqueue_lab::scenario::input::remember_named;
use goodqueue_lab::scenario::plan::Plan;
use serde::Deserialize;
use std::path::Path;

/// Changes made to a scenario when it ran, as `run.json` and `sweep.json` keep them.
#[derive(Deserialize)]
struct Ran {
    set: Vec<(String, String)>,
}

/// The plan of a result, with what was set when it ran.
pub fn recorded_plan(folder: &Path) -> Result<Plan, Failure> {
    let Some(path) = ["run.json", "sweep.json"].map(|name| folder.join(name)).into_iter().find(|path| path.exists()) else {
        return Err(Failure::Input(format!("{}: is no folder of results: it has no run.json", folder.display())));
    };
    let unreadable = format!("{}: cannot be read", path.display());
    remember_named(folder);
    let text = std::fs::read_to_string(&path).map_err(Failure::of(&unreadable))?;
    let ran: Ran = serde_json::from_str(&text).map_err(Failure::of(&unreadable))?;
    Ok(Plan::load(&folder.join("scenario.toml"))?.with_overrides(&ran.set)?)
}
