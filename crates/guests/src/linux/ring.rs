//! Split virtqueues (virtio 1.2, section 2.7), device side.
//!
//! The guest owns the descriptors and the available ring; we own the used ring. A chain is followed
//! for at most as many descriptors as the queue has, so a cyclic chain is an error and not a hang.

use crate::linux::memory::{GuestMemory, MemoryFault};
use thiserror::Error;

/// Largest number of descriptors of a queue (virtio 1.2, section 2.7: 2^15).
pub const MAX: u16 = 1 << 15;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;
const NO_INTERRUPT: u16 = 1;
const DESCRIPTOR: u64 = 16;
const USED: u64 = 8;

/// Errors of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RingFault {
    /// The queue points outside of the memory.
    #[error(transparent)]
    Memory(#[from] MemoryFault),
    /// The size of the queue is invalid.
    #[error("a queue of {0} descriptors: must be a power of two up to {MAX}")]
    Size(u64),
    /// The queue is used before it is set up.
    #[error("a queue is used before it is set up")]
    NotReady,
    /// More chains are available than there are descriptors.
    #[error("{0} chains available in a queue of {1}")]
    Overfull(u16, u16),
    /// A descriptor does not exist.
    #[error("descriptor {0} of {1}")]
    Descriptor(u16, u16),
    /// A chain is longer than the queue.
    #[error("a chain of descriptors without end")]
    Endless,
    /// A descriptor of a kind that was not negotiated.
    #[error("an indirect descriptor, which was not agreed on")]
    Indirect,
    /// Readable and writable parts are mixed up.
    #[error("a descriptor of the wrong direction")]
    Direction,
}

/// A part of a chain in the memory of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Physical address.
    pub at: u64,
    /// Length in bytes.
    pub len: u32,
}

/// Direction of the parts of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The device reads them.
    Read,
    /// The device writes them.
    Write,
}

/// A queue.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    size: u16,
    /// Physical addresses of its three parts, once known.
    places: Option<Places>,
    /// Chains taken and returned so far.
    taken: u16,
    used: u16,
}

#[derive(Clone, Copy, Debug)]
struct Places {
    descriptors: u64,
    available: u64,
    used: u64,
}

impl Queue {
    /// Sets the number of descriptors.
    ///
    /// # Errors
    /// When the number is invalid.
    pub fn resize(&mut self, size: u64) -> Result<(), RingFault> {
        let fits = u16::try_from(size).ok().filter(|size| size.is_power_of_two() && *size <= MAX);
        self.size = fits.ok_or(RingFault::Size(size))?;
        Ok(())
    }

    /// Sets the physical addresses of its parts.
    pub fn place(&mut self, descriptors: u64, available: u64, used: u64) {
        self.places = Some(Places { descriptors, available, used });
    }

    /// Sets the index at which both sides continue.
    pub fn start_at(&mut self, index: u16) {
        self.taken = index;
        self.used = index;
    }

    /// Index of the next chain.
    #[must_use]
    pub fn position(&self) -> u16 {
        self.taken
    }

    fn places(&self) -> Result<Places, RingFault> {
        self.places.filter(|_| self.size > 0).ok_or(RingFault::NotReady)
    }

    /// Takes the next chain, if any: fills `pieces` and returns its number.
    ///
    /// # Errors
    /// When the guest's rings are inconsistent.
    pub fn take(&mut self, memory: &GuestMemory, purpose: Use, pieces: &mut Vec<Piece>) -> Result<Option<u16>, RingFault> {
        pieces.clear();
        let places = self.places()?;
        let offered = memory.load(sum(places.available, 2)?)?.wrapping_sub(self.taken);
        if offered == 0 {
            return Ok(None);
        }
        if offered > self.size {
            return Err(RingFault::Overfull(offered, self.size));
        }
        let slot = u64::from(self.taken % self.size);
        let head = memory.load(sum(places.available, 4 + 2 * slot)?)?;
        let mut number = head;
        loop {
            if number >= self.size {
                return Err(RingFault::Descriptor(number, self.size));
            }
            if pieces.len() == usize::from(self.size) {
                return Err(RingFault::Endless);
            }
            let mut bytes = [0; DESCRIPTOR as usize];
            memory.read(sum(places.descriptors, DESCRIPTOR * u64::from(number))?, &mut bytes)?;
            let [a, b, c, d, e, f, g, h, i, j, k, l, flags @ .., n, o] = bytes;
            let flags = u16::from_le_bytes(flags);
            if flags & INDIRECT != 0 {
                return Err(RingFault::Indirect);
            }
            if (flags & WRITE != 0) != (purpose == Use::Write) {
                return Err(RingFault::Direction);
            }
            pieces.push(Piece { at: u64::from_le_bytes([a, b, c, d, e, f, g, h]), len: u32::from_le_bytes([i, j, k, l]) });
            if flags & NEXT == 0 {
                break;
            }
            number = u16::from_le_bytes([n, o]);
        }
        self.taken = self.taken.wrapping_add(1);
        Ok(Some(head))
    }

    /// Returns chain `head` with `written` bytes in it.
    ///
    /// # Errors
    /// When the ring is not within the shared memory.
    pub fn give_back(&mut self, memory: &GuestMemory, head: u16, written: u32) -> Result<(), RingFault> {
        let places = self.places()?;
        let slot = u64::from(self.used % self.size);
        let [a, b, c, d] = u32::from(head).to_le_bytes();
        let [e, f, g, h] = written.to_le_bytes();
        memory.write(sum(places.used, 4 + USED * slot)?, &[a, b, c, d, e, f, g, h])?;
        self.used = self.used.wrapping_add(1);
        memory.publish(sum(places.used, 2)?, self.used)?;
        Ok(())
    }

    /// Whether the guest asks for notifications of returned chains.
    ///
    /// # Errors
    /// When the ring is not within the shared memory.
    pub fn wants_interrupt(&self, memory: &GuestMemory) -> Result<bool, RingFault> {
        Ok(memory.load(self.places()?.available)? & NO_INTERRUPT == 0)
    }
}

/// Addresses come from the guest, so the sum may overflow.
fn sum(base: u64, offset: u64) -> Result<u64, RingFault> {
    base.checked_add(offset).ok_or(RingFault::Memory(MemoryFault::Outside { at: base, len: offset }))
}
