//! The tables of keys in docs/scenario.md, made from the descriptions that files are read with.

use goodqueue_base::spec::{Default, Kind, Param, Value};
use goodqueue_lab::scenario::schema::access::ACCESS;
use goodqueue_lab::scenario::schema::link::LINK;
use goodqueue_lab::scenario::schema::scenario::SCENARIO;
use goodqueue_lab::scenario::schema::traffic::{COMMON, KINDS, TCP, TrafficSpec, UDP};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn page() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md"))
}

fn default(param: &Param) -> String {
    match param.default {
        Default::Auto(how) => how.to_owned(),
        Default::Required => "required".to_owned(),
        Default::Value(value @ (Value::Number(_) | Value::Switch(_))) => format!("`{value}`"),
        Default::Value(value) => format!("`\"{value}\"`"),
    }
}

fn table(kind: &Kind) -> String {
    let mut text = String::from("| key | meaning | allowed | default |\n|---|---|---|---|\n");
    for param in kind.params {
        let range = param.range_text().map_or_else(|| param.unit.to_string(), |[low, high]| format!("{low} to {high}"));
        let cells = [param.doc.to_owned(), range, default(param)].map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| `{}` | {} |", param.name, cells.join(" | "));
    }
    text
}

/// The tables between markers: what follows "keys of", and the table.
fn tables() -> Vec<(String, String)> {
    let plain = [&SCENARIO, &LINK, &ACCESS].map(|kind| (kind.kind.to_owned(), table(kind)));
    let shared = [("traffic", &COMMON), ("TCP", &TCP), ("UDP", &UDP)].map(|(name, kind)| (name.to_owned(), table(kind)));
    let own = KINDS.iter().map(|kind| (kind.kind.to_owned(), table(kind)));
    plain.into_iter().chain(shared).chain(own).collect()
}

/// The markers of one table.
fn markers(name: &str) -> [String; 2] {
    [format!("<!-- keys of {name}: `make docs` writes them again -->\n"), "<!-- end -->".to_owned()]
}

/// The text between two lines made again; panics where the page lacks one.
fn replace(text: &mut String, [begin, end]: &[String; 2], by: &str) {
    let start = text.find(begin.as_str()).unwrap_or_else(|| panic!("docs/scenario.md has no line {begin}")) + begin.len();
    let end = text[start..].find(end.as_str()).unwrap_or_else(|| panic!("docs/scenario.md has no {end}")) + start;
    text.replace_range(start..end, by);
}

/// The page with each table between its markers made again. Kinds of traffic that have no section
/// of their own stand in the last one.
fn made_again(text: &str) -> String {
    let mut text = text.to_owned();
    let others = ["<!-- other kinds: `make docs` writes them again -->\n".to_owned(), "<!-- end of other kinds -->".to_owned()];
    replace(&mut text, &others, "");
    let has_section = |kind: &&TrafficSpec| text.contains(&markers(kind.kind)[0]);
    let without: Vec<&TrafficSpec> = KINDS.iter().filter(|kind| !has_section(kind)).collect();
    let sections = without.iter().map(|kind| {
        let [begin, end] = markers(kind.kind);
        format!("\n### `{}`: {}\n\n{begin}{end}\n", kind.kind, kind.summary)
    });
    let sections: String = sections.collect();
    replace(&mut text, &others, &format!("{sections}\n"));
    for (name, table) in tables() {
        replace(&mut text, &markers(&name), &table);
    }
    text
}

#[test]
fn the_page_has_the_keys_that_are_read() {
    let text = fs::read_to_string(page()).expect("docs/scenario.md");
    assert!(made_again(&text) == text, "docs/scenario.md is stale: run make docs");
}

#[test]
#[ignore = "writes docs/scenario.md"]
fn write() {
    let text = fs::read_to_string(page()).expect("docs/scenario.md");
    fs::write(page(), made_again(&text)).expect("docs/scenario.md");
}
