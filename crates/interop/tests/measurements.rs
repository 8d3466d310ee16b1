//! Imports each file of `measurements/` and compares it with its row of the table there.

use goodqueue_interop::import::measured::{Known, MeasuredLine};
use goodqueue_interop::import::{Input, Origin, any};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A row of the table.
#[derive(Debug)]
struct Row {
    file: String,
    figures: Vec<String>,
    says: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/measurements")
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let rows: Vec<Row> = text.lines().filter(|line| line.starts_with("| `")).map(row).collect();
    assert!(rows.len() > 90, "{} rows", rows.len());
    rows
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [file, _, _, figures @ .., says] = cells.as_slice() else { panic!("{line}") };
    assert_eq!(figures.len(), 5, "{line}");
    Row {
        file: file.trim_matches('`').to_owned(),
        figures: figures.iter().map(|figure| (*figure).to_owned()).collect(),
        says: (*says).to_owned(),
    }
}

/// A figure as the table has it.
fn shown<T: Display>(figure: Option<&Known<T>>, usual: fn(&Origin) -> bool) -> String {
    figure.map_or_else(
        || "–".to_owned(),
        |Known { value, origin }| if usual(origin) { value.to_string() } else { format!("{value} (estimated)") },
    )
}

fn figures(line: &MeasuredLine) -> Vec<String> {
    let is_measured = |origin: &Origin| matches!(origin, Origin::Measured(_));
    let is_estimated = |origin: &Origin| matches!(origin, Origin::Estimated(_));
    vec![
        shown(line.down.as_ref(), is_measured),
        shown(line.up.as_ref(), is_measured),
        shown(line.rtt.as_ref(), is_measured),
        shown(line.buffer_down.as_ref(), is_estimated),
        shown(line.buffer_up.as_ref(), is_estimated),
    ]
}

/// The figures of a file and its scenario, or the refusal.
fn imported(file: &str) -> (Vec<String>, String) {
    let bytes = std::fs::read(folder().join(file)).unwrap();
    let draft = Input::read(file, bytes.as_slice()).and_then(|input| any::read(&input));
    match draft {
        Ok(draft) => (figures(&draft.measured().unwrap()), draft.text()),
        Err(error) => (vec!["refused".to_owned(); 5], error.to_string()),
    }
}

#[test]
fn each_file_gives_the_figures_of_its_row() {
    let mut wrong = Vec::new();
    for Row { file, figures, says } in table() {
        let (found, text) = imported(&file);
        if found != figures || !text.contains(&says) {
            wrong.push(format!("{file}:\n  expected {figures:?} {says}\n  found    {found:?} {text}"));
        }
        if figures.iter().all(|figure| figure == "refused") {
            assert!(text.starts_with(&format!("{file}: ")) && !text.contains('\n'), "{text}");
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_file_has_a_row() {
    let rows: BTreeSet<String> = table().into_iter().map(|row| row.file).collect();
    let mut files = BTreeSet::new();
    for kind in std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(kind).unwrap() {
            let path = file.unwrap().path();
            files.insert(path.strip_prefix(folder()).unwrap().display().to_string());
        }
    }
    assert_eq!(rows, files);
}
