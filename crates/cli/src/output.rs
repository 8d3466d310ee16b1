//! Standard output and standard error, of which neither may be taken for granted.

use crate::table::Text;
use clap::ValueEnum;
use serde::Serialize;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

static COMMAND_LINE: OnceLock<Vec<String>> = OnceLock::new();
static ITSELF: OnceLock<Vec<OsString>> = OnceLock::new();
static COLOR: OnceLock<Color> = OnceLock::new();

/// When text is styled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On terminals, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// Keeps when text is styled.
pub fn remember_color(color: Color) {
    let _ = COLOR.set(color);
}

/// Whether what goes to `stream` is styled.
#[allow(clippy::disallowed_methods, reason = "conventions of terminals; no result depends on them")]
pub fn is_styled(stream: &impl IsTerminal) -> bool {
    match COLOR.get().copied().unwrap_or_default() {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
            stream.is_terminal() && !wants_none && !is_dumb
        }
    }
}

/// Keeps how this process is started again: a program and its first arguments.
pub fn remember_itself(words: Vec<OsString>) {
    let _ = ITSELF.set(words);
}

/// Returns the program and first arguments that start this process again.
pub fn itself() -> &'static [OsString] {
    ITSELF.get().map_or(&[], Vec::as_slice)
}

/// Keeps the command line for the files that name it. Its program goes by name only: where it is
/// installed says nothing about a result.
pub fn remember_command_line(words: impl Iterator<Item = OsString>) {
    // A second command in one process is the same command line's.
    let _ = COMMAND_LINE.set(words.map(|word| word.to_string_lossy().into_owned()).collect());
}

/// The command line.
pub fn command_line() -> Vec<String> {
    COMMAND_LINE.get().cloned().unwrap_or_default()
}

/// One message on standard error, with names from files made harmless. A closed standard error is
/// no reason to fail.
pub fn say(message: &str) {
    let message = harmless(message);
    let codes = [("error:", "1;31"), ("warning:", "1;33")];
    let code = codes.into_iter().find(|(word, _)| message.starts_with(word) && is_styled(&io::stderr()));
    match code {
        Some((word, code)) => say_styled(&format!("\u{1b}[{code}m{word}\u{1b}[0m{}", &message[word.len()..])),
        None => say_styled(&message),
    }
}

/// One message with colors of our own.
pub fn say_styled(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Text without what terminals obey: a name in a scenario could clear the screen, or give the
/// window another title.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    // Bytes are looked at faster than letters, and all of them faster than up to the first that is
    // found; 0xC2 begins the control characters beyond ASCII.
    let is_suspect = |byte: u8| byte == 0xc2 || byte == 0x7f || (byte < 0x20 && byte != b'\n' && byte != b'\t');
    if text.bytes().fold(false, |any, byte| any | is_suspect(byte)) && text.contains(is_harmful) {
        Cow::Owned(text.replace(is_harmful, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Text on standard output, with names from files made harmless.
///
/// # Errors
/// When it cannot be written, for instance because the reader has gone.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(harmless(text).as_bytes())?;
    out.flush()
}

/// The value as JSON for people and programs, with a line's end.
pub fn json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Prints like [`print`], with some lines in bold where a terminal shows that.
///
/// # Errors
/// As [`print`].
pub fn print_text(text: &Text) -> io::Result<()> {
    if !is_styled(&io::stdout()) {
        return print(&text.plain);
    }
    let mut out = io::stdout().lock();
    out.write_all(styled(text).as_bytes())?;
    out.flush()
}

/// Harmless lines, bold ones between the sequences for it.
fn styled(text: &Text) -> String {
    let mut styled = String::new();
    for (number, line) in harmless(&text.plain).lines().enumerate() {
        match text.bold.binary_search(&number) {
            Ok(_) => styled.extend(["\u{1b}[1m", line, "\u{1b}[0m\n"]),
            Err(_) => styled.extend([line, "\n"]),
        }
    }
    styled
}

/// Columns to write in: those of the terminal, or 120 where there is none.
pub fn width() -> usize {
    if !io::stdout().is_terminal() {
        return 120;
    }
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_out_are_bold_and_no_less_harmless() {
        let text = Text { plain: "one\ntwo\u{1b}[2J\n\n".to_owned(), bold: vec![1] };
        assert_eq!(styled(&text), "one\n\u{1b}[1mtwo\u{fffd}[2J\u{1b}[0m\n\n");
    }

    #[test]
    fn terminals_get_nothing_to_obey() {
        assert_eq!(harmless("a\tb\nä µs ±"), "a\tb\nä µs ±");
        assert_eq!(
            harmless("\u{1b}]0;title\u{7}\u{1b}[2J\0\r\u{9b}2J"),
            "\u{fffd}]0;title\u{fffd}\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}2J"
        );
    }
}
