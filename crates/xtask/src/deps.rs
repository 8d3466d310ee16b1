//! Who may depend on whom.
//!
//! The arrows point from the edges (command line, web, Python) to the core (`units`) and never turn back. `aqm` and `tcp` do not
//! know each other; nothing below `lab` knows of files or threads. A new crate needs a row here before it builds in CI.

use crate::{Result, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of our crates' names.
const PREFIX: &str = "goodqueue-";

/// A crate may depend on the crates to its right, and (for tests, examples and benches) on `testkit` and those.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("aqm", &["units"]),
    ("tcp", &["units"]),
    ("trace", &["units", "aqm"]),
    ("sim", &["units", "aqm", "tcp", "trace"]),
    ("live", &["units", "aqm", "trace"]),
    ("testbed", &["units", "aqm", "trace", "live"]),
    ("linux", &["units", "aqm", "tcp", "trace", "sim"]),
    ("lab", &["units", "aqm", "tcp", "trace", "sim", "live", "testbed", "linux"]),
    ("gallery", &["units", "aqm", "trace", "sim", "lab"]),
    ("web", &["units", "aqm", "tcp", "trace", "sim", "lab"]),
    ("wasm", &["units", "aqm", "tcp", "trace", "sim", "lab"]),
    ("python", &["units", "aqm", "tcp", "trace", "sim", "live", "testbed", "linux", "lab", "gallery", "cli"]),
    ("cli", &["units", "aqm", "tcp", "trace", "sim", "live", "testbed", "linux", "lab", "gallery", "web", "conformance"]),
    ("conformance", &["units", "aqm"]),
    ("capi", &["units", "aqm"]),
    ("testkit", &["units", "aqm", "tcp", "trace", "sim"]),
    ("xtask", &[]),
];

/// Crates without std: the only crates from elsewhere that they may use, outside of tests.
const NO_STD: &[(&str, &[&str])] =
    &[("units", &[]), ("aqm", &["libm", "thiserror", "serde"]), ("tcp", &["libm", "thiserror", "serde"])];

/// One arrow of the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: String,
    to: String,
    /// Used by tests, examples and benches only.
    dev: bool,
}

/// Reads `cargo metadata` and compares it with the tables.
pub fn run() -> Result {
    let text = tool::output("cargo", &["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .or_else(|_| tool::output("cargo", &["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata printed bad JSON: {e}"))?;
    let (crates, arrows) = read(&metadata)?;
    let faults = faults(&crates, &arrows);
    if faults.is_empty() {
        println!("deps: {} crates and {} arrows, all allowed", crates.len(), arrows.len());
        return Ok(());
    }
    Err(format!("{} not allowed:\n  {}", faults.len(), faults.join("\n  ")))
}

fn read(metadata: &Value) -> Result<(BTreeSet<String>, BTreeSet<Arrow>)> {
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has no packages")?;
    let mut crates = BTreeSet::new();
    let mut arrows = BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().ok_or("cargo metadata: a package without a name")?;
        let from = name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().ok_or("cargo metadata: a dependency without a name")?.to_owned();
            let dev = dependency["kind"].as_str() == Some("dev");
            arrows.insert(Arrow { from: from.clone(), to, dev });
        }
        crates.insert(from);
    }
    Ok((crates, arrows))
}

fn faults(crates: &BTreeSet<String>, arrows: &BTreeSet<Arrow>) -> Vec<String> {
    let table: BTreeMap<&str, &[&str]> = MAY_DEPEND_ON.iter().copied().collect();
    let bare: BTreeMap<&str, &[&str]> = NO_STD.iter().copied().collect();
    let mut faults = Vec::new();
    for name in crates {
        if !table.contains_key(name.as_str()) {
            faults.push(format!(
                "crate `{name}` has no row in MAY_DEPEND_ON (crates/xtask/src/deps.rs): add one that says what it may use"
            ));
        }
    }
    for Arrow { from, to, dev } in arrows {
        let Some(allowed) = table.get(from.as_str()) else { continue };
        match to.strip_prefix(PREFIX) {
            // The vectors' replayer needs the queues it replays; their own tests need the replayer.
            Some("testkit" | "conformance") if *dev => {}
            Some("testkit") => faults.push(format!("`{from}` depends on `testkit`: it may be a dev-dependency only")),
            Some(ours) if allowed.contains(&ours) => {}
            // A crate may use itself in tests, with other features.
            Some(ours) if *dev && ours == from => {}
            Some(ours) => {
                let list = if allowed.is_empty() { "no crate of ours".to_owned() } else { allowed.join(", ") };
                let kind = if *dev { "for tests depends" } else { "depends" };
                faults.push(format!("`{from}` {kind} on `{ours}`: it may use {list}"));
            }
            None => {
                if let Some(few) = bare.get(from.as_str())
                    && !dev
                    && !few.contains(&to.as_str())
                {
                    let list = if few.is_empty() { "nothing".to_owned() } else { few.join(", ") };
                    faults.push(format!("`{from}` depends on `{to}`: without std it may use {list} from elsewhere"));
                }
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arrows: &[(&str, &str, bool)]) -> Vec<String> {
        let arrows: BTreeSet<Arrow> =
            arrows.iter().map(|&(from, to, dev)| Arrow { from: from.to_owned(), to: to.to_owned(), dev }).collect();
        let crates = arrows.iter().map(|a| a.from.clone()).collect();
        faults(&crates, &arrows)
    }

    #[test]
    fn allowed_arrows_pass() {
        assert_eq!(check(&[("aqm", "goodqueue-units", false), ("aqm", "libm", false), ("aqm", "proptest", true)]), [""; 0]);
        assert_eq!(
            check(&[("aqm", "goodqueue-testkit", true), ("cli", "goodqueue-lab", false), ("lab", "toml", false)]),
            [""; 0]
        );
    }

    #[test]
    fn arrows_between_the_cores_fail() {
        let faults = check(&[("aqm", "goodqueue-tcp", false)]);
        assert_eq!(faults, ["`aqm` depends on `tcp`: it may use units"]);
    }

    #[test]
    fn tests_may_not_bend_the_arrows_either() {
        let faults = check(&[("tcp", "goodqueue-sim", true)]);
        assert_eq!(faults, ["`tcp` for tests depends on `sim`: it may use units"]);
    }

    #[test]
    fn testkit_is_for_tests_only() {
        let faults = check(&[("sim", "goodqueue-testkit", false)]);
        assert_eq!(faults, ["`sim` depends on `testkit`: it may be a dev-dependency only"]);
    }

    #[test]
    fn crates_without_std_take_little_from_elsewhere() {
        let faults = check(&[("units", "rand", false), ("tcp", "log", false)]);
        assert_eq!(faults.len(), 2, "{faults:?}");
    }

    #[test]
    fn an_unknown_crate_needs_a_row() {
        let faults = check(&[("surprise", "goodqueue-units", false)]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("`surprise` has no row"));
    }

    #[test]
    fn the_table_has_no_cycle() {
        let table: BTreeMap<&str, &[&str]> = MAY_DEPEND_ON.iter().copied().collect();
        for (name, uses) in &table {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&str> = uses.to_vec();
            while let Some(next) = open.pop() {
                assert_ne!(next, *name, "`{name}` reaches itself");
                if seen.insert(next) {
                    open.extend(table[next]);
                }
            }
        }
    }

    #[test]
    fn metadata_is_read_with_kinds() {
        let text = r#"{"packages":[{"name":"goodqueue-aqm","dependencies":[{"name":"libm","kind":null},{"name":"proptest","kind":"dev"}]}]}"#;
        let (crates, arrows) = read(&serde_json::from_str(text).unwrap()).unwrap();
        assert!(crates.contains("aqm"));
        let dev: Vec<bool> = arrows.iter().map(|a| a.dev).collect();
        assert_eq!(dev, [false, true]);
    }
}
