//! Open files handed from one process to another.

use rustix::cmsg_space;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// More open files than any message of ours carries.
pub const MAX: usize = 8;

/// Sends bytes and open files in one message.
///
/// # Errors
/// When the other end is gone.
pub fn send(to: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let fits = files.is_empty() || control.push(SendAncillaryMessage::ScmRights(files));
    debug_assert!(fits, "few descriptors");
    let sent = sendmsg(to, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    if sent == bytes.len() { Ok(()) } else { Err(io::Error::other("a message was cut")) }
}

/// Waits for up to `bytes.len()` bytes and the open files sent with them; no bytes when the other
/// end is gone.
///
/// # Errors
/// When the kernel refuses, or more files came than there is room for.
pub fn receive(from: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut room = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let got = recvmsg(from, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if got.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other(format!("more descriptors came with a message than the {MAX} there is room for")));
    }
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    Ok((got.bytes, files.flatten().collect()))
}

/// Programs that this process starts from now on get `file`, too; returns its number there.
///
/// # Errors
/// When the kernel refuses.
pub fn pass_on(file: impl AsFd) -> io::Result<RawFd> {
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file.as_fd().as_raw_fd())
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
    // SAFETY: the number is that of no standard stream, and the call refuses what is not open.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC).map_err(|_| none())?;
    // SAFETY: the descriptor is open, was inherited across the start of this program, and is taken
    // once: nothing else in this process owns it.
    Ok(unsafe { UnixStream::from_raw_fd(number) })
}
