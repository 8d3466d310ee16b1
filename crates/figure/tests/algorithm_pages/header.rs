//! The header of an algorithm's file: what it says of itself.

use goodqueue_aqm::sched::kinds;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of a header.
#[derive(Debug, Default)]
pub struct Header {
    /// The words before the first colon.
    pub name: String,
    /// The rest of the first paragraph.
    pub sentence: String,
    /// Sections by name, in order.
    pub sections: Vec<(String, String)>,
    /// Headers of other modules it refers to, by their names.
    pub modules: Vec<(String, String)>,
}

/// The names a header's sections have, in their order.
pub const SECTIONS: [&str; 6] = ["Signal", "Law", "Parameters", "Deviations", "Limits", "Source"];

/// The header of the file that describes `kind`.
pub fn of(kind: &str) -> Header {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../aqm/src");
    let (mut path, mut text) =
        file_with(&source, &format!("kind: \"{kind}\"")).unwrap_or_else(|| panic!("no file describes {kind}"));
    if !is_header(&text) {
        // Parameters may have a file of their own, below that of the algorithm.
        path = path.parent().expect("a folder").with_extension("rs");
        text = read(&path);
    }
    assert!(is_header(&text), "the file of {kind} has no header with Signal, Law and so on");
    let mut header = parse(&text);
    let (own, within) = (source, path.with_extension(""));
    let lines: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
    for (folder, prefix) in [(own, "[`crate::"), (within, "[`")] {
        for name in lines.split(prefix).skip(1).filter_map(|rest| rest.split_once("`]")).map(|(name, _)| name) {
            let file = folder.join(name).with_extension("rs");
            if !name.contains(':') && file.is_file() && header.modules.iter().all(|(known, _)| known != name) {
                header.modules.push((name.to_owned(), prose(&read(&file))));
            }
        }
    }
    header.link();
    header
}

impl Header {
    /// Turns references to modules that stand on the page, and to other kinds, into links.
    fn link(&mut self) {
        let names: Vec<String> = self.modules.iter().map(|(name, _)| name.clone()).collect();
        for (_, text) in self.sections.iter_mut().chain(&mut self.modules) {
            for name in &names {
                for written in [format!("`crate::{name}`"), format!("`{name}`")] {
                    *text = text.replace(&written, &format!("[{name}](#{name})"));
                }
            }
            while let Some((before, rest)) = text.split_once("`super::") {
                let (name, after) = rest.split_once('`').expect("a closing quote");
                let name = name.replace('_', "-");
                // A module of several kinds has the name of one of them, and more.
                let kind = kinds().map(|spec| spec.kind).filter(|kind| name.starts_with(kind)).max_by_key(|kind| kind.len());
                let kind = kind.unwrap_or_else(|| panic!("`super::{name}` has no page"));
                *text = format!("{before}[`{kind}`]({kind}.md){after}");
            }
        }
    }
}

/// The header of a file as it is, without links of the library.
fn prose(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    plain(lines.join("\n").trim())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn is_header(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("//! *Signal*"))
}

/// The first source file, in the order of names, whose text before its tests has `needle`.
fn file_with(folder: &Path, needle: &str) -> Option<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).expect("sources").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().find_map(|path| {
        if path.is_dir() {
            return file_with(&path, needle);
        }
        let text = read(&path);
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let is_it = code.lines().any(|line| line.contains(needle) && !line.trim_start().starts_with("//"));
        is_it.then_some((path, text))
    })
}

fn parse(text: &str) -> Header {
    let mut header = Header::default();
    let mut first = String::new();
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some((section, rest)) = section(line) {
            header.sections.push((section.to_owned(), rest.to_owned()));
            continue;
        }
        let part = header.sections.last_mut().map_or(&mut first, |(_, text)| text);
        if !part.is_empty() {
            part.push('\n');
        }
        part.push_str(line);
    }
    let (name, sentence) = first.trim().split_once(": ").unwrap_or(("", first.trim()));
    (header.name, header.sentence) = (name.to_owned(), plain(sentence));
    for (_, text) in &mut header.sections {
        *text = plain(text.trim());
    }
    header
}

/// `*Law*: text` as its name and its text.
fn section(line: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = line.strip_prefix('*')?.split_once("*:")?;
    let known = SECTIONS.into_iter().find(|known| *known == name)?;
    Some((known, rest.trim_start()))
}

/// Links between pages of the library as plain code words.
fn plain(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`")
}

#[test]
fn a_header_is_taken_apart() {
    let header =
        parse("//! X: does\n//! things.\n//!\n//! *Signal*: one\n//! two.\n//! *Law*: see [`Y`].\n//!\n//! More.\n\nuse z;\n");
    assert_eq!((header.name.as_str(), header.sentence.as_str()), ("X", "does\nthings."));
    assert_eq!(header.sections[0], ("Signal".to_owned(), "one\ntwo.".to_owned()));
    assert_eq!(header.sections[1], ("Law".to_owned(), "see `Y`.\n\nMore.".to_owned()));
}
