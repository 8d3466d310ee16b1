//! Errors in the text of a script, and the error for behavior that a stack does not model.

use std::fmt;

/// A place in a script: line and column, both counted from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// A script that cannot be read: the first fault and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ScriptError {
    /// The place of the error.
    pub place: Place,
    /// The error, in one line.
    pub message: String,
}

impl ScriptError {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into() }
    }
}

/// A feature that a stack does not model, described in a few words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotModelled(pub String);

impl NotModelled {
    /// With these words.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl Place {
    /// The place behind `text`, which begins here.
    pub(crate) fn behind(self, text: &str) -> Self {
        text.chars().fold(self, |place, c| match c {
            '\n' => Self { line: place.line + 1, column: 1 },
            _ => Self { column: place.column + 1, ..place },
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
