//! Memory that another process writes too.

use goodqueue_live::sys::mapping::Mapping;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// A shared mapping of a file. Everything in it is read and written as atomics, since the other
/// side may do so at any time.
#[derive(Debug)]
pub struct SharedFile(Mapping);

impl SharedFile {
    /// Maps the first `len` bytes of `file`, which must be that long: touching what is not there
    /// would end this process.
    ///
    /// # Errors
    /// When the file is shorter, or the kernel refuses.
    pub fn new(file: &File, len: usize) -> io::Result<Self> {
        if len == 0 || file.metadata()?.len() < len as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the memory file is shorter than what was announced"));
        }
        Mapping::new(Some(file.as_fd()), len, 0).map(Self)
    }

    fn place(&self, at: usize, size: usize) -> *mut u8 {
        let part = self.0.part(at as u64, size as u32).filter(|_| at.is_multiple_of(size));
        part.expect("callers hold to bounds").as_ptr().cast()
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
