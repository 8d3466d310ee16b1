//! Memory shared with the kernel.

use super::checked;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// Bytes of a page of memory.
#[must_use]
pub fn page_size() -> usize {
    const USUAL: usize = 4096;
    // SAFETY: it only reads a constant of the system.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(USUAL)
}

/// Memory that the kernel shares with this process, or another process does.
#[derive(Debug)]
pub struct Mapping {
    pub(super) start: NonNull<u8>,
    pub(super) len: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the memory of a socket or file at `offset`, or allocates new memory without one.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn new(file: Option<BorrowedFd<'_>>, len: usize, offset: libc::off_t) -> io::Result<Self> {
        let flags = match file {
            Some(_) => libc::MAP_SHARED | libc::MAP_POPULATE,
            None => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
        };
        let fd = file.map_or(-1, |file| file.as_raw_fd());
        // SAFETY: a new mapping at an address of the kernel's choice; no memory of ours is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("memory was mapped to address zero"))?;
        Ok(Self { start, len })
    }

    /// `len` bytes at `offset`, if they are within.
    #[must_use]
    pub fn part(&self, offset: u64, len: u32) -> Option<NonNull<[u8]>> {
        let (offset, len) = (usize::try_from(offset).ok()?, len as usize);
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: offset and length were just held to the mapping.
        Some(NonNull::slice_from_raw_parts(unsafe { self.start.add(offset) }, len))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this address and length, and no borrow of it
        // is left.
        let result = checked(unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) });
        debug_assert!(result.is_ok(), "the memory can be unmapped");
    }
}
