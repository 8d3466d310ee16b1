//! Options of sockets.

use super::checked;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Numbers without addresses among them, for which all zeros are valid.
pub(super) trait Plain {}
impl Plain for libc::c_int {}
impl Plain for u32 {}
impl<const N: usize> Plain for [u8; N] {}
impl Plain for libc::packet_mreq {}
impl Plain for libc::ucred {}
impl Plain for libc::tpacket_req {}
impl Plain for libc::tpacket_stats {}

/// Sets an option.
pub(super) fn set<T: Plain>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: there is no address within `value`.
    unsafe { set_with_addresses(socket, level, option, value) }
}

/// Sets an option.
///
/// # Safety
/// Addresses within `value` must be those of memory that the kernel may use as the option says.
pub(super) unsafe fn set_with_addresses<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: pointer and length describe `value`, which outlives the call and is only read.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), len) }).map(|_| ())
}

/// Reads an option; a kernel that knows less of it leaves the rest zero.
pub(super) fn get<T: Plain>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int) -> io::Result<T> {
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: pointer and length describe `value`, exclusively borrowed for the call, and all zeros
    // are valid for plain numbers.
    unsafe {
        let mut value: T = zeroed();
        checked(libc::getsockopt(socket.as_raw_fd(), level, option, std::ptr::from_mut(&mut value).cast(), &raw mut len))?;
        Ok(value)
    }
}
