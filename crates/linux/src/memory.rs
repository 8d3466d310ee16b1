//! The memory of a guest, as it shows it to its devices. Nothing a guest says is believed: every address is held to what it has shown.
//!
//! It is a file of the guest's, which is read and written as one and never mapped: a guest that cut it short would end this process with a
//! signal. What is read is what the guest wrote before it sent the message that led here, since it waits for the answer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use thiserror::Error;

/// Most regions a guest may show.
pub const MOST_REGIONS: usize = 8;
/// Most bytes of one region.
const MOST_BYTES: u64 = 1 << 36;

/// An address or a structure that a guest may not have given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryFault {
    /// Outside of what it shows.
    #[error("{len} bytes at address {at:#x} are not in the guest's memory")]
    Outside {
        /// First address.
        at: u64,
        /// Bytes from there.
        len: u64,
    },
    /// It was there, and the guest's file has become shorter.
    #[error("{len} bytes at address {at:#x} are no longer in the guest's memory")]
    Gone {
        /// First address.
        at: u64,
        /// Bytes from there.
        len: u64,
    },
    /// Not where such a thing may be.
    #[error("address {at:#x} is not a multiple of {of}")]
    Unaligned {
        /// The address.
        at: u64,
        /// What it must be a multiple of.
        of: u64,
    },
}

/// A region as announced: physical address, size, address in the guest's process, and where in the file it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSpec {
    /// Physical address of its first byte.
    pub guest: u64,
    /// Bytes.
    pub size: u64,
    /// Address of its first byte in the guest's process.
    pub user: u64,
    /// Where it begins in the file.
    pub offset: u64,
}

#[derive(Debug)]
struct Region {
    spec: RegionSpec,
    file: File,
}

/// All regions.
#[derive(Debug, Default)]
pub struct GuestMemory {
    regions: Vec<Region>,
}

impl GuestMemory {
    /// Adds a region.
    ///
    /// # Errors
    /// When there are too many, its size or place cannot be, or its file is shorter than it says.
    pub fn add(&mut self, spec: RegionSpec, file: File) -> io::Result<()> {
        let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what.to_owned()));
        if self.regions.len() >= MOST_REGIONS {
            return wrong("more regions of memory than there may be");
        }
        if spec.size == 0 || spec.size > MOST_BYTES || spec.offset > MOST_BYTES {
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

    /// Forgets all regions.
    pub fn clear(&mut self) {
        self.regions.clear();
    }

    /// The file that holds these physical addresses, and where in it they begin.
    fn find(&self, at: u64, len: u64) -> Result<(&File, u64), MemoryFault> {
        let holds = |region: &&Region| {
            let within = at.checked_sub(region.spec.guest);
            within.is_some_and(|within| within <= region.spec.size && len <= region.spec.size - within)
        };
        let region = self.regions.iter().find(holds).ok_or(MemoryFault::Outside { at, len })?;
        Ok((&region.file, region.spec.offset + (at - region.spec.guest)))
    }

    /// The physical address that an address of the guest's process stands for.
    ///
    /// # Errors
    /// When it is in no region.
    pub fn physical(&self, user: u64) -> Result<u64, MemoryFault> {
        let within = |region: &Region| user.checked_sub(region.spec.user).filter(|within| *within < region.spec.size);
        let found = self.regions.iter().find_map(|region| Some(region.spec.guest + within(region)?));
        found.ok_or(MemoryFault::Outside { at: user, len: 1 })
    }

    /// Copies bytes out of it.
    ///
    /// # Errors
    /// When they are not all there.
    pub fn read(&self, at: u64, to: &mut [u8]) -> Result<(), MemoryFault> {
        let (file, place) = self.find(at, to.len() as u64)?;
        file.read_exact_at(to, place).map_err(|_| MemoryFault::Gone { at, len: to.len() as u64 })
    }

    /// Copies bytes into it.
    ///
    /// # Errors
    /// When there is not room for them all.
    pub fn write(&self, at: u64, from: &[u8]) -> Result<(), MemoryFault> {
        let (file, place) = self.find(at, from.len() as u64)?;
        // Where the file has become shorter this makes it longer again, which harms nobody; reading says so.
        file.write_all_at(from, place).map_err(|_| MemoryFault::Gone { at, len: from.len() as u64 })
    }

    /// A number that the other side has written before what it stands for.
    ///
    /// # Errors
    /// When it is outside, or at an odd address.
    pub fn load(&self, at: u64) -> Result<u16, MemoryFault> {
        let mut bytes = [0; 2];
        even(at)?;
        self.read(at, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Writes a number that says that what was written before is ready.
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
