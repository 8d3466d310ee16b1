//! The gallery: what `gq reproduce` has written of each paper, next to what the paper says.

use crate::server::runs::{folders, name_of, read};
use crate::session::ApiError;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder with one folder for each paper, if there is one.
pub struct Gallery(pub Option<PathBuf>);

impl Gallery {
    /// All papers.
    pub fn list(&self) -> Value {
        let Some(root) = &self.0 else {
            return json!({ "papers": [], "hint": "No results yet: run gq reproduce in this folder, or start gq serve with --gallery-results DIR." });
        };
        let papers: Vec<Value> = folders(root).filter_map(|folder| paper(&folder)).collect();
        if papers.is_empty() {
            return json!({ "papers": [], "hint": format!("There is no result of gq reproduce in {}.", root.display()) });
        }
        json!({ "papers": papers })
    }

    /// A picture by its name, `OPAQUE.svg`.
    pub fn figure(&self, name: &str) -> Result<String, ApiError> {
        let missing = || ApiError::not_found("there is no such figure");
        let id = name.strip_suffix(".svg").ok_or_else(missing)?;
        let root = self.0.as_deref().ok_or_else(missing)?;
        let found = folders(root)
            .flat_map(|folder| pictures(&folder).into_iter().map(move |picture| (id_of(&folder, &picture), picture)));
        let (_, path) = found.into_iter().find(|(known, _)| known == id).ok_or_else(missing)?;
        read(&path)
    }
}

fn id_of(folder: &Path, picture: &Path) -> String {
    format!("{}{}", name_of(folder), name_of(picture))
}

/// Vector pictures of a paper's folder, and of its folder `figures`.
fn pictures(folder: &Path) -> Vec<PathBuf> {
    let places = [folder.to_owned(), folder.join("figures")];
    let entries = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten().flatten();
    let regular = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path());
    let mut pictures: Vec<PathBuf> = regular.filter(|path| path.extension().is_some_and(|ending| ending == "svg")).collect();
    pictures.sort();
    pictures
}

fn paper(folder: &Path) -> Option<Value> {
    let results: Value = serde_json::from_str(&read(&folder.join("results.json")).ok()?).ok()?;
    let empty = Vec::new();
    let rows = results["rows"].as_array().unwrap_or(&empty);
    let figures: Vec<Value> = pictures(folder)
        .iter()
        .map(|picture| {
            let id = picture.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let place = place_of(&id);
            let title = read(picture).ok().and_then(|svg| title_in(&svg)).unwrap_or_else(|| place.clone());
            json!({ "title": title, "place": place, "id": id, "svg": format!("/api/gallery/figures/{}.svg", id_of(folder, picture)), "printed": null })
        })
        .collect();
    let text = |name: &str| results[name].as_str().unwrap_or_default();
    let held = rows.iter().filter(|row| row["verdict"] == "holds").count();
    let summary = format!("{held} of {} statements hold ({} run).", rows.len(), text("mode"));
    Some(json!({
        "id": text("paper"), "title": text("title"), "summary": summary, "citation": text("citation"), "figures": figures,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    }))
}

/// The place of a figure in the paper, from the name of its file: `fig-1a` is `Fig 1(a)`.
fn place_of(stem: &str) -> String {
    let Some(rest) = stem.strip_prefix("fig-") else { return stem.replace(['-', '_'], " ") };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, part) = rest.split_at(digits);
    match part.as_bytes() {
        [] => format!("Fig {number}"),
        [letter] if letter.is_ascii_lowercase() => format!("Fig {number}({part})"),
        _ => format!("Fig {}", rest.replace(['-', '_'], " ")),
    }
}

/// Returns the title of a picture.
fn title_in(svg: &str) -> Option<String> {
    let (text, _) = svg.split_once("<title>")?.1.split_once("</title>")?;
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    (!plain.trim().is_empty()).then(|| plain.trim().to_owned())
}

/// A row, with the texts that the report has for its figures.
fn row(row: &Value) -> Value {
    let words = &row["text"];
    json!({
        "id": row["id"], "place": row["place"], "claim": row["claim"], "metric": row["metric"], "grade": row["grade"],
        "verdict": row["verdict"].as_str().unwrap_or("not comparable").replace(['-', '_'], " "),
        "expected": words["expected"], "value": words["measured"], "why": words["reason"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_are_listed_with_texts_and_pictures_by_opaque_names() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("codel");
        std::fs::create_dir(&folder).unwrap();
        let results = json!({ "paper": "codel", "title": "Controlling queue delay", "citation": "Nichols 2012", "mode": "short",
            "rows": [{ "id": "a", "place": "figure 5", "claim": "c", "metric": "m", "expected": 11.0, "value": 12.0, "verdict": "not_comparable",
                       "text": { "expected": "= 11 ± 20 %", "measured": "12 ± 0.5", "reason": "one replication" } }] });
        std::fs::write(folder.join("results.json"), results.to_string()).unwrap();
        std::fs::write(folder.join("fig-5.svg"), "<svg><title>Delay &amp; load</title></svg>").unwrap();
        let gallery = Gallery(Some(root.path().to_owned()));
        let listed = gallery.list();
        let paper = &listed["papers"][0];
        assert_eq!(
            (&paper["summary"], &paper["rows"][0]["expected"]),
            (&json!("0 of 1 statements hold (short run)."), &json!("= 11 ± 20 %"))
        );
        let row = &paper["rows"][0];
        assert_eq!((&row["value"], &row["why"]), (&json!("12 ± 0.5"), &json!("one replication")));
        assert_eq!(row["verdict"], "not comparable");
        let address = paper["figures"][0]["svg"].as_str().unwrap();
        assert!(gallery.figure(address.rsplit('/').next().unwrap()).unwrap().starts_with("<svg>"));
        assert_eq!((&paper["figures"][0]["title"], &paper["figures"][0]["place"]), (&json!("Delay & load"), &json!("Fig 5")));
        assert!(gallery.figure("../codel/results.json").is_err() && gallery.figure("fig-5.svg").is_err());
        assert!(Gallery(None).list()["hint"].is_string());
    }

    #[test]
    fn places_of_figures_are_told_by_their_names() {
        assert_eq!(
            (place_of("fig-1a"), place_of("fig-12"), place_of("table_2")),
            ("Fig 1(a)".into(), "Fig 12".into(), "table 2".into())
        );
    }
}
