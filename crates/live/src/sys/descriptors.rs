//! Open files handed from one process to another.

use super::{checked, message};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a message that accompanies a descriptor.
pub const MESSAGE: usize = 4;

/// Sends `bytes` with an open file.
///
/// # Errors
/// When the other end is gone.
pub fn send(to: &UnixStream, bytes: [u8; MESSAGE], file: BorrowedFd<'_>) -> io::Result<()> {
    match message::send(to.as_fd(), &bytes, file.as_raw_fd(), None)? {
        MESSAGE => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Waits for a message and the open file sent with it; `None` when the other end is gone.
///
/// # Errors
/// When the kernel refuses, or the message is not whole.
pub fn receive(from: &UnixStream) -> io::Result<Option<([u8; MESSAGE], Option<OwnedFd>)>> {
    let mut bytes = [0; MESSAGE];
    let (got, file, _) = message::receive::<RawFd>(from.as_fd(), &mut bytes)?;
    // SAFETY: a descriptor that arrives is new and owned by nobody else.
    let file = file.map(|file| unsafe { OwnedFd::from_raw_fd(file) });
    match got {
        0 => Ok(None),
        MESSAGE => Ok(Some((bytes, file))),
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
