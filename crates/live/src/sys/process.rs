//! Other processes.

use super::checked;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

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
