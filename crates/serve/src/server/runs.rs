//! Results on disk: folders that `gq run` and `gq compare` have written.
//!
//! A result goes by a name made from its folder's; which file is read follows from the list of
//! folders there are, never from a request.

use crate::session::{Answer, ApiError};
use goodqueue_lab::results::labels::Labels;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Larger ones are not read.
const MAX_FILE_SIZE: u64 = 64 << 20;
/// Folders that are listed.
const MAX_RUNS: usize = 500;

/// The folder of folders, if there is one.
pub struct Runs(pub Option<PathBuf>);

impl Runs {
    /// Adds what there is, the latest first; gives a hint where there is nothing to look at.
    pub fn list(&self, runs: &mut Vec<Value>) -> Option<String> {
        let Some(root) = &self.0 else {
            return Some(
                "No runs yet: run something in the playground, or gq compare in this folder, or start gq serve with --runs DIR."
                    .to_owned(),
            );
        };
        let mut found: Vec<Value> = folders(root).filter_map(|folder| show(&folder)).collect();
        found.sort_by_key(|run| std::cmp::Reverse(run["created_s"].as_u64()));
        found.truncate(MAX_RUNS);
        let nothing = found.is_empty();
        runs.extend(found);
        nothing.then(|| format!("There is no result in {}.", root.display()))
    }

    /// A file of a result.
    pub fn file(&self, id: &str, file: &str) -> Result<Answer, ApiError> {
        let missing = || ApiError::not_found("there is no such result");
        let folder = self.0.as_deref().and_then(|root| folders(root).find(|folder| name_of(folder) == id)).ok_or_else(missing)?;
        let answer = match file {
            "scenario.toml" => Answer::Scenario,
            "summary.json" => Answer::Summary,
            "report.html" => Answer::Report,
            _ => return Err(ApiError::not_found("allowed scenario.toml, summary.json, report.html")),
        };
        read(&folder.join(file)).map(answer)
    }
}

/// Folders right below `root`; a symbolic link is none.
pub fn folders(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    folders.sort();
    folders.into_iter()
}

/// A name that says nothing of where the folder is: a hash (FNV-1a) of its own name.
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hash =
        name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("d{hash:016x}")
}

/// The text of a regular file that is not too large.
pub fn read(path: &Path) -> Result<String, ApiError> {
    let missing = |_| ApiError::not_found("the result has no such file");
    let facts = fs::symlink_metadata(path).map_err(missing)?;
    if !facts.is_file() || facts.len() > MAX_FILE_SIZE {
        return Err(ApiError::not_found(format!("the file is no regular one of up to {MAX_FILE_SIZE} bytes")));
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(missing)?;
    file.take(MAX_FILE_SIZE).read_to_string(&mut text).map_err(|_| ApiError::not_found("the file cannot be read as text"))?;
    Ok(text)
}

fn changed_s(folder: &Path) -> u64 {
    let changed = fs::metadata(folder.join("summary.json")).and_then(|facts| facts.modified()).ok();
    changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs())
}

fn show(folder: &Path) -> Option<Value> {
    let summary: Value = serde_json::from_str(&read(&folder.join("summary.json")).ok()?).ok()?;
    let points = summary["points"].as_array()?;
    let set = |point: &Value| -> Vec<(String, Value)> {
        point["set"].as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let sets: Vec<_> = points.iter().map(set).collect();
    let scenario = summary["scenario"].as_str().unwrap_or_default();
    // Names of scenarios are often alike, those of folders never.
    let name = folder.file_name()?.to_string_lossy();
    let labels = Labels::new(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>(), "scenario");
    Some(json!({
        "id": name_of(folder),
        "title": if scenario.is_empty() { &name } else { scenario },
        "folder": name,
        "when": "folder",
        "created_s": changed_s(folder),
        "points": labels.names,
        "report": folder.join("report.html").is_file(),
        "verdict": summary["headline"]["text"].as_str(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;

    #[test]
    fn results_go_by_opaque_names_and_nothing_else_is_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("home uplink");
        fs::create_dir(&folder).unwrap();
        fs::write(
            folder.join("summary.json"),
            r#"{"scenario":"home","points":[{"set":{"a":1}}],"headline":{"text":"One is best."}}"#,
        )
        .unwrap();
        fs::write(root.path().join("secret"), "no").unwrap();
        let runs = Runs(Some(root.path().to_owned()));
        let mut listed = Vec::new();
        assert_eq!(runs.list(&mut listed), None);
        assert_eq!(
            (&listed[0]["title"], &listed[0]["folder"], &listed[0]["points"][0], &listed[0]["report"]),
            (&json!("home"), &json!("home uplink"), &json!("a=1"), &json!(false))
        );
        assert_eq!(listed[0]["verdict"], "One is best.");
        let id = listed[0]["id"].as_str().unwrap();
        assert!(runs.file(id, "summary.json").is_ok());
        for (id, file) in [(id, "report.html"), (id, "../secret"), ("..", "secret"), ("home uplink", "summary.json"), ("", "")] {
            assert_eq!(runs.file(id, file).unwrap_err().status, StatusCode::NOT_FOUND, "{id} {file}");
        }
        assert!(Runs(None).list(&mut listed).is_some());
    }
}
