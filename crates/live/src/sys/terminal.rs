//! The terminal that a program was started from.

use super::signals::{change_mask, set_of};
use rustix::process::getpgrp;
use rustix::termios::tcsetpgrp;
use std::io::{self, IsTerminal};

/// Makes this process's group the one that the terminal listens to again, after a shell that was
/// started from here has taken it. Nothing happens without a terminal.
///
/// # Errors
/// When the kernel refuses.
pub fn take_back() -> io::Result<()> {
    if !io::stdin().is_terminal() {
        return Ok(());
    }
    // The signal would stop a process in the background, which this one is.
    let before = change_mask(libc::SIG_BLOCK, &set_of([libc::SIGTTOU])?)?;
    let taken = tcsetpgrp(io::stdin(), getpgrp());
    change_mask(libc::SIG_SETMASK, &before)?;
    Ok(taken?)
}
