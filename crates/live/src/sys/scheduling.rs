//! When a thread runs, and waiting for packets.

use super::checked;
use goodqueue_base::units::Duration;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Timers of this thread are exact to the nanosecond instead of 50 us, as far as the kernel can.
///
/// # Errors
/// When the kernel refuses.
pub fn exact_timers() -> io::Result<()> {
    Ok(set_current_timer_slack(Some(NonZeroU64::MIN))?)
}

/// This thread comes before all that are not real-time threads themselves. It must sleep often: one
/// that hardly does is taken the processor away for up to 50 ms every second.
///
/// # Errors
/// When the kernel refuses, most often for want of `CAP_SYS_NICE`.
pub fn real_time(priority: libc::c_int) -> io::Result<()> {
    // The calls for threads: musl refuses those for processes. It has more fields, too.
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the pointer is to a valid structure that outlives the call.
    match unsafe { libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_FIFO, &raw const parameters) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// True for a real-time thread.
#[must_use]
pub fn is_real_time() -> bool {
    let mut policy = 0;
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to valid values that outlive the call.
    let error = unsafe { libc::pthread_getschedparam(libc::pthread_self(), &raw mut policy, &raw mut parameters) };
    error == 0 && matches!(policy, libc::SCHED_FIFO | libc::SCHED_RR)
}

/// Processor time that this thread has used.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::secs(time.tv_sec as u64) + Duration::ns(time.tv_nsec as u64)
}

/// Reason why a wait ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Something arrived, or there is an error.
    pub ready: bool,
    /// Descriptors that have an error to be asked for.
    pub errors: [bool; 2],
}

/// Waits for an arrival at one of two descriptors, at most for `longest`.
///
/// # Errors
/// When the kernel refuses; a signal is no error.
pub fn wait(descriptors: [Option<BorrowedFd<'_>>; 2], longest: Duration) -> io::Result<Woken> {
    let mut entries = descriptors.map(|fd| libc::pollfd {
        // Negative descriptors are ignored.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    let nanos = longest.as_nanos();
    let timeout =
        libc::timespec { tv_sec: (nanos / 1_000_000_000).min(3600) as _, tv_nsec: (nanos % 1_000_000_000) as libc::c_long };
    // SAFETY: array and timeout are valid and outlive the call; the mask may be null.
    let ready = unsafe { libc::ppoll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, &raw const timeout, std::ptr::null()) };
    match checked(ready) {
        Ok(ready) => {
            let errors = entries.map(|entry| entry.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0);
            Ok(Woken { ready: ready > 0, errors })
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Woken::default()),
        Err(error) => Err(error),
    }
}
