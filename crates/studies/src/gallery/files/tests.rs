//! Tests that faults in a paper's files are reported with file, line, field, value and what is
//! allowed.

use super::*;
use std::fs;

const PAPER: &str =
    "goodqueue-gallery = 1\ntitle = \"t\"\ncitation = \"codel2012\"\n[[experiment]]\nid = \"e-1\"\nfile = \"e-1.toml\"\n";
const ROW: &str = "goodqueue-gallery = 1\n[[row]]\nid = \"T-1\"\nplace = \"p\"\ngrade = \"A\"\nexperiments = [\"e-1\"]\nclaim = \"c\"\nmetric = \"m\"\n";

const NO_ROWS: &str = "goodqueue-gallery = 1\nrow = []\n";

/// The message for these two files, without the folder.
fn said(paper: &str, expected: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("codel");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("paper.toml"), paper).unwrap();
    fs::write(folder.join("expected.toml"), expected).unwrap();
    let gallery = Gallery { root: dir.path().to_owned() };
    match gallery.read("codel") {
        Ok(paper) => format!("{} rows", paper.rows.len()),
        Err(error) => error.to_string().replace(&format!("{}/", folder.display()), ""),
    }
}

#[test]
fn a_sound_paper_is_read() {
    let row = format!("{ROW}measure = \"1 + 1\"\nrelation = \"=\"\nexpected = 2\ntolerance = {{ abs = 0.5 }}\n");
    assert_eq!(said(PAPER, &row), "1 rows");
}

#[test]
fn mistakes_have_a_place() {
    let row = |rest: &str| said(PAPER, &format!("{ROW}{rest}"));
    assert_eq!(row("measure = \"1 +\"\nrelation = \"=\"\nexpected = 2.0"), "expected.toml:9:15: row.T-1.measure: unexpected end");
    assert_eq!(
        row("measure = \"1\"\nrelation = \"in\"\nexpected = 2.0"),
        "expected.toml:11:12: row.T-1.expected: does not go with relation `in`: allowed a range [low, high]"
    );
    assert_eq!(
        row("measure = \"1\"\nrelation = \"~\"\nexpected = 2.0"),
        "expected.toml:10:12: unknown variant `~`, expected one of `=`, `<`, `<=`, `>`, `>=`, `in`, `trend`, `order`, `bool`"
    );
    assert_eq!(
        row("measure = \"1\"\nrelation = \"=\"\nexpected = 2.0\ntolerance = { abs = -1.0 }"),
        "expected.toml:3:6: row.T-1.tolerance: -1 is out of range: allowed 0 or more, a factor of 1 or more"
    );
    let unknown = row("measure = \"1\"\nrelation = \"=\"\nexpected = 2.0\nsurprise = 1");
    assert!(unknown.starts_with("expected.toml:12:1: unknown field `surprise`, expected one of `id`"), "{unknown}");
    let elsewhere = said(PAPER, &format!("{}measure = \"1\"\nrelation = \"=\"\nexpected = 2", ROW.replace("e-1", "e-2")));
    assert_eq!(elsewhere, "expected.toml:6:16: row.T-1.experiments: `e-2` is no experiment of paper.toml: allowed e-1");
    assert_eq!(
        said(&PAPER.replace("= 1\n", "= 9\n"), NO_ROWS),
        "paper.toml:1:21: goodqueue-gallery: 9 is not a version of this format: allowed 1"
    );
    let figure = "[[figure]]\nid = \"1\"\ntitle = \"t\"\nplace = \"p\"\nkind = \"lines\"\nexperiment = \"e-1\"\n";
    assert_eq!(said(&format!("{PAPER}{figure}"), NO_ROWS), "paper.toml:8:6: figure.1: has no `x`");
}

#[test]
fn what_says_nothing_or_cannot_hold_is_refused() {
    assert_eq!(said(PAPER, NO_ROWS), "0 rows");
    assert_eq!(
        said(PAPER, "goodqueue-gallery = 1\n"),
        "expected.toml: has no row: expected statements, or `row = []` where no study makes any"
    );
    assert!(said(PAPER, "").starts_with("expected.toml"), "{}", said(PAPER, ""));
    let row = |expected: &str| said(PAPER, &format!("{ROW}measure = \"1\"\nrelation = \"{expected}"));
    assert_eq!(row("=\"\nexpected = inf"), "expected.toml:11:12: row.T-1.expected: inf is out of range: allowed finite numbers");
    assert_eq!(
        row("in\"\nexpected = [0, inf]"),
        "expected.toml:11:12: row.T-1.expected: inf is out of range: allowed finite numbers"
    );
    assert_eq!(
        said(&PAPER.replace("codel2012", "nobody1999"), NO_ROWS),
        "paper.toml:3:12: citation: `nobody1999` is no entry of SOURCES.bib"
    );
}

#[test]
fn a_mistake_in_a_string_of_several_lines_has_its_own_line() {
    let row = format!("{ROW}measure = '''\nlet a = 1;\n  a +\n'''\nrelation = \"=\"\nexpected = 2.0");
    assert_eq!(said(PAPER, &row), "expected.toml:12:1: row.T-1.measure: unexpected end");
}

#[test]
fn an_unknown_paper_is_refused() {
    let error = Gallery { root: "nowhere".into() }.read("other").unwrap_err().to_string();
    assert!(error.starts_with("`other` is no paper of the gallery: allowed cp-aqm, steering"), "{error}");
    let error = Gallery { root: "nowhere".into() }.read("codel").unwrap_err().to_string();
    assert!(error.starts_with("nowhere/codel/paper.toml: cannot be read:"), "{error}");
}
