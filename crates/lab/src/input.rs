//! Text files that scenarios name: opened with care, and what is wrong with one.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Take};
use std::path::Path;

/// A file that is not what a scenario needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    place: Place,
    message: String,
}

/// Where in a file something is wrong; all numbers count from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line.
    Line(u64),
    /// A line and a column of it, in characters.
    Cell(u64, usize),
}

impl FileError {
    /// An error of the file as a whole.
    pub(crate) fn whole(file: &str, message: impl Into<String>) -> Self {
        Self::at(file, Place::Whole, message)
    }

    /// An error at a place.
    pub(crate) fn at(file: &str, place: Place, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place, message: message.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }
}

impl fmt::Display for FileError {
    /// `file:line:column: what is wrong`, as far as the place is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, message } = self;
        match place {
            Place::Whole => write!(f, "{file}: {message}"),
            Place::Line(line) => write!(f, "{file}:{line}: {message}"),
            Place::Cell(line, column) => write!(f, "{file}:{line}:{column}: {message}"),
        }
    }
}

impl std::error::Error for FileError {}

/// Opens a regular file of at most `largest` bytes.
pub(crate) fn open(path: &Path, largest: u64) -> Result<BufReader<Take<File>>, FileError> {
    let fault = |message: String| FileError::whole(&path.display().to_string(), message);
    let facts = std::fs::metadata(path).map_err(|error| fault(why(&error)))?;
    // Reading a directory fails late and reading a pipe may never end.
    if facts.is_dir() {
        return Err(fault("is a directory".to_owned()));
    }
    if !facts.is_file() {
        return Err(fault("is not a regular file".to_owned()));
    }
    if facts.len() > largest {
        return Err(fault(format!("has {} bytes: allowed up to {largest}", facts.len())));
    }
    let file = File::open(path).map_err(|error| fault(why(&error)))?;
    // The file may grow while it is read.
    Ok(BufReader::new(file.take(largest)))
}

/// What went wrong with a file, for a person.
pub(crate) fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "may not be read: permission denied".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}
