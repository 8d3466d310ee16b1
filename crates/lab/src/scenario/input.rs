//! Text files that scenarios name: opened with care, and what is wrong with one.

pub use fault::{FileFault, FlowFault, TraceFault};
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Take};
use std::path::Path;

mod fault;

/// A file that is not what a scenario needs.
#[derive(Clone, Debug, PartialEq)]
pub struct FileError {
    file: String,
    place: Place,
    fault: FileFault,
}

/// The place of a fault in a file; all numbers count from one.
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
    pub(crate) fn whole(file: &str, fault: impl Into<FileFault>) -> Self {
        Self::at(file, Place::Whole, fault)
    }

    /// An error at a place.
    pub(crate) fn at(file: &str, place: Place, fault: impl Into<FileFault>) -> Self {
        Self { file: file.to_owned(), place, fault: fault.into() }
    }

    /// The place of the fault.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// The fault at that place.
    #[must_use]
    pub fn fault(&self) -> &FileFault {
        &self.fault
    }
}

impl fmt::Display for FileError {
    /// `file:line:column: what is wrong`, as far as the place is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, fault } = self;
        match place {
            Place::Whole => write!(f, "{file}: {fault}"),
            Place::Line(line) => write!(f, "{file}:{line}: {fault}"),
            Place::Cell(line, column) => write!(f, "{file}:{line}:{column}: {fault}"),
        }
    }
}

impl std::error::Error for FileError {}

/// Opens a regular file of at most `largest` bytes.
pub(crate) fn open(path: &Path, largest: u64) -> Result<BufReader<Take<File>>, FileError> {
    let facts = std::fs::metadata(path).map_err(FileFault::from);
    let opened = facts.and_then(|facts| {
        // Reading a directory fails late and reading a pipe may never end.
        if facts.is_dir() {
            return Err(FileFault::Directory);
        }
        if !facts.is_file() {
            return Err(FileFault::Special);
        }
        if facts.len() > largest {
            return Err(FileFault::TooLarge { bytes: facts.len(), most: largest });
        }
        Ok(File::open(path)?)
    });
    // The file may grow while it is read.
    let read = opened.map(|file| BufReader::new(file.take(largest)));
    read.map_err(|fault| FileError::whole(&path.display().to_string(), fault))
}
