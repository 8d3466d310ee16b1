//! `crates/web/src/families.ts`, with which pages color queues, is what the code says.
//!
//! When it is stale: `cargo test -p goodqueue-figure --test families -- --ignored` (`make docs`).

use goodqueue_aqm::sched;
use goodqueue_figure::plot::palette::hue;
use std::fs;
use std::path::{Path, PathBuf};

const HEAD: &str = "\
// The family of each kind of queue, and the color of each family. Made by
// crates/figure/tests/families.rs; do not edit.\n";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/src/families.ts")
}

fn made() -> String {
    let families: Vec<_> = sched::kinds().map(|spec| (spec.kind, spec.family.name())).collect();
    let mut colors = Vec::new();
    for spec in sched::kinds() {
        let color = (spec.family.name(), hue(spec.family).name());
        if !colors.contains(&color) {
            colors.push(color);
        }
    }
    format!("{HEAD}{}{}", record("FAMILY_OF", &families), record("COLOUR_OF", &colors))
}

fn record(name: &str, entries: &[(&str, &str)]) -> String {
    let lines: String = entries.iter().map(|(key, value)| format!("  \"{key}\": \"{value}\",\n")).collect();
    format!("\nexport const {name}: Readonly<Record<string, string>> = {{\n{lines}}};\n")
}

#[test]
fn families_of_pages_are_what_the_code_says() {
    assert!(fs::read_to_string(path()).is_ok_and(|text| text == made()), "crates/web/src/families.ts is stale: make docs");
}

#[test]
#[ignore = "writes crates/web/src/families.ts"]
fn families_of_pages_are_written() {
    fs::write(path(), made()).expect("crates/web/src/families.ts");
}
