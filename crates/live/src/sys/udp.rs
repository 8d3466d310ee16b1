//! What the kernel's UDP lets a program ask for.

use super::checked;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

/// From now on one call may send several datagrams of `size` bytes of payload, the last of which
/// may be shorter; the kernel hands them to the network card joined, as most QUIC programs do.
///
/// # Errors
/// When the kernel knows no such option.
pub fn send_joined(socket: BorrowedFd<'_>, size: u16) -> io::Result<()> {
    let value = libc::c_int::from(size);
    let len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: pointer and length describe `value`, which outlives the call and is only read.
    checked(unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, libc::UDP_SEGMENT, std::ptr::from_ref(&value).cast(), len)
    })
    .map(|_| ())
}
