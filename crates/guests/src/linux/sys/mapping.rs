//! Memory that another process writes too.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// A shared mapping of a file. Everything in it is read and written as atomics, since the other
/// side may do so at any time.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread; access is atomic.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of `file`, which must be that long: touching what is not there
    /// would end this process.
    ///
    /// # Errors
    /// When the file is shorter, or the kernel refuses.
    pub fn new(file: &File, len: usize) -> io::Result<Self> {
        if len == 0 || file.metadata()?.len() < len as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the memory file is shorter than what was announced"));
        }
        // SAFETY: a new mapping at an address of the kernel's choice; no memory of ours is touched.
        let start = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped to address zero"))?;
        Ok(Self { start, len })
    }

    fn place(&self, at: usize, size: usize) -> *mut u8 {
        assert!(at.is_multiple_of(size) && at.checked_add(size).is_some_and(|end| end <= self.len), "callers hold to bounds");
        // SAFETY: just held to the mapping's length.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// A 16-bit number at an even place within the mapping.
    #[must_use]
    pub fn u16(&self, at: usize) -> &AtomicU16 {
        // SAFETY: within the mapping and aligned, which `place` asserts (mappings begin at pages);
        // only ever used as an atomic.
        unsafe { AtomicU16::from_ptr(self.place(at, 2).cast()) }
    }

    /// A 32-bit number at a place within the mapping that 4 divides.
    #[must_use]
    pub fn u32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(self.place(at, 4).cast()) }
    }

    /// A 64-bit number at a place within the mapping that 8 divides.
    #[must_use]
    pub fn u64(&self, at: usize) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.place(at, 8).cast()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this address and length, and no borrow of it
        // is left.
        let result = unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(result == 0, "the mapping can be undone");
    }
}
