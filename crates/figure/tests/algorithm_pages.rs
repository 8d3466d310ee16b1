//! The pages `docs/algorithms/<kind>.md`, their pictures and `docs/defaults.md`, made from the
//! header of each algorithm's file, its parameter table, the hand-written notes next to them and
//! one short scenario.
//!
//! When they are stale: `cargo test -p goodqueue-figure --test algorithm_pages -- --ignored`
//! (`make docs`).

mod algorithm_pages {
    pub mod deployed;
    pub mod header;
    pub mod page;
    pub mod picture;
    pub mod reproduced;
}

use algorithm_pages::{page, picture};
use goodqueue_aqm::sched;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms")
}

/// Every page by its path within the folder.
fn pages() -> BTreeMap<String, String> {
    let mut pages: BTreeMap<_, _> = sched::kinds().map(|spec| (format!("{}.md", spec.kind), page::of(spec, &folder()))).collect();
    pages.insert("README.md".to_owned(), page::index());
    pages.insert("../defaults.md".to_owned(), page::defaults());
    pages
}

fn pictures() -> BTreeMap<String, String> {
    let mut pictures = picture::all();
    pictures.insert("picture.toml".to_owned(), picture::SCENARIO.to_owned());
    pictures
}

/// The names of files that are not as they should be.
fn stale(made: &BTreeMap<String, String>) -> Vec<&str> {
    let is_stale = |name: &str, text: &String| fs::read_to_string(folder().join(name)).ok().as_ref() != Some(text);
    made.iter().filter(|(name, text)| is_stale(name, text)).map(|(name, _)| name.as_str()).collect()
}

fn write(made: &BTreeMap<String, String>) {
    for (name, text) in made {
        fs::write(folder().join(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_pages_are_what_the_code_says() {
    let made = pages();
    assert_eq!(stale(&made), [""; 0], "docs/algorithms: stale pages (make docs)");
}

#[test]
fn the_pictures_are_what_the_scenario_gives() {
    let made = pictures();
    for (name, text) in &made {
        assert!(text.len() < 40_000, "{name} has {} bytes", text.len());
    }
    assert_eq!(stale(&made), [""; 0], "docs/algorithms: stale pictures (make docs)");
}

#[test]
fn nothing_else_lies_there() {
    let made: Vec<String> = pages().into_keys().chain(sched::kinds().map(|spec| format!("{}.svg", spec.kind))).collect();
    for entry in fs::read_dir(folder()).expect("docs/algorithms") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_known = made.contains(&name) || ["notes", "picture.toml"].contains(&name.as_str());
        assert!(is_known, "docs/algorithms/{name} belongs to no kind of queue");
    }
    for entry in fs::read_dir(folder().join("notes")).expect("docs/algorithms/notes") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_known = sched::kinds().any(|spec| format!("{}.md", spec.kind) == name);
        assert!(is_known, "docs/algorithms/notes/{name} belongs to no kind of queue");
    }
}

#[test]
#[ignore = "writes docs/algorithms"]
fn writes_the_pages() {
    write(&pages());
    write(&pictures());
}
