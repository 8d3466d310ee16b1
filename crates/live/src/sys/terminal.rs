//! The terminal that a program was started from.

use super::checked;
use std::io::{self, IsTerminal};
use std::mem::MaybeUninit;

/// Makes this process's group the one that the terminal listens to again, after a shell that was
/// started from here has taken it. Nothing happens without a terminal.
///
/// # Errors
/// When the kernel refuses.
pub fn take_back() -> io::Result<()> {
    if !io::stdin().is_terminal() {
        return Ok(());
    }
    let mut set = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: the sets are initialized by the calls before they are used, and all pointers outlive
    // their calls; the others take no pointers. The signal would stop a process in the background,
    // which this one is.
    unsafe {
        checked(libc::sigemptyset(set.as_mut_ptr()))?;
        checked(libc::sigaddset(set.as_mut_ptr(), libc::SIGTTOU))?;
        if libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let taken = checked(libc::tcsetpgrp(libc::STDIN_FILENO, libc::getpgrp()));
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        taken.map(|_| ())
    }
}
