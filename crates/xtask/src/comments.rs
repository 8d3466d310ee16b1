//! The form of comments and names: comment lines of at most 100 columns, doc comments that begin
//! with a noun phrase or a verb, and names of functions of at most 60 characters.

use crate::{Result, sources};
use std::fmt::Write as _;

/// Columns of a comment line, its indentation included.
const MAX_COLUMNS: usize = 100;
/// Characters of a function's name.
const MAX_NAME: usize = 60;
/// Words that begin no doc comment: what follows them is a clause, not a name of the thing.
const CLAUSES: [&str; 7] = ["What", "Whatever", "Who", "Whoever", "Of", "It", "How"];

/// The places where a rule is broken.
#[derive(Debug, Default)]
struct Breaches {
    /// Places of comment lines that are too wide.
    wide: Vec<String>,
    /// Places of doc comments that begin with a clause or a question.
    clauses: Vec<String>,
    /// Places of functions whose names are too long.
    long: Vec<String>,
}

/// Fails with the places of comments and names that break a rule.
pub fn check() -> Result {
    let mut found = Breaches::default();
    for (path, text) in sources::read(&["rs", "ts", "py", "sh"])? {
        let breaches = inspect(&path, &text);
        found.wide.extend(breaches.wide);
        found.clauses.extend(breaches.clauses);
        found.long.extend(breaches.long);
    }
    let faults: Vec<String> = [
        (found.wide, format!("comment lines have more than {MAX_COLUMNS} columns")),
        (found.clauses, format!("doc comments begin with a question or one of {}", CLAUSES.join(", "))),
        (found.long, format!("functions have names of more than {MAX_NAME} characters")),
    ]
    .into_iter()
    .filter(|(places, _)| !places.is_empty())
    .map(|(places, what)| format!("{} {what}:\n  {}", places.len(), places.join("\n  ")))
    .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
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
        if is_comment && !in_example && line.chars().count() > MAX_COLUMNS && can_wrap(trimmed) {
            breaches.wide.push(format!("{path}:{}", number + 1));
        }
        if function_name(path, trimmed).is_some_and(|name| name.len() > MAX_NAME) {
            breaches.long.push(format!("{path}:{}", number + 1));
        }
        let words = if path.ends_with(".rs") { doc_words(trimmed) } else { None };
        breaches.clauses.extend(first.read(number + 1, words).map(|line| format!("{path}:{line}")));
    }
    breaches.clauses.extend(first.read(0, None).map(|line| format!("{path}:{line}")));
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
    /// paragraph that ended here if it is no noun phrase or verb.
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
        (asks(&ended) || CLAUSES.contains(&ended.split(' ').next().unwrap_or_default())).then_some(self.begins)
    }
}

/// The name of the function that a line declares: any in Rust, a test in Python.
fn function_name<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    const QUALIFIERS: [&str; 6] = ["pub", "const", "async", "unsafe", "extern", "default"];
    let is_qualifier = |word: &str| word.starts_with("pub(") || word.starts_with('"') || QUALIFIERS.contains(&word);
    let mut rest = line;
    if path.ends_with(".rs") {
        while let Some((_, behind)) = rest.split_once(' ').filter(|(word, _)| is_qualifier(word)) {
            rest = behind;
        }
        rest = rest.strip_prefix("fn ")?;
    } else if path.ends_with(".py") {
        rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("def ").filter(|name| name.starts_with("test_"))?;
    } else {
        return None;
    }
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
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
        assert_eq!(inspect("tools/a.sh", &format!("# {words}\n// {words}\n")).wide, ["tools/a.sh:1"]);
    }

    #[test]
    fn doc_comments_begin_with_a_noun_or_a_verb() {
        let clauses = |text: &str| inspect("a.rs", text).clauses;
        assert_eq!(clauses("/// Is it on?\nfn a() {}\n/// Whether it is on. Or off?\nfn b() {}\n"), ["a.rs:1"]);
        assert_eq!(clauses("/// Has it sent\n/// all of it? Then\n/// stop.\n"), ["a.rs:1"]);
        assert_eq!(clauses("/// What is sent.\nfn a() {}\n/// Whatsoever.\nfn b() {}\n/// How so.\n"), ["a.rs:1", "a.rs:5"]);
        assert_eq!(clauses("//! States.\n//!\n//! Does it?\n"), [""; 0]);
        assert_eq!(clauses("// Is it?\n/// The operator `a ? b` of `c`.\n"), [""; 0]);
        assert_eq!(clauses("fn a() {}\n/// Until when?"), ["a.rs:2"]);
    }

    #[test]
    fn names_of_functions_and_python_tests_are_short() {
        let long = |path: &str, text: &str| inspect(path, text).long;
        let (most, more) = ("x".repeat(MAX_NAME), "x".repeat(MAX_NAME + 1));
        let text = format!("fn {most}() {{}}\nfn {more}<T>() {{}}\n// fn {more}()\nlet f = {more}();\n");
        assert_eq!(long("a.rs", &text), ["a.rs:2"]);
        let text = format!("    pub(crate) const unsafe fn {more}() {{}}\npub extern \"C\" fn {more}() {{}}\n");
        assert_eq!(long("a.rs", &text), ["a.rs:1", "a.rs:2"]);
        let (most, more) = (&most[..MAX_NAME - 5], &more[..MAX_NAME - 4]);
        let text = format!("def test_{most}():\n    def test_{more}(self):\nasync def test_{more}():\ndef help_{more}():\n");
        assert_eq!(long("a.py", &text), ["a.py:2", "a.py:3"]);
        assert_eq!(long("a.ts", &text), [""; 0]);
    }
}
