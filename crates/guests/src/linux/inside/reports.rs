//! Reports to the machine outside.

use crate::linux::report::Line;
use std::fs::File;
use std::io::{self, Write as _};

/// The channel for reports.
pub(super) struct Reports {
    pub(super) terminal: File,
}

impl Reports {
    pub(super) fn say(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.text());
            text.push('\n');
        }
        self.terminal.write_all(text.as_bytes())
    }
}

pub(super) fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
