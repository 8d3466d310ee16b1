//! The dependencies that are allowed between crates.
//!
//! The arrows point from the edges (command line, web, Python) to the core (`base`) and never turn
//! back. `aqm` and `tcp` do not know each other; `sim` knows no files, threads or clocks. The table
//! is exact: an arrow that is not in it fails, and so does a permission that nothing uses or a row
//! of a crate that does not exist. Each crate has a row in `docs/architecture.md`, too.

use crate::result::none_of;
use crate::{Result, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of our crates' names.
const PREFIX: &str = "goodqueue-";

/// The page that describes the crates, relative to the workspace's root.
const PAGE: &str = "docs/architecture.md";

/// A crate may depend on the crates to its right. For tests, examples and benches it may also use
/// `testkit` and `checks`.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("aqm", &["base"]),
    ("tcp", &["base"]),
    ("sim", &["base", "aqm", "tcp"]),
    // Packet events and probes are those of `sim::trace`, checksums those of `tcp::wire`.
    ("live", &["base", "aqm", "tcp", "sim"]),
    ("lab", &["base", "aqm", "tcp", "sim"]),
    ("guests", &["base", "aqm", "tcp", "sim", "live", "lab"]),
    // Programs outside of this workspace use it.
    ("net", &["base", "tcp", "sim", "lab"]),
    // The configuration of a router follows from a scenario; its output becomes one.
    ("interop", &["base", "aqm", "lab"]),
    // `sim` and `tcp` for tests that draw the pictures of pages.
    ("figure", &["base", "aqm", "tcp", "sim", "lab"]),
    ("studies", &["base", "aqm", "tcp", "sim", "lab", "figure"]),
    ("serve", &["base", "aqm", "tcp", "sim", "lab"]),
    ("checks", &["base", "aqm", "tcp"]),
    ("cli", &["base", "aqm", "tcp", "sim", "live", "lab", "guests", "interop", "figure", "studies", "serve", "checks"]),
    ("python", &["base", "aqm", "sim", "lab", "guests", "interop", "figure", "cli"]),
    // The name under which users find the others.
    ("goodqueue", &["base", "aqm", "sim", "lab", "net"]),
    ("capi", &["base", "aqm"]),
    ("kernel", &["base", "aqm"]),
    ("testkit", &["base", "aqm"]),
    ("xtask", &[]),
];

/// Crates without std: the only crates from elsewhere that they may use, outside of tests.
const NO_STD: &[(&str, &[&str])] =
    &[("base", &["libm", "ryu"]), ("aqm", &["libm"]), ("tcp", &["libm", "thiserror"]), ("kernel", &[])];

/// One arrow of the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: String,
    to: String,
    /// Used by tests, examples and benches only.
    dev: bool,
}

/// Reads `cargo metadata` and compares it with the tables and with the page.
pub fn run() -> Result {
    let metadata = tool::metadata()?;
    let (crates, arrows) = read(&metadata)?;
    let mut faults = faults(MAY_DEPEND_ON, &crates, &arrows);
    faults.extend(unused(MAY_DEPEND_ON, NO_STD, &crates, &arrows));
    let page = std::fs::read_to_string(tool::root().join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    faults.extend(undocumented(&crates, &page));
    none_of("faults", &faults)?;
    println!("deps: {} crates and {} arrows, all allowed, and no permission without use", crates.len(), arrows.len());
    Ok(())
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

/// A table of crates and the crates they may use.
type Table<'a> = &'a [(&'a str, &'a [&'a str])];

/// Crates without a row, and arrows that no row allows.
fn faults(table: Table<'_>, crates: &BTreeSet<String>, arrows: &BTreeSet<Arrow>) -> Vec<String> {
    let table: BTreeMap<&str, &[&str]> = table.iter().copied().collect();
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
            Some("testkit" | "checks") if *dev => {}
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

/// Rows of crates that do not exist, and permissions that no arrow uses.
fn unused(table: Table<'_>, bare: Table<'_>, crates: &BTreeSet<String>, arrows: &BTreeSet<Arrow>) -> Vec<String> {
    let mut faults = Vec::new();
    for (rows, prefix) in [(table, PREFIX), (bare, "")] {
        for (from, allowed) in rows {
            if !crates.contains(*from) {
                faults.push(format!("crate `{from}` has a row in crates/xtask/src/deps.rs and does not exist"));
                continue;
            }
            for to in *allowed {
                let name = format!("{prefix}{to}");
                if !arrows.iter().any(|arrow| arrow.from == *from && arrow.to == name) {
                    faults.push(format!("`{from}` may use `{to}` and does not: remove it from crates/xtask/src/deps.rs"));
                }
            }
        }
    }
    faults
}

/// Crates without a row in the page's table, and rows of crates that do not exist.
fn undocumented(crates: &BTreeSet<String>, page: &str) -> Vec<String> {
    let rows: BTreeSet<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("| crate |"))
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
        .collect();
    let missing = crates.iter().filter(|name| !rows.contains(name.as_str()));
    let missing = missing.map(|name| format!("{PAGE}: the table of crates has no row for `{name}`"));
    let gone = rows.iter().filter(|name| !crates.contains(**name));
    missing.chain(gone.map(|name| format!("{PAGE}: the table of crates has a row for `{name}`, which does not exist"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(list: &[(&str, &str, bool)]) -> BTreeSet<Arrow> {
        list.iter().map(|&(from, to, dev)| Arrow { from: from.to_owned(), to: to.to_owned(), dev }).collect()
    }

    fn names(list: &[&str]) -> BTreeSet<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn check(list: &[(&str, &str, bool)]) -> Vec<String> {
        let arrows = arrows(list);
        let crates = arrows.iter().map(|a| a.from.clone()).collect();
        faults(MAY_DEPEND_ON, &crates, &arrows)
    }

    #[test]
    fn a_permission_that_nothing_uses_fails() {
        let table: Table<'_> = &[("sim", &["aqm", "tcp"]), ("wasm", &["sim"])];
        let found = arrows(&[("sim", "goodqueue-aqm", false), ("aqm", "libm", false)]);
        assert_eq!(
            unused(table, &[("aqm", &["libm", "serde"])], &names(&["sim", "aqm"]), &found),
            [
                "`sim` may use `tcp` and does not: remove it from crates/xtask/src/deps.rs",
                "crate `wasm` has a row in crates/xtask/src/deps.rs and does not exist",
                "`aqm` may use `serde` and does not: remove it from crates/xtask/src/deps.rs",
            ]
        );
        assert_eq!(
            unused(
                &table[..1],
                &[],
                &names(&["sim"]),
                &arrows(&[("sim", "goodqueue-aqm", false), ("sim", "goodqueue-tcp", true)])
            ),
            [""; 0]
        );
    }

    #[test]
    fn each_crate_has_its_row_in_the_page() {
        let page =
            "| `x` | not the table |\n\n| crate | what |\n|---|---|\n| `sim` | links |\n| `old` | gone |\n\n| `y` | later |\n";
        assert_eq!(
            undocumented(&names(&["sim", "lab"]), page),
            [
                "docs/architecture.md: the table of crates has no row for `lab`",
                "docs/architecture.md: the table of crates has a row for `old`, which does not exist",
            ]
        );
    }

    #[test]
    fn allowed_arrows_pass() {
        assert_eq!(check(&[("aqm", "goodqueue-base", false), ("aqm", "libm", false), ("aqm", "proptest", true)]), [""; 0]);
        assert_eq!(
            check(&[("aqm", "goodqueue-testkit", true), ("cli", "goodqueue-lab", false), ("lab", "toml", false)]),
            [""; 0]
        );
    }

    #[test]
    fn arrows_between_the_cores_fail() {
        let faults = check(&[("aqm", "goodqueue-tcp", false)]);
        assert_eq!(faults, ["`aqm` depends on `tcp`: it may use base"]);
    }

    #[test]
    fn tests_may_not_bend_the_arrows_either() {
        let faults = check(&[("tcp", "goodqueue-sim", true)]);
        assert_eq!(faults, ["`tcp` for tests depends on `sim`: it may use base"]);
    }

    #[test]
    fn testkit_is_for_tests_only() {
        let faults = check(&[("sim", "goodqueue-testkit", false)]);
        assert_eq!(faults, ["`sim` depends on `testkit`: it may be a dev-dependency only"]);
    }

    #[test]
    fn crates_without_std_take_little_from_elsewhere() {
        let faults = check(&[("base", "rand", false), ("tcp", "log", false)]);
        assert_eq!(faults.len(), 2, "{faults:?}");
    }

    #[test]
    fn an_unknown_crate_needs_a_row() {
        let faults = check(&[("surprise", "goodqueue-base", false)]);
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
