//! The memory that a guest shares with its devices. Nothing from a guest is trusted: every address
//! is checked against the shared regions.
//!
//! The memory is a file of the guest that is read and written as a file and never mapped:
//! truncating a mapped file would kill this process with a signal. Reads see what the guest wrote
//! before it sent the message that caused them, since it waits for the answer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use thiserror::Error;

/// Largest number of regions.
pub const MAX_REGIONS: usize = 8;
/// Largest size of a region in bytes.
const MAX_BYTES: u64 = 1 << 36;

/// An invalid address or structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryFault {
    /// Outside of the shared regions.
    #[error("{len} bytes at address {at:#x} are not in the guest's memory")]
    Outside {
        /// First address.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Within a region whose file has become shorter.
    #[error("{len} bytes at address {at:#x} are no longer in the guest's memory")]
    Detached {
        /// First address.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Misaligned.
    #[error("address {at:#x} is not a multiple of {of}")]
    Unaligned {
        /// The address.
        at: u64,
        /// Required alignment.
        of: u64,
    },
}

/// A region as announced: physical address, size, address in the process of the guest, and offset
/// in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSpec {
    /// Physical address of its first byte.
    pub guest: u64,
    /// Size in bytes.
    pub size: u64,
    /// Address of its first byte in the guest's process.
    pub user: u64,
    /// Offset in the file.
    pub offset: u64,
}

#[derive(Debug)]
struct Region {
    spec: RegionSpec,
    file: File,
}

/// All shared regions.
#[derive(Debug, Default)]
pub struct GuestMemory {
    regions: Vec<Region>,
}

impl GuestMemory {
    /// Adds a region.
    ///
    /// # Errors
    /// When there are too many, its size or offset is invalid, or its file is shorter than
    /// announced.
    pub fn add(&mut self, spec: RegionSpec, file: File) -> io::Result<()> {
        let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what.to_owned()));
        if self.regions.len() >= MAX_REGIONS {
            return wrong("more regions of memory than there may be");
        }
        if spec.size == 0 || spec.size > MAX_BYTES || spec.offset > MAX_BYTES {
            return wrong("a region of memory has an impossible size");
        }
        if spec.guest.checked_add(spec.size).is_none() || spec.user.checked_add(spec.size).is_none() {
            return wrong("a region of memory is beyond all addresses");
        }
        if file.metadata()?.len() < spec.offset + spec.size {
            return wrong("the memory file is shorter than what was announced");
        }
        self.regions.push(Region { spec, file });
        Ok(())
    }

    /// Removes all regions.
    pub fn clear(&mut self) {
        self.regions.clear();
    }

    /// The file that contains these physical addresses, and the offset in it.
    fn find(&self, at: u64, len: u64) -> Result<(&File, u64), MemoryFault> {
        let holds = |region: &&Region| {
            let within = at.checked_sub(region.spec.guest);
            within.is_some_and(|within| within <= region.spec.size && len <= region.spec.size - within)
        };
        let region = self.regions.iter().find(holds).ok_or(MemoryFault::Outside { at, len })?;
        Ok((&region.file, region.spec.offset + (at - region.spec.guest)))
    }

    /// Translates an address of the guest's process into a physical one.
    ///
    /// # Errors
    /// When it is in no region.
    pub fn physical(&self, user: u64) -> Result<u64, MemoryFault> {
        let within = |region: &Region| user.checked_sub(region.spec.user).filter(|within| *within < region.spec.size);
        let found = self.regions.iter().find_map(|region| Some(region.spec.guest + within(region)?));
        found.ok_or(MemoryFault::Outside { at: user, len: 1 })
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// When they are not all within a region.
    pub fn read(&self, at: u64, to: &mut [u8]) -> Result<(), MemoryFault> {
        let (file, place) = self.find(at, to.len() as u64)?;
        file.read_exact_at(to, place).map_err(|_| MemoryFault::Detached { at, len: to.len() as u64 })
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// When they do not fit into a region.
    pub fn write(&self, at: u64, from: &[u8]) -> Result<(), MemoryFault> {
        let (file, place) = self.find(at, from.len() as u64)?;
        // If the file has become shorter this extends it again, which is harmless; reads detect it.
        file.write_all_at(from, place).map_err(|_| MemoryFault::Detached { at, len: from.len() as u64 })
    }

    /// Loads an index that the guest writes after the data that it refers to.
    ///
    /// # Errors
    /// When it is outside, or at an odd address.
    pub fn load(&self, at: u64) -> Result<u16, MemoryFault> {
        let mut bytes = [0; 2];
        even(at)?;
        self.read(at, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Stores an index that publishes the data written before it.
    ///
    /// # Errors
    /// When it is outside, or at an odd address.
    pub fn publish(&self, at: u64, value: u16) -> Result<(), MemoryFault> {
        even(at)?;
        self.write(at, &value.to_le_bytes())
    }
}

fn even(at: u64) -> Result<(), MemoryFault> {
    if at.is_multiple_of(2) { Ok(()) } else { Err(MemoryFault::Unaligned { at, of: 2 }) }
}
