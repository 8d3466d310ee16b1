//! The folder a result is written to.

use super::lock::{FolderLock, Taken};
use crate::results::error::RecordError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that writes a file's content.
pub type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Whether a file is worth waiting for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// A file that is worth waiting for.
    OnDisk,
    /// A file that is quicker to make again than to wait for: when the machine loses power soon
    /// after, the content may be gone although the file has its name.
    InPassing,
}

impl Settled {
    /// Waits, or not.
    pub(super) fn wait(self, file: &File) -> io::Result<()> {
        match self {
            Self::OnDisk => file.sync_all(),
            Self::InPassing => Ok(()),
        }
    }
}

/// An existing folder that files can be written to, by nobody else as long as this lives.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: Option<Arc<FolderLock>>,
}

impl Folder {
    /// Makes the folder if it is not there, locks it against other processes, and tries whether it
    /// takes a file. Removes temporary files of a process that was killed.
    ///
    /// # Errors
    /// [`RecordError::Unusable`] when it is no folder, cannot be made, or takes no file;
    /// [`RecordError::Held`] when another process writes to it.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let unusable = |source| RecordError::Unusable { path: path.to_owned(), source };
        if path.exists() && !path.is_dir() {
            return Err(unusable(io::Error::new(io::ErrorKind::NotADirectory, "is not a directory")));
        }
        fs::create_dir_all(path).map_err(unusable)?;
        let Taken { lock, trial } = FolderLock::take(path)?;
        remove_temporary(path).map_err(unusable)?;
        trial.unwrap_or_else(|| try_writing(path)).map_err(unusable)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// When it cannot be written; what was there before stays.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        self.write_by(name, Settled::OnDisk, &mut |out| out.write_all(bytes))
    }

    /// Writes a whole file without waiting for the disk, for content that is quicker to make again:
    /// when the machine loses power soon after, the content may be gone although the file has its
    /// name.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_in_passing(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        self.write_by(name, Settled::InPassing, &mut |out| out.write_all(bytes))
    }

    /// Writes a whole file, which `fill` writes piece by piece.
    ///
    /// # Errors
    /// When it cannot be written; what was there before stays.
    pub fn write_by(&self, name: &str, settled: Settled, fill: Fill<'_>) -> Result<PathBuf, RecordError> {
        let path = self.path.join(name);
        put_file(&path, fill, settled)?;
        Ok(path)
    }

    /// Removes what an earlier result left under this name, so that the folder holds one result and
    /// not parts of two.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), RecordError> {
        remove_file(&self.path.join(name))
    }
}

/// Removes a file that may be there.
pub(crate) fn remove_file(path: &Path) -> Result<(), RecordError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(RecordError::Write { path: path.to_owned(), source }),
        _ => Ok(()),
    }
}

/// Writes a whole file: under a temporary name in the same folder, then renamed, so that `path`
/// never holds half of it. What is no plain file, such as a pipe or a device, is written to
/// directly.
///
/// # Errors
/// When it cannot be written; the temporary file is removed.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    put_file(path, &mut |out| out.write_all(bytes), Settled::OnDisk)
}

/// Writes a whole file without waiting for the disk, one of many files whose reader notices a
/// damaged one: when the machine loses power soon after, its content may be gone although it has
/// its name.
///
/// # Errors
/// As [`write_file`].
pub fn write_one_of_many(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    put_file(path, &mut |out| out.write_all(bytes), Settled::InPassing)
}

fn put_file(path: &Path, fill: Fill<'_>, settled: Settled) -> Result<(), RecordError> {
    let written = if fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        File::options().write(true).open(path).and_then(|mut file| fill(&mut file))
    } else {
        let temporary = temporary_name(path);
        let written = File::create_new(&temporary).and_then(|mut file| {
            fill(&mut file)?;
            settled.wait(&file)
        });
        let result = written.and_then(|()| fs::rename(&temporary, path));
        if result.is_err() {
            // The first error is the one to report; the file may not even exist.
            let _ = fs::remove_file(&temporary);
        }
        result
    };
    written.map_err(|source| RecordError::Write { path: path.to_owned(), source })
}

/// Checks that [`write_file`] will be able to write `path`, without touching what is there.
///
/// # Errors
/// [`RecordError::Target`] when it is a folder, or its folder is missing or takes no file.
pub fn check_target(path: &Path) -> Result<(), RecordError> {
    let target = |source| RecordError::Target { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(facts) if facts.is_dir() => Err(target(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"))),
        Ok(facts) if !facts.is_file() => Ok(()),
        _ => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
            if !folder.is_dir() {
                let message = format!("there is no folder {}", folder.display());
                return Err(target(io::Error::new(io::ErrorKind::NotFound, message)));
            }
            try_writing(folder).map_err(target)
        }
    }
}

/// Writes and removes a file. A full disk still makes an empty file, so the trial has content. The
/// disk is not waited for, since local file systems reserve room when they take content.
fn try_writing(folder: &Path) -> io::Result<()> {
    let trial = temporary_name(&folder.join(".goodqueue"));
    let tried = File::create_new(&trial).and_then(|mut file| file.write_all(&[0; 4096]));
    let removed = fs::remove_file(&trial);
    tried.and(removed)
}

/// The name a file has until it is whole: its own, then the process and a number that it uses once.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = OsString::from(path.as_os_str());
    name.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    name.into()
}

/// Whether a file's name is one that [`temporary_name`] makes.
fn is_temporary(name: &str) -> bool {
    let numbers =
        name.strip_suffix(".tmp").and_then(|name| name.rsplit_once('.')).and_then(|(_, numbers)| numbers.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, count)| is_number(process) && is_number(count))
}

/// Removes what a process that was killed left in a folder that nobody else writes to now.
fn remove_temporary(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_temporary) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_way_is_not_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "x").unwrap();
        let error = Folder::create(&path).unwrap_err();
        assert!(error.to_string().ends_with("file: cannot hold results: is not a directory"), "{error}");
        let error = Folder::create(&path.join("below")).unwrap_err();
        assert!(matches!(error, RecordError::Unusable { .. }), "{error}");
    }

    #[test]
    fn failed_write_keeps_the_earlier_file_and_leaves_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path()).unwrap();
        // A folder under the file's name makes the write fail.
        let inside = dir.path().join("summary.json/inside");
        fs::create_dir_all(&inside).unwrap();
        assert!(matches!(folder.write("summary.json", b"first"), Err(RecordError::Write { .. })));
        assert!(inside.is_dir());
        fs::remove_dir_all(dir.path().join("summary.json")).unwrap();
        folder.write("summary.json", b"second").unwrap();
        folder.remove("summary.json").unwrap();
        folder.remove("summary.json").unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn two_writers_do_not_meet() {
        let dir = tempfile::tempdir().unwrap();
        // Another open file stands for another process.
        let other = File::create(dir.path().join(crate::results::record::lock::NAME)).unwrap();
        other.lock().unwrap();
        let error = Folder::create(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("is being written to by another process: wait for its end, or use another folder"), "{error}");
        drop(other);
        Folder::create(dir.path()).unwrap();
        let names = [temporary_name(Path::new("a")), temporary_name(Path::new("a"))];
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["series.parquet.4711-0.tmp", "notes.tmp", "draft-1.tmp", "a.1-x.tmp"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        drop(Folder::create(dir.path()).unwrap());
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["a.1-x.tmp", "draft-1.tmp", "notes.tmp"]);
    }

    #[test]
    fn a_target_that_cannot_be_written_is_found_before() {
        let dir = tempfile::tempdir().unwrap();
        check_target(&dir.path().join("new.json")).unwrap();
        let error = check_target(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("cannot be written: is a directory"), "{error}");
        let error = check_target(&dir.path().join("nowhere/new.json")).unwrap_err().to_string();
        assert!(error.contains("cannot be written: there is no folder "), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said() {
        let error = write_file(Path::new("/dev/full"), b"{}").unwrap_err();
        assert!(error.to_string().starts_with("/dev/full: cannot be written: No space left"), "{error}");
    }
}
