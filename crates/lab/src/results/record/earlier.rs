//! The contents of a results folder before something is written to it.

use super::folder::Folder;
use crate::results::provenance::{COMMIT, VERSION};
use crate::scenario::plan::Plan;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// The contents found in a folder.
#[derive(Clone, Debug, PartialEq)]
pub enum Earlier {
    /// No result.
    Nothing,
    /// A result of `gq run` or `gq compare`.
    Result(EarlierResult),
    /// A file called `summary.json` that is not the summary of a result.
    Unknown,
    /// A sweep, with a file for each of its points.
    Sweep,
}

/// The result that a folder holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EarlierResult {
    scenario: String,
    host: String,
    seed: u64,
    replications: u32,
    complete: bool,
    provenance: EarlierProvenance,
    /// Points, of which only the presence counts.
    points: Vec<IgnoredAny>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct EarlierProvenance {
    version: String,
    commit: String,
    scenario_sha256: String,
}

impl Earlier {
    /// Finds out what `folder` holds.
    #[must_use]
    pub fn find(folder: &Folder) -> Self {
        if folder.path().join("sweep.json").exists() {
            return Self::Sweep;
        }
        match read(&folder.path().join("summary.json")) {
            Ok(result) => Self::Result(result),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Nothing,
            Err(_) => Self::Unknown,
        }
    }
}

fn read(path: &Path) -> io::Result<EarlierResult> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

impl EarlierResult {
    /// Whether every run of it finished.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether no run of it finished.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Whether running `plan` on `host` again gives the same bytes, if `host` is one that repeats
    /// itself.
    #[must_use]
    pub fn is_of(&self, plan: &Plan, host: &str) -> bool {
        let provenance = &self.provenance;
        (self.scenario.as_str(), self.host.as_str()) == (plan.name(), host)
            && (self.seed, self.replications) == (plan.seed(), plan.replications())
            && (provenance.version.as_str(), provenance.commit.as_str()) == (VERSION, COMMIT)
            && provenance.scenario_sha256 == plan.sha256()
    }
}

impl fmt::Display for EarlierResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EarlierProvenance { version, commit, .. } = &self.provenance;
        write!(f, "{}, seed {}, by {version} at {commit}", self.scenario, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::NoRecorder;
    use crate::run::runner::{self, RunOptions};
    use std::sync::atomic::AtomicBool;

    const SCENARIO: &str = "goodqueue = 1\nduration = \"1 s\"\n[link.a]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n\
                            buffer = \"9 packets\"\n[[traffic]]\nkind = \"bulk\"\n";

    fn plan(seed: u64) -> Plan {
        let plan = Plan::parse("s.toml", SCENARIO, Path::new("")).unwrap();
        plan.with_overrides(&[("seed".to_owned(), seed.to_string())]).unwrap()
    }

    fn summary(plan: &Plan, stop: bool) -> String {
        let options = RunOptions::unrecorded(1, 1);
        let points = plan.points().unwrap();
        let report = runner::run(&points, &options, &AtomicBool::new(stop), &mut |_| {}, &mut NoRecorder);
        report.summary(plan).to_json()
    }

    #[test]
    fn a_folder_says_what_it_holds() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path()).unwrap();
        assert_eq!(Earlier::find(&folder), Earlier::Nothing);
        folder.write("summary.json", summary(&plan(1), false).as_bytes()).unwrap();
        let Earlier::Result(found) = Earlier::find(&folder) else { panic!("a result") };
        assert!(found.is_complete() && !found.is_empty());
        assert!(found.is_of(&plan(1), "sim") && !found.is_of(&plan(2), "sim") && !found.is_of(&plan(1), "live"));
        folder.write("summary.json", summary(&plan(1), true).as_bytes()).unwrap();
        let Earlier::Result(found) = Earlier::find(&folder) else { panic!("a result") };
        assert!(!found.is_complete() && found.is_empty());
        folder.write("summary.json", b"{}").unwrap();
        assert_eq!(Earlier::find(&folder), Earlier::Unknown);
        folder.write("sweep.json", b"{}").unwrap();
        assert_eq!(Earlier::find(&folder), Earlier::Sweep);
    }
}
