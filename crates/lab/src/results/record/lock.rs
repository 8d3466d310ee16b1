//! One writer per results folder: an advisory lock on a file in it, which the kernel releases when
//! its process ends in whatever way.

use crate::results::error::RecordError;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Name of the file that is locked.
pub(super) const NAME: &str = ".goodqueue-lock.tmp";
/// A file that its holder removes at the moment it is opened here has to be opened again; more
/// often than this is no coincidence.
const MAX_TRIES: usize = 100;
/// The least size of the file's content, in bytes: a full disk still takes an empty file.
const LEN: usize = 4096;
/// Longest description of a holder, in characters.
const MAX: usize = 160;

/// Locks that this process holds.
static HELD: Mutex<Vec<(PathBuf, Weak<FolderLock>)>> = Mutex::new(Vec::new());

/// The right of this process to write to a folder, given back when the last part of it drops it.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    /// Held open for its lock.
    _file: File,
}

/// The outcome of a request for a lock.
#[derive(Debug)]
pub(super) struct Taken {
    /// `None` on a file system without locks.
    pub(super) lock: Option<Arc<FolderLock>>,
    /// Whether the folder took content, if that was tried.
    pub(super) trial: Option<io::Result<()>>,
}

impl FolderLock {
    /// Takes the lock of `folder`, or shares the one that this process has.
    pub(super) fn take(folder: &Path) -> Result<Taken, RecordError> {
        let unusable = |source| RecordError::Unusable { path: folder.to_owned(), source };
        let place = fs::canonicalize(folder).map_err(unusable)?;
        let mut held = held();
        held.retain(|(_, lock)| lock.strong_count() > 0);
        if let Some(lock) = held.iter().find(|(known, _)| *known == place).and_then(|(_, lock)| lock.upgrade()) {
            return Ok(Taken { lock: Some(lock), trial: None });
        }
        let taken = Self::take_from_others(folder)?;
        held.extend(taken.lock.as_ref().map(|lock| (place, Arc::downgrade(lock))));
        Ok(taken)
    }

    fn take_from_others(folder: &Path) -> Result<Taken, RecordError> {
        let path = folder.join(NAME);
        let unusable = |source| RecordError::Unusable { path: folder.to_owned(), source };
        for _ in 0..MAX_TRIES {
            let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(unusable)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    // Who holds it matters to people only: the lock holds on a full disk too.
                    let trial = file.set_len(0).and_then(|()| file.write_all(&this_process()));
                    let lock = Arc::new(Self { path, _file: file });
                    return Ok(Taken { lock: Some(lock), trial: Some(trial) });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(RecordError::Held { path: folder.to_owned(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    let _ = fs::remove_file(&path);
                    return Ok(Taken { lock: None, trial: None });
                }
                Err(TryLockError::Error(error)) => return Err(unusable(error)),
            }
        }
        Err(unusable(io::Error::other(format!("{NAME} is removed as soon as it is made"))))
    }
}

fn held() -> MutexGuard<'static, Vec<(PathBuf, Weak<FolderLock>)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for FolderLock {
    /// Removes the file while it is locked. A process that opened it before finds that it is gone
    /// and makes a new one.
    fn drop(&mut self) {
        let _held = held();
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether `path` still leads to this open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |facts: &fs::Metadata| (facts.dev(), facts.ino());
    file.metadata().is_ok_and(|ours| fs::metadata(path).is_ok_and(|there| place(&ours) == place(&there)))
}

/// Where files have no such numbers, a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// This process for a person: its number and its command line, with nothing behind them.
fn this_process() -> Vec<u8> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let line = std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ");
    let mut text = format!("process {} ({line})\n", std::process::id()).into_bytes();
    text.resize(text.len().max(LEN), 0);
    text
}

/// The holder's description of itself, fit for a message.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(4 * MAX as u64).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default();
    let mut clean: String = line.chars().filter(|letter| !letter.is_control()).take(MAX).collect();
    if line.chars().count() > MAX {
        clean.push('…');
    }
    if clean.is_empty() { "another process".to_owned() } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_of_the_one_that_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        fs::write(&path, "process 4711 (gq run \u{1b}[2J)\n").unwrap();
        // Another open file stands for another process.
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        let error = FolderLock::take(dir.path()).unwrap_err().to_string();
        assert!(error.contains("is being written to by process 4711 (gq run [2J)"), "{error}");
        drop(other);
        assert!(FolderLock::take(dir.path()).unwrap().lock.is_some());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn one_process_shares_it_and_gives_it_back_with_the_last_part() {
        let dir = tempfile::tempdir().unwrap();
        let [first, second] = [0, 1].map(|_| FolderLock::take(dir.path()).unwrap().lock);
        let is_locked = || File::open(dir.path().join(NAME)).is_ok_and(|file| file.try_lock().is_err());
        drop(first);
        assert!(is_locked());
        drop(second);
        assert!(!dir.path().join(NAME).exists());
    }

    #[test]
    fn a_file_that_a_killed_process_left_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), "process 1 (gq run)").unwrap();
        assert!(FolderLock::take(dir.path()).unwrap().lock.is_some());
    }
}
