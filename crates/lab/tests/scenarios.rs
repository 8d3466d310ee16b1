//! Scenarios that ship with the project, and the page that describes the format.

use goodqueue_lab::scenario::plan::Plan;
use goodqueue_lab::scenario::{build, lint};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All scenario files in these folders, sorted. A gallery's `expected.toml` holds results and is no
/// scenario.
fn shipped() -> Vec<PathBuf> {
    let mut folders = vec![root().join("examples/scenarios")];
    folders.extend(fs::read_dir(root().join("gallery")).expect("gallery").map(|entry| entry.expect("an entry").path()));
    let mut files: Vec<PathBuf> = folders
        .iter()
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .filter(|file| fs::read_to_string(file).expect("a file").lines().any(|line| line.starts_with("goodqueue =")))
        .collect();
    files.sort();
    files
}

#[test]
fn every_shipped_scenario_becomes_a_world() {
    let files = shipped();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let plan = Plan::load(&file).unwrap_or_else(|error| panic!("{}", error.text()));
        let points = plan.points().unwrap_or_else(|error| panic!("{}", error.text()));
        for point in &points {
            let world = build::world(point, 0);
            goodqueue_sim::World::new(&world).unwrap_or_else(|error| panic!("{} at {:?}: {error}", file.display(), point.set));
        }
    }
}

/// An example should not need excuses; experiments of papers may be what the linter warns of.
#[test]
fn examples_have_no_oddities() {
    for file in shipped().iter().filter(|file| file.parent().is_some_and(|folder| folder.ends_with("examples/scenarios"))) {
        let points = Plan::load(file).and_then(|plan| plan.points()).unwrap_or_else(|error| panic!("{}", error.text()));
        for point in &points {
            let warnings: Vec<String> = lint::warnings(point).iter().map(ToString::to_string).collect();
            // Two examples show what is to be avoided, next to what is better.
            let is_set = |number: usize, value: serde_json::Value| point.set[number].1 == value;
            let meant = file.ends_with("ecn.toml") && is_set(0, false.into())
                || file.ends_with("cable-modem.toml") && is_set(0, "codel".into()) && is_set(1, "none".into());
            assert!(warnings.is_empty() || meant, "{} at {:?}: {warnings:?}", file.display(), point.set);
        }
    }
}

fn page() -> String {
    fs::read_to_string(root().join("docs/scenario.md")).expect("docs/scenario.md")
}

#[test]
fn every_example_on_the_page_is_read() {
    let page = page();
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 2);
    for block in blocks {
        let plan = Plan::parse("docs/scenario.md", block, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
        plan.points().unwrap_or_else(|error| panic!("{}", error.text()));
    }
}

/// The keys that the message for an unknown key suggests, for the table that `text` puts it into.
fn keys(text: &str) -> Vec<String> {
    let error = Plan::parse("scenario.toml", text, Path::new("")).expect_err("an unknown key");
    let help = error
        .faults()
        .filter(|fault| fault.message() == "unknown key")
        .find_map(|fault| fault.suggestion().map(str::to_owned))
        .unwrap_or_else(|| panic!("{}", error.text()));
    help.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_is_on_the_page() {
    let page = page();
    let link = "goodqueue = 1\nduration = \"1 s\"\n[link.b]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"\n";
    let mut all = keys("zzzzzz = 1");
    all.extend(keys(&format!("{link}zzzzzz = 1\n[[traffic]]\nkind = \"bulk\"")));
    all.extend(keys(&format!("{link}[[traffic]]\nkind = \"bulk\"\n[access]\nzzzzzz = 1")));
    for kind in ["bulk", "cbr", "poisson", "on-off"] {
        all.extend(keys(&format!("{link}[[traffic]]\nkind = \"{kind}\"\nzzzzzz = 1")));
    }
    assert!(all.len() > 60, "{all:?}");
    for key in
        all.iter().filter(|key| !key.contains("traffic of kind") && !["bulk", "cbr", "poisson", "on-off"].contains(&key.as_str()))
    {
        assert!(page.contains(&format!("`{key}`")), "docs/scenario.md does not mention `{key}`");
    }
}
