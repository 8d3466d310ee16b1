//! Standard output and standard error, of which neither may be taken for granted.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

static COMMAND_LINE: OnceLock<Vec<String>> = OnceLock::new();
static ITSELF: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps how this process is started again: a program and its first arguments.
pub fn remember_itself(words: Vec<OsString>) {
    let _ = ITSELF.set(words);
}

/// How this process is started again.
#[cfg(target_os = "linux")]
pub fn itself() -> &'static [OsString] {
    ITSELF.get().map_or(&[], Vec::as_slice)
}

/// Keeps the command line for the files that name it. Its program goes by name only: where it is installed says nothing about a result.
pub fn remember_command_line(words: impl Iterator<Item = OsString>) {
    // A second command in one process is the same command line's.
    let _ = COMMAND_LINE.set(words.map(|word| word.to_string_lossy().into_owned()).collect());
}

/// The command line.
pub fn command_line() -> Vec<String> {
    COMMAND_LINE.get().cloned().unwrap_or_default()
}

/// One message on standard error. A closed standard error is no reason to fail.
pub fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Text on standard output.
///
/// # Errors
/// When it cannot be written, for instance because the reader has gone.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Columns to write in: those of the terminal, or 120 where there is none.
pub fn width() -> usize {
    if !io::stdout().is_terminal() {
        return 120;
    }
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}
