//! Errors in the files of a gallery, and errors in reading or writing its results.

use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::scenario::plan::PlanError;
use std::ops::Range;

/// One wrong thing in one of a paper's files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {}{message}", before_message(field))]
pub struct FileFault {
    /// `file:line:column`, or the file alone.
    pub place: String,
    /// The field, as a dotted key; empty when the file as a whole is meant.
    pub field: String,
    /// The fault: value and what is allowed.
    pub message: String,
}

impl FileFault {
    /// At a part of a file's text.
    #[must_use]
    pub fn at(file: &str, text: &str, span: &Range<usize>, field: &str, message: String) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { place: format!("{file}:{line}:{column}"), field: field.to_owned(), message }
    }

    /// Creates a fault of a whole file.
    #[must_use]
    pub fn in_file(file: &str, message: String) -> Self {
        Self { place: file.to_owned(), field: String::new(), message }
    }
}

fn before_message(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

/// An error that keeps a gallery from being read or its results from being written.
#[derive(Debug, thiserror::Error)]
pub enum GalleryError {
    /// A paper's own file.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A scenario.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A result.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Something asked for that is not there.
    #[error("{0}")]
    Request(String),
}
