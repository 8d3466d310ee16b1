//! Namespaces: of networks, which belong to threads, and of users, mounts and processes.

use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;

/// Puts this thread into a new, empty network namespace.
///
/// # Errors
/// When the kernel refuses, most often for want of `CAP_SYS_ADMIN`.
pub fn leave() -> io::Result<()> {
    unshare(UnshareFlags::NEWNET)
}

/// Makes this process, which must have one thread only, root of a new user namespace and of a
/// network namespace in it.
///
/// # Errors
/// When the kernel refuses, or there are more threads.
pub fn become_root() -> io::Result<()> {
    become_other(UnshareFlags::NEWNET, 0, 0)
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
    let flags = UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    match who {
        As::Itself => unshare(flags),
        As::RootOfItsOwn => become_other(flags, 0, 0),
    }
}

/// Makes this process, which is root of a user namespace and must have one thread only, the user
/// and group with these numbers of another one within it, without any capability from the next
/// program on.
///
/// # Errors
/// When the kernel refuses, or there are more threads.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    become_other(UnshareFlags::empty(), user, group)
}

/// Effective user and group of this process.
#[must_use]
pub fn ids() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the call is unsafe for the table of open files only, which no caller separates.
    Ok(unsafe { unshare_unsafe(flags) }?)
}

/// Makes this process these numbers of a new user namespace, and owner of new ones by `flags`.
fn become_other(flags: UnshareFlags, user: u32, group: u32) -> io::Result<()> {
    let (outer_user, outer_group) = ids();
    unshare(UnshareFlags::NEWUSER | flags)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {outer_user} 1\n"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {outer_group} 1\n"))
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
    Ok(move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?)
}

/// True if this process is root, of any user namespace.
#[must_use]
pub fn is_root() -> bool {
    geteuid().is_root()
}
