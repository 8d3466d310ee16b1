//! Citations of goodqueue and of its sources, in the forms that papers use.

use crate::gallery::sources::{Author, Source};
use std::fmt::Write as _;

/// The version of this program that is cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Software {
    /// The version.
    pub version: String,
    /// The commit that it was built from, if that is known and wanted.
    pub commit: Option<String>,
    /// The year of that commit, if it is known.
    pub year: Option<String>,
}

/// The program's authors, as an organization.
const AUTHORS: &str = env!("CARGO_PKG_AUTHORS");
const LICENCES: &str = env!("CARGO_PKG_LICENSE");
const NAME: &str = "goodqueue";
const ABOUT: &str = "Active queue management, compared, simulated and applied: queue algorithms written once, a packet-level simulator \
                     with Linux-like TCP, and a shaper for real interfaces.";

impl Software {
    /// Version and commit in words.
    fn built(&self) -> String {
        match &self.commit {
            Some(commit) => format!("version {}, commit {commit}", self.version),
            None => format!("version {}", self.version),
        }
    }
}

/// Entries for BibTeX: the program, then the sources as `SOURCES.bib` has them.
#[must_use]
pub fn bibtex(software: &Software, sources: &[Source]) -> String {
    let year = software.year.as_ref().map_or_else(String::new, |year| format!("  year         = {{{year}}},\n"));
    let mut text = format!(
        "@misc{{{NAME},\n  author       = {{{{{AUTHORS}}}}},\n  title        = {{{{{NAME}}}}},\n  \
         howpublished = {{Computer software, {}}},\n{year}}}\n",
        software.built()
    );
    for source in sources {
        let _ = write!(text, "\n{}\n", source.bibtex);
    }
    text
}

/// One line each, in the style of the American Psychological Association.
#[must_use]
pub fn apa(software: &Software, sources: &[Source]) -> String {
    let year = software.year.as_deref().unwrap_or("n.d.");
    let mut built = software.built();
    built.replace_range(..1, "V");
    let mut text = format!("{AUTHORS} ({year}). {NAME} ({built}) [Computer software].\n");
    for source in sources {
        let _ = writeln!(text, "{}", apa_line(source));
    }
    text
}

fn apa_line(source: &Source) -> String {
    let year = if source.year.is_empty() { "n.d." } else { source.year };
    let field = |name: &str| source.plain(name);
    let mut line = format!("{} ({year}). {}", apa_authors(source), field("title").unwrap_or_default());
    if source.kind == "techreport"
        && let Some(number) = field("number")
    {
        let _ = write!(line, " ({number})");
    }
    line.push('.');
    if let Some(journal) = field("journal") {
        let _ = write!(line, " {journal}");
        if let Some(volume) = field("volume") {
            let _ = write!(line, ", {volume}");
        }
        if let Some(number) = field("number") {
            let _ = write!(line, "({number})");
        }
        if let Some(pages) = field("pages") {
            let _ = write!(line, ", {pages}");
        }
        line.push('.');
    } else if let Some(book) = field("booktitle") {
        let pages = field("pages").map_or_else(String::new, |pages| format!(" (pp. {pages})"));
        let _ = write!(line, " In {book}{pages}.");
    } else if let Some(place) = field("institution").or_else(|| field("howpublished")) {
        let _ = write!(line, " {}.", place.trim_end_matches('.'));
    }
    line
}

/// `Floyd, S., & Jacobson, V.`
fn apa_authors(source: &Source) -> String {
    let name = |Author { given, surname }: Author| {
        let initials = given.split(' ').filter_map(|name| name.chars().next()).map(|initial| format!(" {initial}."));
        let initials: String = initials.collect();
        if initials.is_empty() { surname } else { format!("{surname},{initials}") }
    };
    let names: Vec<String> = source.authors().map(name).collect();
    match &names[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{}, & {last}", first.join(", ")),
    }
}

/// A file in the Citation File Format 1.2.0, the sources as its references.
#[must_use]
pub fn cff(software: &Software, sources: &[Source]) -> String {
    let mut text = format!(
        "cff-version: 1.2.0\nmessage: {}\ntype: software\ntitle: {NAME}\nabstract: {}\nauthors:\n  - name: {AUTHORS}\nversion: {}\n",
        quoted("Please cite goodqueue and the sources of the algorithms in use, which `gq cite` prints."),
        quoted(ABOUT),
        quoted(&software.version),
    );
    if let Some(commit) = &software.commit {
        let _ = writeln!(text, "commit: {}", quoted(commit));
    }
    text.push_str("license:\n");
    for licence in LICENCES.split(" OR ") {
        let _ = writeln!(text, "  - {licence}");
    }
    if !sources.is_empty() {
        text.push_str("references:\n");
    }
    for source in sources {
        text.push_str(&reference(source));
    }
    text
}

fn reference(source: &Source) -> String {
    let kind = match source.kind {
        "article" => "article",
        "inproceedings" => "conference-paper",
        "techreport" => "report",
        _ => "generic",
    };
    let mut text = format!("  - type: {kind}\n    title: {}\n    authors:\n", quoted(&source.plain("title").unwrap_or_default()));
    for Author { given, surname } in source.authors() {
        if given.is_empty() {
            let _ = writeln!(text, "      - name: {}", quoted(&surname));
        } else {
            let _ = writeln!(text, "      - family-names: {}\n        given-names: {}", quoted(&surname), quoted(&given));
        }
    }
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "    {name}: {value}");
        }
    };
    put("year", Some(source.year.to_owned()).filter(|year| !year.is_empty()));
    put("journal", source.plain("journal").map(|name| quoted(&name)));
    for (name, field) in [("conference", "booktitle"), ("institution", "institution")] {
        put(name, source.plain(field).map(|entity| format!("{{ name: {} }}", quoted(&entity))));
    }
    put("volume", source.plain("volume").map(|number| quoted(&number)));
    put(if kind == "article" { "issue" } else { "number" }, source.plain("number").map(|number| quoted(&number)));
    let pages = source.field("pages").and_then(|pages| pages.split_once("--"));
    put("start", pages.map(|(first, _)| quoted(first)));
    put("end", pages.map(|(_, last)| quoted(last)));
    put("notes", source.plain("note").map(|note| quoted(&note)));
    text
}

/// A string of YAML, which has those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn software() -> Software {
        Software { version: "1.2.3".to_owned(), commit: Some("0123456789ab".to_owned()), year: Some("2026".to_owned()) }
    }

    fn sources() -> Vec<Source> {
        ["red1993", "rfc8289", "cake2018", "aqmsurvey"].map(|key| Source::find(key).expect(key)).to_vec()
    }

    #[test]
    fn apa_has_a_line_each() {
        let lines = apa(&software(), &sources());
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(
            lines,
            [
                "goodqueue maintainers (2026). goodqueue (Version 1.2.3, commit 0123456789ab) [Computer software].",
                "Floyd, S., & Jacobson, V. (1993). Random Early Detection Gateways for Congestion Avoidance. IEEE/ACM Transactions on \
                 Networking, 1(4), 397–413.",
                "Nichols, K., Jacobson, V., McGregor, A., & Iyengar, J. (2018). Controlled Delay Active Queue Management (RFC 8289). IETF.",
                "Høiland-Jørgensen, T., Täht, D., & Morton, J. (2018). Piece of CAKE: A Comprehensive Queue Management Solution for Home \
                 Gateways. In IEEE International Symposium on Local and Metropolitan Area Networks (LANMAN).",
                "Koo, J., Ahn, S., & Chung, J. (n.d.). A survey and comparison of active queue management schemes.",
            ]
        );
    }

    #[test]
    fn bibtex_has_the_entries_of_the_file() {
        let text = bibtex(&software(), &sources());
        assert!(text.starts_with("@misc{goodqueue,\n  author       = {{goodqueue maintainers}},\n"), "{text}");
        assert!(
            text.contains(
                "howpublished = {Computer software, version 1.2.3, commit 0123456789ab},\n  year         = {2026},\n}\n"
            )
        );
        for source in sources() {
            assert!(text.contains(&format!("\n\n{}\n", source.bibtex)), "{}", source.key);
        }
    }

    #[test]
    fn cff_names_version_commit_and_references() {
        let text = cff(&software(), &sources());
        assert!(
            text.contains("\nversion: \"1.2.3\"\ncommit: \"0123456789ab\"\nlicense:\n  - MIT\n  - Apache-2.0\nreferences:\n"),
            "{text}"
        );
        assert!(text.contains("    journal: \"IEEE/ACM Transactions on Networking\"\n    volume: \"1\"\n    issue: \"4\"\n    start: \"397\"\n    end: \"413\"\n"));
        assert!(text.contains("    institution: { name: \"IETF\" }\n    number: \"RFC 8289\"\n"), "{text}");
        assert!(!cff(&Software { commit: None, ..software() }, &[]).contains("commit:"));
    }
}
