//! The form of comments: lines of at most 100 columns, and doc comments that are no questions.
//!
//! `crates/xtask/comments.txt` counts, per folder, the comments that were written before these
//! rules and break them. A count may fall and must not rise; a folder without a row allows none.

use crate::{Result, sources, tool};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Columns of a comment line, its indentation included.
const WIDEST: usize = 100;

/// The recorded counts, relative to the workspace's root.
const RECORD: &str = "crates/xtask/comments.txt";

/// What breaks a rule in one folder.
#[derive(Debug, Default)]
struct Breaches {
    /// Places of comment lines that are too wide.
    wide: Vec<String>,
    /// Places of doc comments whose first sentence is a question.
    questions: Vec<String>,
}

/// The counts that one folder must not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ceiling {
    wide: usize,
    questions: usize,
}

impl Breaches {
    fn count(&self) -> Ceiling {
        Ceiling { wide: self.wide.len(), questions: self.questions.len() }
    }
}

/// Compares the comments with the recorded counts.
pub fn check() -> Result {
    let path = tool::root().join(RECORD);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{RECORD}: {e}"))?;
    let ceilings = parse(&text)?;
    let found = survey()?;
    let faults = faults(&found, &ceilings);
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let sum = |pick: fn(&Breaches) -> usize| found.values().map(pick).sum::<usize>();
    println!("comments: {} lines of more than {WIDEST} columns", sum(|b| b.wide.len()));
    println!("comments: {} doc comments that begin with a question", sum(|b| b.questions.len()));
    if found.iter().any(|(folder, breaches)| breaches.count() != ceilings.get(folder).copied().unwrap_or_default())
        || ceilings.keys().any(|folder| !found.contains_key(folder))
    {
        println!("comments: fewer than recorded; `cargo xtask comments --write` lowers the record");
    }
    Ok(())
}

/// Writes the present counts to the record; refuses to raise one.
pub fn write() -> Result {
    let path = tool::root().join(RECORD);
    let found = survey()?;
    if path.exists() {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{RECORD}: {e}"))?;
        let faults = faults(&found, &parse(&text)?);
        if !faults.is_empty() {
            return Err(faults.join("\n"));
        }
    }
    std::fs::write(&path, render(&found)).map_err(|e| format!("{RECORD}: {e}"))
}

fn faults(found: &BTreeMap<String, Breaches>, ceilings: &BTreeMap<String, Ceiling>) -> Vec<String> {
    let mut faults = Vec::new();
    for (folder, breaches) in found {
        let ceiling = ceilings.get(folder).copied().unwrap_or_default();
        let kinds = [
            (&breaches.wide, ceiling.wide, format!("comment lines of more than {WIDEST} columns")),
            (&breaches.questions, ceiling.questions, "doc comments that begin with a question".to_owned()),
        ];
        for (places, allowed, what) in kinds {
            if places.len() > allowed {
                let (count, places) = (places.len(), places.join("\n  "));
                faults.push(format!("{folder}: {count} {what}, {allowed} recorded; the new ones are among\n  {places}"));
            }
        }
    }
    faults
}

fn survey() -> Result<BTreeMap<String, Breaches>> {
    let mut found: BTreeMap<String, Breaches> = BTreeMap::new();
    for (path, text) in sources::read(&["rs", "ts", "py", "sh"])? {
        let breaches = inspect(&path, &text);
        if !breaches.wide.is_empty() || !breaches.questions.is_empty() {
            let folder = found.entry(sources::folder(&path)).or_default();
            folder.wide.extend(breaches.wide);
            folder.questions.extend(breaches.questions);
        }
    }
    Ok(found)
}

fn inspect(path: &str, text: &str) -> Breaches {
    let mark = if path.ends_with(".py") || path.ends_with(".sh") { "#" } else { "//" };
    let mut breaches = Breaches::default();
    let mut first = FirstParagraph::default();
    // Examples in doc comments are code, whose width rustfmt's settings decide.
    let mut in_example = false;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let is_comment = trimmed.starts_with(mark);
        in_example = is_comment && in_example != words_of(trimmed).starts_with("```");
        if is_comment && !in_example && line.chars().count() > WIDEST && can_wrap(trimmed) {
            breaches.wide.push(format!("{path}:{}", number + 1));
        }
        let words = if path.ends_with(".rs") { doc_words(trimmed) } else { None };
        breaches.questions.extend(first.read(number + 1, words).map(|line| format!("{path}:{line}")));
    }
    breaches.questions.extend(first.read(0, None).map(|line| format!("{path}:{line}")));
    breaches
}

/// The first paragraph of a doc comment while its lines are read.
#[derive(Default)]
struct FirstParagraph {
    begins: usize,
    words: String,
    /// The comment goes on, its first paragraph does not.
    is_over: bool,
}

impl FirstParagraph {
    /// Takes a line: its words, or `None` when it is no doc comment. Returns the first line of a
    /// paragraph that ended here if it is a question.
    fn read(&mut self, number: usize, words: Option<&str>) -> Option<usize> {
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            if self.words.is_empty() {
                self.begins = number;
            }
            if !self.is_over {
                let _ = write!(self.words, "{words} ");
            }
            return None;
        }
        let ended = std::mem::take(&mut self.words);
        self.is_over = words.is_some();
        asks(&ended).then_some(self.begins)
    }
}

/// Whether a comment line can be broken: rows of tables and single long words, such as addresses,
/// cannot.
fn can_wrap(comment: &str) -> bool {
    let words = words_of(comment);
    !words.starts_with('|') && words.contains(' ')
}

/// The words of a comment line of any kind.
fn words_of(comment: &str) -> &str {
    comment.trim_start_matches(['/', '!', '#']).trim()
}

/// The words of a line of one of Rust's doc comments.
fn doc_words(line: &str) -> Option<&str> {
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim)
}

/// Whether the first sentence of a paragraph is a question.
fn asks(paragraph: &str) -> bool {
    let mut previous = ' ';
    let mut code = false;
    for c in paragraph.trim().chars().chain(std::iter::once(' ')) {
        if c == ' ' && !code {
            match previous {
                '?' => return true,
                '.' | ':' => return false,
                _ => {}
            }
        }
        code ^= c == '`';
        previous = c;
    }
    false
}

fn parse(text: &str) -> Result<BTreeMap<String, Ceiling>> {
    let mut ceilings = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let fault = || format!("{RECORD}:{}: expected `FOLDER WIDE QUESTIONS`, found `{line}`", number + 1);
        let [folder, wide, questions] = line.split_whitespace().collect::<Vec<_>>()[..] else { return Err(fault()) };
        let ceiling = Ceiling { wide: wide.parse().map_err(|_| fault())?, questions: questions.parse().map_err(|_| fault())? };
        if ceilings.insert(folder.to_owned(), ceiling).is_some() {
            return Err(format!("{RECORD}:{}: `{folder}` appears twice", number + 1));
        }
    }
    Ok(ceilings)
}

fn render(found: &BTreeMap<String, Breaches>) -> String {
    let mut text = format!(
        "# Comment lines of more than {WIDEST} columns and doc comments that begin with a question, by folder.\n\
         # They may become fewer and not more: cargo xtask comments; --write records fewer.\n"
    );
    for (folder, breaches) in found {
        let Ceiling { wide, questions } = breaches.count();
        let _ = writeln!(text, "{folder} {wide} {questions}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_comment_lines_are_found_and_wide_code_is_not() {
        let words = "word ".repeat(25);
        let text = format!(
            "/// {words}\nlet x = \"{words}\";\n    // {words}\n// short\n/// | {words}|\n// https://{}\n",
            "x".repeat(120)
        );
        assert_eq!(inspect("crates/a/src/b.rs", &text).wide, ["crates/a/src/b.rs:1", "crates/a/src/b.rs:3"]);
        let example = format!("/// ```\n/// {words}\n/// ```\n/// {words}\n");
        assert_eq!(inspect("crates/a/src/b.rs", &example).wide, ["crates/a/src/b.rs:4"]);
        assert_eq!(inspect("scripts/a.sh", &format!("# {words}\n// {words}\n")).wide, ["scripts/a.sh:1"]);
    }

    #[test]
    fn the_first_sentence_of_a_doc_comment_is_no_question() {
        let questions = |text: &str| inspect("a.rs", text).questions;
        assert_eq!(questions("/// Is it on?\nfn a() {}\n/// Whether it is on. Or off?\nfn b() {}\n"), ["a.rs:1"]);
        assert_eq!(questions("/// Has it sent\n/// all of it? Then\n/// stop.\n"), ["a.rs:1"]);
        assert_eq!(questions("//! States.\n//!\n//! Does it?\n"), [""; 0]);
        assert_eq!(questions("// Is it?\n/// The operator `a ? b` of `c`.\n"), [""; 0]);
        assert_eq!(questions("fn a() {}\n/// Until when?"), ["a.rs:2"]);
    }

    #[test]
    fn counts_must_not_rise() {
        let found = |wide: usize| {
            let wide = (0..wide).map(|n| format!("p:{n}")).collect();
            BTreeMap::from([("crates/a".to_owned(), Breaches { wide, questions: Vec::new() })])
        };
        let ceilings = parse("# words\ncrates/a 2 0\n").unwrap();
        assert_eq!(faults(&found(2), &ceilings), [""; 0]);
        assert_eq!(faults(&found(1), &ceilings), [""; 0]);
        assert!(faults(&found(3), &ceilings)[0].starts_with("crates/a: 3 comment lines"));
        assert_eq!(faults(&found(1), &BTreeMap::new()).len(), 1, "a folder without a row has no room");
        assert_eq!(parse(&render(&found(3))).unwrap()["crates/a"], Ceiling { wide: 3, questions: 0 });
    }

    #[test]
    fn a_damaged_record_is_named_by_line() {
        assert!(parse("crates/a 2\n").is_err_and(|e| e.contains("comments.txt:1: expected")));
        assert!(parse("crates/a 2 x\n").is_err_and(|e| e.contains("found `crates/a 2 x`")));
        assert!(parse("a 1 1\na 1 1\n").is_err_and(|e| e.contains("twice")));
    }
}
