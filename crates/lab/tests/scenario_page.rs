//! The tables of keys in docs/scenario.md, made from the descriptions that files are read with.

use goodqueue_lab::schema::access::ACCESS;
use goodqueue_lab::schema::link::LINK;
use goodqueue_lab::schema::scenario::SCENARIO;
use goodqueue_spec::{Default, Kind, Param, Value};
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

/// The page with each table between its markers made again.
fn made_again(text: &str) -> String {
    let mut text = text.to_owned();
    for kind in [&SCENARIO, &LINK, &ACCESS] {
        let begin = format!("<!-- keys of {}: `make docs` writes them again -->\n", kind.kind);
        let start = text.find(&begin).unwrap_or_else(|| panic!("docs/scenario.md has no line {begin}")) + begin.len();
        let end = text[start..].find("<!-- end -->").expect("a table ends with <!-- end -->") + start;
        text.replace_range(start..end, &table(kind));
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
