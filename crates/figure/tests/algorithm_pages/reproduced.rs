//! The section on the study that a kind is from or was measured in: its verdicts as
//! `gallery/RESULTS.md` counts them, and the figures in the chapter's folder, drawn by
//! `gq reproduce`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The heading of the section.
pub const TITLE: &str = "Reproduced";

/// The chapters of the gallery that reproduce a study, each with the kinds that the study is about.
const STUDIES: [(&str, &[&str]); 5] = [
    ("cp-aqm", &["cp-aqm"]),
    ("steering", &["gsp", "gsp-as", "codel-as", "pie-as"]),
    ("codel", &["codel"]),
    ("survey", &["red", "blue", "rem", "pi", "jobs"]),
    ("nfq-codel", &["nfq-codel"]),
];

/// The text of the section; none for kinds that no study is about.
pub fn of(kind: &str) -> Option<String> {
    let (chapter, _) = STUDIES.iter().find(|(_, kinds)| kinds.contains(&kind))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("gallery").join(chapter);
    let paper = read(&folder.join("paper.toml"));
    let [title, key] = ["title", "citation"].map(|name| setting(&paper, name));
    let sources = read(&root.join("docs/SOURCES.bib"));
    let entry = sources.split("\n@").find(|entry| entry.contains(&format!("{{{key},"))).expect("a cited source");
    let results = read(&root.join("gallery/RESULTS.md"));
    let [a, b, c, u, all] = counts(&results, chapter);
    let [holds, fails, other] = all.split(" / ").collect::<Vec<_>>().try_into().expect("three counts");
    let mut text = format!(
        "{}: *{}*. The [chapter of the gallery](../../gallery/{chapter}/README.md) repeats this study: {holds} of its statements hold, {fails} fail, \
         {other} are only reported or could not be compared ([row by row](../../gallery/RESULTS.md#{})).\n\
         By grade, in this order: A {a}, B {b}, C {c}, U {u} ([grades](../reproducing.md#grades-and-verdicts)).\n",
        listed(&field(entry, "author")),
        field(entry, "title"),
        anchor(title),
    );
    let figures = figures(&folder.join("figures"));
    for file in &figures {
        let drawing = read(file);
        let id = file.file_stem().expect("a name").to_string_lossy();
        let shown = between(&drawing, "<title>", "</title>");
        let _ = write!(text, "\n![{shown}](../../gallery/{chapter}/figures/{id}.svg)\n\n*Figure {id}, ours: {shown}.*\n");
    }
    if !figures.is_empty() {
        text.push_str(
            "\nHollow diamonds are the study's printed values, pale bars what still agrees with a printed value or range.\n",
        );
    }
    Some(text)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pictures of a folder by name; none where there is no folder.
fn figures(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "svg"));
    files.sort();
    files
}

/// The first text setting of this name in a TOML file.
fn setting<'a>(toml: &'a str, name: &str) -> &'a str {
    let value = toml.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix("= \"")?.strip_suffix('"'));
    value.unwrap_or_else(|| panic!("no {name}"))
}

/// The counts of a chapter by grade and altogether, each "hold / fail / other".
fn counts<'a>(results: &'a str, chapter: &str) -> [&'a str; 5] {
    let row = results.lines().find(|line| line.contains(&format!("]({chapter}/README.md)"))).expect("a row of counts");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    cells[2..7].try_into().expect("five counts")
}

/// A field of an entry of the bibliography, without its braces.
fn field(entry: &str, name: &str) -> String {
    let (_, rest) = entry.split_once(&format!(" {name}")).unwrap_or_else(|| panic!("{entry}: no {name}"));
    let (_, rest) = rest.split_once('{').expect("a value in braces");
    let mut depth = 1;
    let end = rest.find(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    });
    rest[..end.expect("a closed value")].replace(['{', '}'], "")
}

/// Names as in a sentence.
fn listed(authors: &str) -> String {
    match authors.rsplit_once(" and ") {
        Some((others, last)) => format!("{} and {last}", others.replace(" and ", ", ")),
        None => authors.to_owned(),
    }
}

/// The anchor that a heading of Markdown gets.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end}")).0
}
