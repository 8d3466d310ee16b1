//! Mounts that this process and its children see alone.

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount};
use std::io;
use std::path::Path;

/// From now on mounts of this process are its own: none reaches the rest of the system.
///
/// # Errors
/// When the kernel refuses, most often because the process is in a mount namespace that it does not
/// own.
pub fn keep_to_ourselves() -> io::Result<()> {
    Ok(mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?)
}

/// Puts the processes of this process's own PID namespace at `/proc`.
///
/// # Errors
/// When the kernel refuses.
pub fn processes() -> io::Result<()> {
    Ok(mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?)
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
    mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)?;
    let outcome = targets.iter().enumerate().try_for_each(|(number, (target, text))| {
        let source = place.join(number.to_string());
        std::fs::write(&source, text)?;
        Ok(mount_bind(&source, target)?)
    });
    let removed = unmount(place, UnmountFlags::DETACH);
    outcome.and(Ok(removed?))
}
