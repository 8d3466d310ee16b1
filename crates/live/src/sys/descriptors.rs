//! Open files handed from one process to another.

use super::checked;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a message that accompanies a descriptor.
pub const MESSAGE: usize = 4;

/// Room for the control message of one descriptor, aligned as such messages are.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends `message` with an open file.
///
/// # Errors
/// When the other end is gone.
pub fn send(to: &UnixStream, message: [u8; MESSAGE], file: BorrowedFd<'_>) -> io::Result<()> {
    let mut control = Control([0; 64]);
    let mut bytes = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: MESSAGE };
    let fd: RawFd = file.as_raw_fd();
    let size = size_of::<RawFd>() as libc::c_uint;
    // SAFETY: a message header is plain old data for which zeros are valid; the macros stay within
    // `control`, which is longer than CMSG_SPACE of one descriptor and aligned; all of it outlives
    // the call.
    let sent = unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &raw mut bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(size) as _;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(fd);
        libc::sendmsg(to.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
    };
    match checked(sent as libc::c_int)? as usize {
        MESSAGE => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Waits for a message and the open file sent with it; `None` when the other end is gone.
///
/// # Errors
/// When the kernel refuses, or the message is not whole.
pub fn receive(from: &UnixStream) -> io::Result<Option<([u8; MESSAGE], Option<OwnedFd>)>> {
    let mut message = [0; MESSAGE];
    let mut control = Control([0; 64]);
    let mut bytes = libc::iovec { iov_base: message.as_mut_ptr().cast(), iov_len: MESSAGE };
    // SAFETY: as in `send`; a descriptor that arrives is new and owned by nobody else.
    let (got, file) = unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &raw mut bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        let got = checked(libc::recvmsg(from.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) as libc::c_int)?;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let is_file = !first.is_null() && (*first).cmsg_level == libc::SOL_SOCKET && (*first).cmsg_type == libc::SCM_RIGHTS;
        let file = is_file.then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned()));
        (got as usize, file)
    };
    match got {
        0 => Ok(None),
        MESSAGE => Ok(Some((message, file))),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Programs that this process starts from now on get `file`, too; returns its number there.
///
/// # Errors
/// When the kernel refuses.
pub fn pass_on(file: impl AsFd) -> io::Result<RawFd> {
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the call takes no pointers, and the descriptor is open for the whole of it.
    checked(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) })?;
    Ok(fd)
}

/// The socket that this process was given as descriptor `number` when it was started, once;
/// programs that it starts do not get it.
///
/// # Errors
/// When there is none, or it was taken before.
pub fn given(number: RawFd) -> io::Result<UnixStream> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let none = || io::Error::new(io::ErrorKind::NotFound, format!("descriptor {number} is not given"));
    if number <= 2 || TAKEN.swap(true, Ordering::Relaxed) {
        return Err(none());
    }
    // SAFETY: the call takes no pointers; what is no descriptor is refused.
    checked(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) }).map_err(|_| none())?;
    // SAFETY: the descriptor is open, was inherited across the start of this program, and is taken
    // once: nothing else in this process owns it.
    Ok(unsafe { UnixStream::from_raw_fd(number) })
}
