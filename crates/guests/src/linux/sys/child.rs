//! Starting a guest so that it never outlives this process.

use super::checked;
use std::io::{self, PipeWriter};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// More descriptors than any guest gets.
const MAX: usize = 8;

/// While this is there, the processes of a child live; they are killed when it is dropped, or this
/// process dies in whatever way.
#[derive(Debug)]
pub struct KillOnDrop {
    _ours: PipeWriter,
}

/// Makes the child die with the thread that starts it, in a process group of its own, at fixed
/// addresses, with these descriptors open as numbers 3, 4, …. What else belongs to the group dies
/// with the tether.
///
/// # Errors
/// When there are no more descriptors.
pub fn bind(command: &mut Command, descriptors: Vec<libc::c_int>) -> io::Result<KillOnDrop> {
    // SAFETY: the process's number has no preconditions.
    let parent = unsafe { libc::getpid() };
    let (theirs, ours) = io::pipe()?;
    command.process_group(0);
    // SAFETY: between fork and exec only calls that are safe after a fork are made; nothing is
    // allocated or locked.
    unsafe {
        command.pre_exec(move || {
            checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // Had the parent died before this was set, nobody would be told.
            if libc::getppid() != parent {
                libc::_exit(1);
            }
            start_keeper(theirs.as_raw_fd())?;
            checked(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong))?;
            // First out of the way of the numbers they get, then onto these.
            let mut high = [0; MAX];
            for (to, from) in high.iter_mut().zip(&descriptors) {
                *to = checked(libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, 64))?;
            }
            for (number, from) in (3..).zip(&high[..descriptors.len()]) {
                checked(libc::dup2(*from, number))?;
            }
            Ok(())
        });
    }
    Ok(KillOnDrop { _ours: ours })
}

/// Starts a process that waits for the end of a pipe and then kills the group of the one that calls
/// this. A kernel that boots has helpers which it stops; were it killed then, they would stay for
/// ever.
///
/// # Safety
/// To be called between fork and exec: makes only calls that are safe there.
unsafe fn start_keeper(pipe: libc::c_int) -> io::Result<()> {
    // SAFETY: none of the calls takes pointers but to locals; the keeper and its parent end with
    // _exit.
    unsafe {
        let group = libc::getpid();
        let between = checked(libc::fork())?;
        if between > 0 {
            let mut status = 0;
            checked(libc::waitpid(between, &raw mut status, 0))?;
            let made = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
            return if made { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EAGAIN)) };
        }
        // The kernel that comes must have no children that it does not know.
        match libc::fork() {
            0 => {}
            keeper => libc::_exit(libc::c_int::from(keeper < 0)),
        }
        libc::dup2(pipe, 0);
        // Its own end of the pipe among them: the keeper would wait for itself.
        if libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0) != 0 {
            // Kernels before 5.9.
            for number in 1..libc::sysconf(libc::_SC_OPEN_MAX).clamp(1024, 1 << 20) as libc::c_int {
                libc::close(number);
            }
        }
        let mut byte = 0_u8;
        while libc::read(0, (&raw mut byte).cast(), 1) != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) {}
        libc::kill(-group, libc::SIGKILL);
        libc::_exit(0)
    }
}
