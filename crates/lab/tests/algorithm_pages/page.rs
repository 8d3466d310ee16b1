//! The text of a page.

use super::header::{self, SECTIONS};
use super::picture;
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindSpec, ParamSpec};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The page of one kind; `folder` has its notes.
pub fn of(spec: &KindSpec, folder: &Path) -> String {
    let header = header::of(spec.kind);
    let mut page = format!("# {}: `{}`\n\n", header.name, spec.kind);
    let _ = writeln!(page, "<!-- Made by crates/lab/tests/algorithm_pages.rs: `make docs` writes it again. -->\n");
    let _ = writeln!(page, "{}: {}\n", header.name, header.sentence);
    let _ = writeln!(page, "![Queue delay, signals and state of {0} on a changing link]({0}.svg)\n", spec.kind);
    let _ = writeln!(page, "{}\n", picture::caption(spec));
    let ecn = if spec.marks { "can mark ECN-capable packets (`ecn = true`)" } else { "drops only, ECN or not" };
    let _ = writeln!(page, "In short: {}; {ecn}. From: {}.\n", spec.signal, spec.source);
    for name in SECTIONS {
        let text = header.sections.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str());
        match (name, text) {
            ("Parameters", text) => parameters(&mut page, spec, text),
            (_, None) => {}
            (_, Some(text)) => {
                let _ = writeln!(page, "## {name}\n\n{}\n", capitalised(text));
            }
        }
    }
    for (name, text) in &header.modules {
        let _ = writeln!(page, "## {}\n\n{text}\n", capitalised(name));
    }
    if let Ok(notes) = fs::read_to_string(folder.join("notes").join(format!("{}.md", spec.kind))) {
        let _ = writeln!(page, "## Notes\n\n{}\n", below(notes.trim()));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn parameters(page: &mut String, spec: &KindSpec, text: Option<&str>) {
    page.push_str("## Parameters\n\n");
    if spec.params.is_empty() {
        page.push_str("None of its own.\n\n");
    } else {
        page.push_str("| name | meaning | unit | default | range | source |\n|---|---|---|---|---|---|\n");
        spec.params.iter().for_each(|param| row(page, param));
        page.push('\n');
    }
    page.push_str("Every queue also has `limit` (the link's buffer by default) and `ecn` (off by default).\n\n");
    // A header that only points at the table says nothing here.
    if let Some(text) = text.filter(|text| !text.starts_with("see `") || text.contains(';')) {
        let _ = writeln!(page, "{}\n", capitalised(text));
    }
}

fn row(page: &mut String, param: &ParamSpec) {
    let range = param.range_text().map_or_else(String::new, |[low, high]| format!("{low} to {high}"));
    let cells = [&param.doc.to_owned(), &param.unit.to_string(), &param.default_text(), &range, &param.source.to_owned()];
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(page, "| `{}` | {} |", param.name, cells.join(" | "));
}

/// The list of all pages.
pub fn index() -> String {
    let mut page = "# Queue algorithms\n\n\
        <!-- Made by crates/lab/tests/algorithm_pages.rs: `make docs` writes it again. -->\n\n\
        A page each, made from the code: what it measures, its law, its parameters, where it departs from its source, its limits, a picture of\n\
        it on a link that changes, and notes on its use. `gq list aqm` prints the parameters; `docs/conformance.md` says what each is\n\
        held to, `docs/cost.md` what it costs a packet, `docs/adding-an-algorithm.md` how to add one.\n\n\
        | kind | | signal | marks | source |\n|---|---|---|---|---|\n"
        .to_owned();
    for spec in sched::kinds() {
        let marks = if spec.marks { "yes" } else { "" };
        let _ =
            writeln!(page, "| [`{0}`]({0}.md) | {1} | {2} | {marks} | {3} |", spec.kind, spec.summary, spec.signal, spec.source);
    }
    page
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + characters.as_str())
}

/// Notes with their headings two levels down, below that of the section they are put in.
fn below(notes: &str) -> String {
    let mut in_code = false;
    let lines = notes.lines().map(|line| {
        in_code ^= line.starts_with("```");
        if line.starts_with('#') && !in_code { format!("##{line}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}
