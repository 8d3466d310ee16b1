//! Other processes.

use super::checked;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Child;

/// Ends the process that started this one, at once, if it is still `pid`.
///
/// # Errors
/// When it is another, or the kernel refuses.
pub fn kill_parent(pid: u32) -> io::Result<()> {
    // As long as it lives its number is no other's; once it is gone this process has another
    // parent.
    if std::os::unix::process::parent_id() != pid {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it has ended"));
    }
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) }).map(|_| ())
}

/// True if the peer may control this process: root and the same user may.
#[must_use]
pub fn is_trusted(peer: &UnixStream) -> bool {
    let mut credentials = MaybeUninit::<libc::ucred>::uninit();
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: pointer and length describe `credentials`, which outlives the call and is read only
    // when the kernel has filled it; the other call takes no pointers.
    unsafe {
        let level = libc::SOL_SOCKET;
        let result = libc::getsockopt(peer.as_raw_fd(), level, libc::SO_PEERCRED, credentials.as_mut_ptr().cast(), &raw mut len);
        if result != 0 || len as usize != size_of::<libc::ucred>() {
            return false;
        }
        let uid = credentials.assume_init().uid;
        uid == 0 || uid == libc::geteuid()
    }
}

/// Sends a signal to a process that this one has started and not yet waited for.
///
/// # Errors
/// When there is none, or the kernel refuses.
pub fn tell(child: &Child, signal: Word) -> io::Result<()> {
    let signal = match signal {
        Word::HangUp => libc::SIGHUP,
        Word::Terminate => libc::SIGTERM,
    };
    // SAFETY: the call takes no pointers; a child that has not been waited for keeps its number.
    checked(unsafe { libc::kill(child.id().cast_signed(), signal) }).map(|_| ())
}

/// Message of a signal to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The process's terminal is gone.
    HangUp,
    /// The process is to end.
    Terminate,
}

/// Waits for children that ended and are none of `known`, which their starters wait for: processes
/// that lost their own parent, where this one is the first of a PID namespace.
pub fn reap_orphans(known: &[u32]) {
    loop {
        let mut ended = MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the pointer is to memory of the right size that outlives the call, zeroed before,
        // so that reading the number is right when there was nobody to wait for.
        let pid = unsafe {
            if libc::waitid(libc::P_ALL, 0, ended.as_mut_ptr(), flags) != 0 {
                return;
            }
            ended.assume_init().si_pid()
        };
        if pid == 0 || known.contains(&pid.cast_unsigned()) {
            return;
        }
        // SAFETY: no status is asked for.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
    }
}
