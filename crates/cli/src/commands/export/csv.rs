//! A result's summary as CSV: one row for each link and group of each point.

use crate::failure::Failure;
use goodqueue_lab::scenario::input::remember_named;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Parts of a point that have rows of their own, with the word for one.
const PLACES: [(&str, &str); 2] = [("links", "link"), ("groups", "group")];

/// The table of the result in a folder. Names of columns are those of `summary.json`, which end in
/// their unit.
pub fn table(folder: &Path) -> Result<String, Failure> {
    let path = folder.join("summary.json");
    let fault = |message: String| Failure::Input(format!("{}: {message}", path.display()));
    remember_named(folder);
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            Failure::Input(format!("{}: is no folder of results: it has no summary.json", folder.display()))
        }
        _ => fault(format!("cannot be read: {error}")),
    })?;
    let summary: Value = serde_json::from_str(&text).map_err(|error| fault(format!("is not JSON: {error}")))?;
    let points = summary["points"].as_array().ok_or_else(|| fault("points: is missing".to_owned()))?;
    let mut columns: Vec<String> = vec!["point".to_owned()];
    let mut rows: Vec<BTreeMap<String, String>> = Vec::new();
    let mut swept: Vec<String> = Vec::new();
    let mut figures: Vec<String> = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let mut of_point = BTreeMap::from([("point".to_owned(), number.to_string())]);
        for (key, value) in point["set"].as_object().into_iter().flatten() {
            remember(&mut swept, key);
            of_point.insert(key.clone(), plain(value));
        }
        for (part, word) in PLACES {
            for (name, place) in point[part].as_object().into_iter().flatten() {
                let mut row = of_point.clone();
                row.insert("place".to_owned(), format!("{word} {name}"));
                let mut found = Vec::new();
                flatten("", place, &mut found);
                for (key, value) in found {
                    remember(&mut figures, &key);
                    row.insert(key, value);
                }
                rows.push(row);
            }
        }
    }
    columns.extend(swept);
    columns.push("place".to_owned());
    columns.extend(figures);
    let mut csv = line(columns.iter().map(String::as_str));
    for row in &rows {
        csv.push_str(&line(columns.iter().map(|column| row.get(column).map_or("", String::as_str))));
    }
    Ok(csv)
}

fn remember(known: &mut Vec<String>, name: &str) {
    if !known.iter().any(|known| known == name) {
        known.push(name.to_owned());
    }
}

/// Figures below `prefix`, each mean followed by its interval.
fn flatten(prefix: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) if is_figure(map) => {
            found.push((prefix.to_owned(), plain(&map["mean"])));
            found.push((format!("{prefix}.ci95"), plain(&map["ci95"])));
        }
        Value::Object(map) => {
            for (key, value) in map {
                flatten(&if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") }, value, found);
            }
        }
        Value::Number(_) | Value::Bool(_) | Value::String(_) => found.push((prefix.to_owned(), plain(value))),
        Value::Null | Value::Array(_) => {}
    }
}

/// A mean over replications, as against a group of figures one of which is called mean.
fn is_figure(map: &Map<String, Value>) -> bool {
    map.contains_key("ci95") && map.get("mean").is_some_and(|mean| mean.is_number() || mean.is_null())
}

pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// One line; fields stand in quotes where they must (RFC 4180 §2).
fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let field = |text: &str| {
        if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    let mut line = fields.map(field).collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}
