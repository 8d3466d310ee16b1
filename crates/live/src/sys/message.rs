//! Messages with one fact besides their bytes: an open file, or an address.

use super::checked;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// Fact that comes with a message, as the kernel has it.
pub(super) trait Ancillary: Copy {
    /// Level and type of the control message.
    const KIND: (libc::c_int, libc::c_int);
}
impl Ancillary for RawFd {
    const KIND: (libc::c_int, libc::c_int) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
}
impl Ancillary for libc::in_pktinfo {
    const KIND: (libc::c_int, libc::c_int) = (libc::IPPROTO_IP, libc::IP_PKTINFO);
}

/// Room for the control message, aligned as such messages are.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends `bytes` with `fact`; to an address where the socket is not connected. Returns how many
/// bytes the kernel took.
pub(super) fn send<T: Ancillary>(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    fact: T,
    to: Option<&libc::sockaddr_in>,
) -> io::Result<usize> {
    let mut control = Control([0; 64]);
    let mut bytes = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let size = size_of::<T>() as libc::c_uint;
    // SAFETY: a message header is plain old data for which zeros are valid; every pointer in it is
    // to memory of its length that outlives the call and is only read; the macros stay within
    // `control`, which is longer than CMSG_SPACE of one fact and aligned.
    let sent = unsafe {
        let mut header: libc::msghdr = zeroed();
        if let Some(to) = to {
            header.msg_name = std::ptr::from_ref(to).cast_mut().cast();
            header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        }
        header.msg_iov = &raw mut bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(size) as _;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        ((*first).cmsg_level, (*first).cmsg_type) = T::KIND;
        (*first).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(first).cast::<T>().write_unaligned(fact);
        libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
    };
    checked(sent as libc::c_int).map(|sent| sent as usize)
}

/// Waits for a message. Returns its length, the fact that came with it, if any, and the address of
/// its sender, if the socket has any.
pub(super) fn receive<T: Ancillary>(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> io::Result<(usize, Option<T>, libc::sockaddr_in)> {
    let mut control = Control([0; 64]);
    let mut bytes = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: headers and addresses are plain old data for which zeros are valid; every pointer in
    // the header is to memory of its length that outlives the call; the macros stay within what the
    // kernel has filled.
    unsafe {
        let mut from: libc::sockaddr_in = zeroed();
        let mut header: libc::msghdr = zeroed();
        header.msg_name = (&raw mut from).cast();
        header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        header.msg_iov = &raw mut bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        let got = checked(libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) as libc::c_int)?;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let is_there = !first.is_null() && ((*first).cmsg_level, (*first).cmsg_type) == T::KIND;
        Ok((got as usize, is_there.then(|| libc::CMSG_DATA(first).cast::<T>().read_unaligned()), from))
    }
}
