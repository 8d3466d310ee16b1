//! The folder a result is written to.

use crate::error::RecordError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// An existing folder that files can be written to.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder if it is not there, and tries whether it takes a file.
    ///
    /// # Errors
    /// [`RecordError::Unusable`] when it is no folder, cannot be made, or takes no file.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let unusable = |source| RecordError::Unusable { path: path.to_owned(), source };
        if path.exists() && !path.is_dir() {
            return Err(unusable(io::Error::new(io::ErrorKind::NotADirectory, "is not a directory")));
        }
        fs::create_dir_all(path).map_err(unusable)?;
        let probe = path.join(".goodqueue.tmp");
        // A full disk still makes an empty file, so the trial has content.
        let tried = File::create(&probe).and_then(|mut file| file.write_all(&[0; 4096]).and_then(|()| file.sync_all()));
        let removed = fs::remove_file(&probe);
        tried.and(removed).map_err(unusable)?;
        Ok(Self { path: path.to_owned() })
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
        let path = self.path.join(name);
        write_file(&path, bytes)?;
        Ok(path)
    }

    /// The same without waiting for the disk, for what is sooner made again: when the machine loses power soon after, the content may be gone
    /// although the file has its name.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_in_passing(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        let path = self.path.join(name);
        put_file(&path, bytes, |_| Ok(()))?;
        Ok(path)
    }

    /// Removes what an earlier result left under this name, so that the folder holds one result and not parts of two.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), RecordError> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RecordError::Write { path, source: error }),
            _ => Ok(()),
        }
    }
}

/// Writes a whole file: under a temporary name beside it, then renamed, so that `path` never holds half of it. What is no
/// plain file, such as a pipe or a device, is written to directly.
///
/// # Errors
/// When it cannot be written; the temporary file is removed.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    put_file(path, bytes, File::sync_all)
}

/// The same without waiting for the disk, for one of many files whose reader notices a damaged one: when the machine loses power
/// soon after, its content may be gone although it has its name.
///
/// # Errors
/// As [`write_file`].
pub fn write_one_of_many(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    put_file(path, bytes, |_| Ok(()))
}

fn put_file(path: &Path, bytes: &[u8], settle: fn(&File) -> io::Result<()>) -> Result<(), RecordError> {
    let written = if fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes))
    } else {
        let temporary = temporary_name(path);
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            settle(&file)
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

/// The name a file has until it is whole.
pub(super) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(".tmp");
    name.into()
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
    fn a_failed_write_keeps_the_file_of_before_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(dir.path()).unwrap();
        folder.write("summary.json", b"first").unwrap();
        // A directory under the temporary name makes the write fail.
        fs::create_dir(dir.path().join("summary.json.tmp")).unwrap();
        assert!(matches!(folder.write("summary.json", b"second"), Err(RecordError::Write { .. })));
        assert_eq!(fs::read(dir.path().join("summary.json")).unwrap(), b"first");
        fs::remove_dir(dir.path().join("summary.json.tmp")).unwrap();
        folder.write("summary.json", b"second").unwrap();
        folder.remove("summary.json").unwrap();
        folder.remove("summary.json").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said() {
        let error = write_file(Path::new("/dev/full"), b"{}").unwrap_err();
        assert!(error.to_string().starts_with("/dev/full: cannot be written: No space left"), "{error}");
    }
}
