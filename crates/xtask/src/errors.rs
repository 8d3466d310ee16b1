//! Errors that are types: what went wrong is a variant with its data, which callers can tell apart
//! and tests can match. A string as the error of a `Result` is neither.

use crate::result::none_of;
use crate::{Result, sources};

/// Fails with the places outside of tests where the error of a `Result` is text.
pub fn check() -> Result {
    let mut found = Vec::new();
    for (path, text) in sources::read(&["rs"])? {
        if !sources::is_test(&path) {
            found.extend(worded(&text).map(|line| format!("{path}:{line}")));
        }
    }
    none_of("errors are strings", &found)
}

/// The lines of a source, up to its tests, in which a `Result` with text as its error begins.
fn worded(text: &str) -> impl Iterator<Item = usize> {
    const START: &str = "Result<";
    let code = &text[..tests(text)];
    let places = code.match_indices(START).filter(|(at, _)| error_of(&code[at + START.len()..]).is_some_and(is_text));
    places.map(|(at, _)| code[..at].matches('\n').count() + 1)
}

/// Returns the offset of the tests at the end of a source, or the length of the text without any.
fn tests(text: &str) -> usize {
    let has_body = |at: usize| text[at..].lines().nth(1).is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'));
    text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(|at| has_body(*at)).unwrap_or(text.len())
}

/// The second argument of a type, where `text` begins with the first.
fn error_of(text: &str) -> Option<&str> {
    let (mut depth, mut start, mut before) = (0_usize, None, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            // The arrow of a function's type.
            '>' if before == '-' => {}
            '>' | ')' | ']' if depth > 0 => depth -= 1,
            '>' | ',' if depth == 0 => match start {
                None if c == ',' => start = Some(at + 1),
                start => return start.map(|start| text[start..at].trim()),
            },
            _ => {}
        }
        before = c;
    }
    None
}

/// Whether a type, or a part of a tuple, is a string.
fn is_text(error: &str) -> bool {
    let mut parts = error.trim_matches(['(', ')']).split(',').map(str::trim);
    parts.any(|part| part == "String" || part.starts_with('&') && part.ends_with("str"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_with_text_as_error_are_found() {
        let lines = |text: &str| worded(text).collect::<Vec<_>>();
        for text in [
            "fn a() -> Result<(), String> {",
            "fn a() -> Result<Vec<(u8, fn(u8) -> u8)>, &'static str> {",
            "fn a() -> Result<\n    [u8; 4],\n    (usize, String),\n> {",
            "type Result<T = ()> = std::result::Result<T, String>;",
        ] {
            assert_eq!(lines(text), [1], "{text}");
        }
        for text in [
            "fn a() -> Result<String, Fault> {",
            "fn a() -> Result<Vec<(u8, String)>> {",
            "fn a() -> io::Result<()> { b(c, String::new()) }",
            "fn a() -> Result<u8, Option<&'static str>> {",
            "#[cfg(test)]\nmod tests {\n    fn a() -> Result<(), String> {",
        ] {
            assert_eq!(lines(text), [0; 0], "{text}");
        }
        assert_eq!(lines("#[cfg(test)]\nmod a;\nfn a(b: impl Fn() -> Result<u8, String>) {"), [3]);
    }
}
