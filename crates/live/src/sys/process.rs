//! Other processes.

use super::options;
use rustix::process::{Pid, Signal, geteuid, getppid, kill_process};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Ends the process that started this one, at once, if it is still `pid`.
///
/// # Errors
/// When it is another, or the kernel refuses.
pub fn kill_parent(pid: u32) -> io::Result<()> {
    // As long as it lives its number is no other's; once it is gone this process has another
    // parent.
    let parent = getppid().filter(|parent| Pid::as_raw(Some(*parent)).cast_unsigned() == pid);
    let parent = parent.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it has ended"))?;
    Ok(kill_process(parent, Signal::KILL)?)
}

/// True if the peer may control this process: root and the same user may.
#[must_use]
pub fn is_trusted(peer: &UnixStream) -> bool {
    let credentials = options::get::<libc::ucred>(peer.as_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED);
    credentials.is_ok_and(|peer| peer.uid == 0 || peer.uid == geteuid().as_raw())
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
