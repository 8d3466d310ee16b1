//! Network namespaces, which belong to threads.

use super::checked;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Puts this thread into a new, empty network namespace.
///
/// # Errors
/// When the kernel refuses, most often for want of `CAP_SYS_ADMIN`.
pub fn leave() -> io::Result<()> {
    // SAFETY: the call takes no pointers and changes nothing but which network this thread sees.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(|_| ())
}

/// Makes this process, which must have one thread only, root of a new user namespace and of a
/// network namespace in it.
///
/// # Errors
/// When the kernel refuses, or there are more threads.
pub fn become_root() -> io::Result<()> {
    // SAFETY: the calls take no pointers and return plain numbers.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1\n"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1\n"))
}

/// The network namespace of this thread; it lives as long as the file.
///
/// # Errors
/// When there is no `/proc`.
pub fn current() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

/// Puts this thread into a network namespace.
///
/// # Errors
/// When the kernel refuses.
pub fn enter(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the descriptor is open for the whole call, which changes nothing but which network
    // this thread sees.
    checked(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(|_| ())
}

/// True if this process is root, of any user namespace.
#[must_use]
pub fn is_root() -> bool {
    // SAFETY: the call takes no pointers and cannot fail.
    unsafe { libc::geteuid() == 0 }
}
