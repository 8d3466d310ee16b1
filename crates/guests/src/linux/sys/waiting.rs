//! Waiting for one of several descriptors.

use super::checked;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Returns which of these have something to read, or are at their end, within `most`; none when
/// nothing came.
///
/// # Errors
/// When the kernel refuses.
pub fn readable<const N: usize>(descriptors: [Option<RawFd>; N], most: Duration) -> io::Result<[bool; N]> {
    let mut polled = descriptors.map(|fd| libc::pollfd { fd: fd.unwrap_or(-1), events: libc::POLLIN, revents: 0 });
    let millis = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: pointer and count describe `polled`, exclusively borrowed for the call.
    let result = checked(unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, millis) });
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok([false; N]),
        Err(error) => Err(error),
        Ok(_) => Ok(polled.map(|entry| entry.revents != 0)),
    }
}
