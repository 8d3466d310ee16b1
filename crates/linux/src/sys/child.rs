//! Starting a guest so that it never outlives this process.

use super::checked;
use std::io;
use std::mem::zeroed;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the child die with the thread that starts it, in a process group of its own, at fixed addresses, with these descriptors open as
/// numbers 3, 4, ….
pub fn bind(command: &mut Command, descriptors: Vec<libc::c_int>) {
    // SAFETY: the process's number has no preconditions.
    let parent = unsafe { libc::getpid() };
    command.process_group(0);
    // SAFETY: between fork and exec only calls that are safe after a fork are made; nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || {
            checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // Had the parent died before this was set, nobody would be told.
            if libc::getppid() != parent {
                libc::_exit(1);
            }
            checked(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong))?;
            // First out of the way of the numbers they get, then onto these.
            let mut high = [0; super::descriptors::MOST];
            for (to, from) in high.iter_mut().zip(&descriptors) {
                *to = checked(libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, 64))?;
            }
            for (number, from) in (3..).zip(&high[..descriptors.len()]) {
                checked(libc::dup2(*from, number))?;
            }
            Ok(())
        });
    }
}

/// Ends a whole process group.
pub fn kill_group(leader: u32) {
    if let Ok(leader) = libc::pid_t::try_from(leader)
        && leader > 1
    {
        // SAFETY: the call takes no pointers; a group that is gone is no harm.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
}

/// Processors that this thread may use.
///
/// # Errors
/// When the kernel refuses.
pub fn processors() -> io::Result<Vec<usize>> {
    // SAFETY: a set is plain old data for which all zeros are valid, exclusively borrowed for the call; numbers asked for are within it.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        checked(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set))?;
        Ok((0..libc::CPU_SETSIZE as usize).filter(|&number| libc::CPU_ISSET(number, &set)).collect())
    }
}

/// Holds this thread, and what it starts from now on, to these processors.
///
/// # Errors
/// When the kernel refuses.
pub fn stay_on(processors: &[usize]) -> io::Result<()> {
    // SAFETY: a set is plain old data for which all zeros are valid; numbers are held to its size.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        for &number in processors.iter().filter(|&&number| number < libc::CPU_SETSIZE as usize) {
            libc::CPU_SET(number, &mut set);
        }
        checked(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)).map(|_| ())
    }
}
