//! Namespaces: of networks, which belong to threads, and of users, mounts and processes.

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
    let (user, group) = ids();
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })?;
    map((0, user), (0, group))
}

/// Whose namespaces a process gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// Those of the user that it is, for whom it must be allowed to make them.
    Itself,
    /// Those of root of a new user namespace, whom the process is then there.
    RootOfItsOwn,
}

/// Gives this process, which must have one thread only, mounts of its own, and those that it starts
/// from now on processes of their own: the first of them is number one there, and with it all end.
///
/// # Errors
/// When the kernel refuses, or there are more threads.
pub fn close_off(who: As) -> io::Result<()> {
    let flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
    match who {
        // SAFETY: the call takes no pointers.
        As::Itself => checked(unsafe { libc::unshare(flags) }).map(|_| ()),
        As::RootOfItsOwn => {
            let (user, group) = ids();
            // SAFETY: the call takes no pointers.
            checked(unsafe { libc::unshare(libc::CLONE_NEWUSER | flags) })?;
            map((0, user), (0, group))
        }
    }
}

/// Makes this process, which is root of a user namespace and must have one thread only, the user
/// and group with these numbers of another one within it, without any capability from the next
/// program on.
///
/// # Errors
/// When the kernel refuses, or there are more threads.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    let (outer_user, outer_group) = ids();
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    map((user, outer_user), (group, outer_group))
}

/// Effective user and group of this process.
#[must_use]
pub fn ids() -> (u32, u32) {
    // SAFETY: the calls take no pointers and return plain numbers.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Says who this process, in a new user namespace, is: numbers inside and outside.
fn map(user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{} {} 1\n", user.0, user.1))?;
    std::fs::write("/proc/self/gid_map", format!("{} {} 1\n", group.0, group.1))
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
