//! Files without names, and descriptors passed over sockets.

use super::checked;
use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// More descriptors than any message of ours carries.
pub const MAX: usize = 8;

/// A file in memory without a name, of this length.
///
/// # Errors
/// When there is no room.
pub fn memory_file(len: u64) -> io::Result<File> {
    // SAFETY: the name is a constant string; the descriptor it returns is new and owned by nobody
    // else.
    let file = unsafe {
        // The system call: glibc has a function for it since 2.27 only.
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        let fd = libc::syscall(libc::SYS_memfd_create, c"goodqueue".as_ptr(), flags);
        File::from(OwnedFd::from_raw_fd(checked(fd as libc::c_int)?))
    };
    file.set_len(len)?;
    Ok(file)
}

/// Creates a memory file of a length that nobody can change, so that any process that maps it can
/// rely on it.
///
/// # Errors
/// When there is no room.
pub fn sealed_memory_file(len: u64) -> io::Result<File> {
    let file = memory_file(len)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok(file)
}

/// Room for control messages, aligned as they must be.
#[repr(C)]
union Control {
    header: libc::cmsghdr,
    bytes: [u8; 128],
}

/// Sends bytes and descriptors in one message.
///
/// # Errors
/// When the other side is gone.
pub fn send(socket: &UnixStream, bytes: &[u8], descriptors: &[RawFd]) -> io::Result<()> {
    debug_assert!(descriptors.len() <= MAX, "few descriptors");
    let payload = std::mem::size_of_val(descriptors);
    // SAFETY: both are plain old data for which all zeros are valid.
    let (mut message, mut control): (libc::msghdr, Control) = unsafe { (zeroed(), zeroed()) };
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !descriptors.is_empty() {
        message.msg_control = (&raw mut control).cast();
        // SAFETY: arithmetic on lengths; then the first header lies at the start of `control`,
        // which is aligned for it and has room for MAX descriptors behind it.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(payload as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(payload as u32) as _;
            std::ptr::copy_nonoverlapping(descriptors.as_ptr().cast(), libc::CMSG_DATA(header), payload);
        }
    }
    // SAFETY: everything that the message points to outlives the call; the kernel only reads it.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    match usize::try_from(sent) {
        Err(_) => Err(io::Error::last_os_error()),
        Ok(sent) if sent < bytes.len() => Err(io::Error::other("a message was cut")),
        Ok(_) => Ok(()),
    }
}

/// Receives up to `bytes.len()` bytes, and descriptors that come with them: how many bytes, and
/// these.
///
/// # Errors
/// When the socket has one, or more descriptors came than there is room for.
pub fn receive(socket: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    // SAFETY: both are plain old data for which all zeros are valid.
    let (mut message, mut control): (libc::msghdr, Control) = unsafe { (zeroed(), zeroed()) };
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: everything that the message points to outlives the call and is exclusively borrowed.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    let mut descriptors = Vec::new();
    // SAFETY: the kernel has filled `control` with well-formed headers of the length it has set;
    // descriptors in them are new and owned by nobody else.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                let payload = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let first = libc::CMSG_DATA(header).cast::<RawFd>();
                for number in 0..payload / size_of::<RawFd>() {
                    descriptors.push(OwnedFd::from_raw_fd(first.add(number).read_unaligned()));
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    if message.msg_flags & libc::MSG_CTRUNC != 0 {
        return Err(io::Error::other(format!("more descriptors came with a message than the {MAX} there is room for")));
    }
    Ok((got, descriptors))
}
