//! Standard output and standard error, of which neither may be taken for granted.

use std::io::{self, IsTerminal, Write};

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
