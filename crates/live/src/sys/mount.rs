//! Mounts that this process and its children see alone.

use super::checked;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a path with a zero byte"))
}

fn mount(source: &Path, target: &Path, kind: &str, flags: libc::c_ulong) -> io::Result<()> {
    let (source, target) = (path(source)?, path(target)?);
    let kind = path(Path::new(kind))?;
    // SAFETY: all pointers are to strings that outlive the call and are only read.
    checked(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) }).map(|_| ())
}

/// From now on mounts of this process are its own: none reaches the rest of the system.
///
/// # Errors
/// When the kernel refuses, most often because the process is in a mount namespace that it does not
/// own.
pub fn keep_to_ourselves() -> io::Result<()> {
    mount(Path::new("none"), Path::new("/"), "none", libc::MS_REC | libc::MS_SLAVE)
}

/// Puts the processes of this process's own PID namespace at `/proc`.
///
/// # Errors
/// When the kernel refuses.
pub fn processes() -> io::Result<()> {
    mount(Path::new("proc"), Path::new("/proc"), "proc", libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC)
}

/// Puts `texts` in the place of the files of these names, links followed; files that do not exist
/// are left out. No file is written: the texts are in memory, as long as somebody sees them.
///
/// # Errors
/// When the kernel refuses.
pub fn replace_files(texts: &[(&Path, String)]) -> io::Result<()> {
    // A file system in memory is needed for a moment, at a place that every system has.
    let place = Path::new("/tmp");
    let targets: Vec<_> = texts.iter().filter_map(|(file, text)| Some((file.canonicalize().ok()?, text))).collect();
    if targets.iter().any(|(target, _)| target.starts_with(place)) {
        return Err(io::Error::other("files below /tmp cannot be replaced"));
    }
    mount(Path::new("tmpfs"), place, "tmpfs", libc::MS_NOSUID | libc::MS_NODEV)?;
    let mut outcome = Ok(());
    for (number, (target, text)) in targets.iter().enumerate() {
        let source = place.join(number.to_string());
        outcome =
            outcome.and_then(|()| std::fs::write(&source, text)).and_then(|()| mount(&source, target, "none", libc::MS_BIND));
    }
    let place = path(place)?;
    // SAFETY: the pointer is to a string that outlives the call and is only read.
    let removed = checked(unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) });
    outcome.and(removed.map(|_| ()))
}
