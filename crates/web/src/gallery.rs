//! The gallery: what `gq reproduce` has written of each paper, beside what the paper says.

use crate::failure::Failure;
use crate::runs::{folders, name_of, read};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder with one folder for each paper, if there is one.
pub struct Gallery(pub Option<PathBuf>);

impl Gallery {
    /// All papers.
    pub fn list(&self) -> Value {
        let Some(root) = &self.0 else {
            return json!({ "papers": [], "hint": "Start gq serve with --gallery-results DIR to see what gq reproduce has written there." });
        };
        let papers: Vec<Value> = folders(root).filter_map(|folder| paper(&folder)).collect();
        if papers.is_empty() {
            return json!({ "papers": [], "hint": format!("There is no result of gq reproduce in {}.", root.display()) });
        }
        json!({ "papers": papers })
    }

    /// A picture by its name, `OPAQUE.svg`.
    pub fn figure(&self, name: &str) -> Result<String, Failure> {
        let missing = || Failure::not_found("there is no such figure");
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

/// Where a figure stands in the paper, from the name of its file: `fig-1a` is `Fig 1(a)`.
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

/// What a picture calls itself.
fn title_in(svg: &str) -> Option<String> {
    let (text, _) = svg.split_once("<title>")?.1.split_once("</title>")?;
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    (!plain.trim().is_empty()).then(|| plain.trim().to_owned())
}

/// Several figures in few words: the smallest and the largest where there are many.
fn figures(values: &[Value]) -> Option<String> {
    let numbers: Vec<f64> = values.iter().map(Value::as_f64).collect::<Option<_>>()?;
    let (low, high) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), n| (low.min(*n), high.max(*n)));
    match numbers.len() {
        0 => None,
        1..=3 => Some(numbers.iter().map(|number| figure(*number)).collect::<Vec<_>>().join(" and ")),
        count if figure(low) == figure(high) => Some(format!("{} ({count} values)", figure(low))),
        count => Some(format!("{} to {} ({count} values)", figure(low), figure(high))),
    }
}

/// A row with its figures as texts.
fn row(row: &Value) -> Value {
    let shown = |value: &Value| match value {
        Value::Null => Value::Null,
        Value::String(text) => json!(text),
        Value::Bool(yes) => json!(if *yes { "yes" } else { "no" }),
        Value::Array(values) => json!(figures(values).unwrap_or_else(|| value.to_string())),
        Value::Number(number) => json!(number.as_f64().map_or_else(|| number.to_string(), figure)),
        other => json!(other.to_string()),
    };
    let (mean, half) = (row["interval"]["mean"].as_f64(), row["interval"]["ci95"].as_f64());
    let interval = mean.zip(half).map(|(mean, half)| format!("{} ± {}", figure(mean), figure(half)));
    let mut text = json!({
        "id": row["id"], "place": row["place"], "claim": row["claim"], "metric": row["metric"], "grade": row["grade"],
        "verdict": row["verdict"].as_str().unwrap_or("not comparable").replace(['-', '_'], " "), "expected": shown(&row["expected"]),
        "value": shown(&row["value"]),
    });
    if let Some(interval) = interval {
        text["interval"] = json!(interval);
    }
    if let Some(why) = row["why"].as_str().or_else(|| row["reason"].as_str()) {
        text["why"] = json!(why);
    }
    text
}

/// A number to four digits that count.
fn figure(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
            "rows": [{ "id": "a", "place": "figure 5", "claim": "c", "metric": "m", "expected": 0.0123456, "value": 12.0, "verdict": "holds",
                       "interval": { "mean": 12.0, "ci95": 0.5, "n": 3 } }] });
        std::fs::write(folder.join("results.json"), results.to_string()).unwrap();
        std::fs::write(folder.join("fig-5.svg"), "<svg><title>Delay &amp; load</title></svg>").unwrap();
        let gallery = Gallery(Some(root.path().to_owned()));
        let listed = gallery.list();
        let paper = &listed["papers"][0];
        assert_eq!(
            (&paper["summary"], &paper["rows"][0]["expected"]),
            (&json!("1 of 1 statements hold (short run)."), &json!("0.01235"))
        );
        assert_eq!((&paper["rows"][0]["value"], &paper["rows"][0]["interval"]), (&json!("12"), &json!("12 ± 0.5")));
        let address = paper["figures"][0]["svg"].as_str().unwrap();
        assert!(gallery.figure(address.rsplit('/').next().unwrap()).unwrap().starts_with("<svg>"));
        assert_eq!((&paper["figures"][0]["title"], &paper["figures"][0]["place"]), (&json!("Delay & load"), &json!("Fig 5")));
        assert!(gallery.figure("../codel/results.json").is_err() && gallery.figure("fig-5.svg").is_err());
        assert!(Gallery(None).list()["hint"].is_string());
    }

    #[test]
    fn many_figures_are_told_in_few_words() {
        let told = |values: Value| figures(values.as_array().unwrap());
        assert_eq!(told(json!([4.0, 12.0])).as_deref(), Some("4 and 12"));
        assert_eq!(told(json!([29.58, 29.58, 29.58, 29.58])).as_deref(), Some("29.58 (4 values)"));
        assert_eq!(told(json!([3.5, 1.25, 2.0, 9.0])).as_deref(), Some("1.25 to 9 (4 values)"));
        assert_eq!((told(json!([])), told(json!([true]))), (None, None));
        assert_eq!(
            (place_of("fig-1a"), place_of("fig-12"), place_of("table_2")),
            ("Fig 1(a)".into(), "Fig 12".into(), "table 2".into())
        );
    }
}
