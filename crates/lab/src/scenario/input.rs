//! Text files that scenarios name: opened with care, and what is wrong with one.

pub use fault::{FileFault, FlowFault, TraceFault};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Take};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
        remember(&facts);
        Ok(File::open(path)?)
    });
    // The file may grow while it is read.
    let read = opened.map(|file| BufReader::new(file.take(largest)));
    read.map_err(|fault| FileError::whole(&path.display().to_string(), fault))
}

/// Opens a file that a user names, which may be a pipe of the shell or a device: what is read of it
/// needs a bound. One that would keep this process waiting until another comes is refused.
///
/// # Errors
/// When it cannot be opened, or is a directory or a named pipe.
pub fn open_named(path: &Path) -> io::Result<File> {
    let facts = std::fs::metadata(path)?;
    if facts.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if is_named_pipe(path, &facts) {
        return Err(io::Error::other("it is a named pipe, which may never end"));
    }
    remember(&facts);
    File::open(path)
}

/// Device and inode of each file that this process has read: a file may have several names, and
/// standard input has none.
static READ: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// Notes a file that is read.
fn remember(facts: &Metadata) {
    /// More files than this are no command's.
    const MAX: usize = 1 << 16;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(identity) = identity(facts).filter(|_| facts.is_file() && read.len() < MAX) {
        read.insert(identity);
    }
}

/// Notes a file that is read by other means, or the data of a folder of results.
pub fn remember_named(path: &Path) {
    /// Ends of the names of what results are read from; what is made of them may be made again.
    const DATA: [&str; 3] = ["json", "toml", "parquet"];
    let Ok(facts) = std::fs::metadata(path) else { return };
    remember(&facts);
    let files = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_data = |path: &Path| path.extension().is_some_and(|end| DATA.iter().any(|data| end == *data));
    files.filter(|file| is_data(&file.path())).filter_map(|file| file.metadata().ok()).for_each(|facts| remember(&facts));
}

/// Whether this process has read the file that has this name, under any name: writing it would
/// destroy its input.
#[must_use]
pub fn was_read(path: &Path) -> bool {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    std::fs::metadata(path).is_ok_and(|facts| identity(&facts).is_some_and(|identity| read.contains(&identity)))
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn identity(facts: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((facts.dev(), facts.ino()))
}

#[cfg(not(unix))]
fn identity(_facts: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Reads a text that a user names, of at most `largest` bytes.
///
/// # Errors
/// As [`open_named`], or it is larger or no text.
pub fn read_named(path: &Path, largest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_named(path)?.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(io::Error::other(format!("it is too large: allowed up to {largest} bytes")));
    }
    String::from_utf8(bytes)
        .map_err(|error| io::Error::other(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1)))
}

/// Whether it is a pipe with a place among files, which blocks any process that opens it until
/// another writes. Those of `/dev/stdin` and `<(command)` have none, and are open already.
#[cfg(unix)]
pub(crate) fn is_named_pipe(path: &Path, facts: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    facts.file_type().is_fifo() && std::fs::canonicalize(path).is_ok_and(|real| real.exists())
}

#[cfg(not(unix))]
pub(crate) fn is_named_pipe(_path: &Path, _facts: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_never_end_is_refused_or_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
        assert!(made.success());
        let say = |path: &Path| read_named(path, 1000).expect_err("refused").to_string();
        assert_eq!(say(&pipe), "it is a named pipe, which may never end");
        assert_eq!(say(folder.path()), "it is a directory");
        assert_eq!(say(Path::new("/dev/zero")), "it is too large: allowed up to 1000 bytes");
        let text = folder.path().join("text");
        std::fs::write(&text, b"a\xff").expect("a file");
        assert_eq!(say(&text), "byte 2 is not UTF-8");
        assert_eq!(read_named(Path::new("/dev/null"), 1000).expect("empty"), "");
    }
}
