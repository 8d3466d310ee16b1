//! Buffers for frames, all of them made at the start.

/// A buffer of a [`Pool`] by its number. Whoever holds it gives it back once, which debug builds check.
pub type Slot = u32;

/// A frame in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Which buffer.
    pub slot: Slot,
    /// Its bytes, from the start of the buffer.
    pub len: u32,
}

/// A fixed number of buffers of one size. Memory that is never touched is never really taken: buffers given back last go out first.
#[derive(Debug)]
pub struct Pool {
    bytes: Vec<u8>,
    size: usize,
    free: Vec<Slot>,
    capacity: usize,
    least_free: usize,
    #[cfg(debug_assertions)]
    out: Vec<bool>,
}

impl Pool {
    /// `count` buffers of `size` bytes.
    #[must_use]
    pub fn new(count: u32, size: usize) -> Self {
        let capacity = count as usize;
        Self {
            // Zeroed memory comes from the kernel page by page, when it is first written.
            bytes: vec![0; capacity * size],
            size,
            free: (0..count).rev().collect(),
            capacity,
            least_free: capacity,
            #[cfg(debug_assertions)]
            out: vec![false; capacity],
        }
    }

    /// A free buffer, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<Slot> {
        let slot = self.free.pop()?;
        self.least_free = self.least_free.min(self.free.len());
        #[cfg(debug_assertions)]
        {
            self.out[slot as usize] = true;
        }
        Some(slot)
    }

    /// Takes back a buffer.
    #[inline]
    pub fn give_back(&mut self, slot: Slot) {
        #[cfg(debug_assertions)]
        {
            assert!(self.out[slot as usize], "buffer {slot} is given back twice");
            self.out[slot as usize] = false;
        }
        self.free.push(slot);
    }

    /// The same frame in another buffer, if one is free.
    pub fn duplicate(&mut self, frame: Frame) -> Option<Frame> {
        let slot = self.take()?;
        let from = frame.slot as usize * self.size;
        let len = (frame.len as usize).min(self.size);
        self.bytes.copy_within(from..from + len, slot as usize * self.size);
        Some(Frame { slot, len: len as u32 })
    }

    /// All bytes of a buffer.
    #[inline]
    pub fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        let start = slot as usize * self.size;
        &mut self.bytes[start..start + self.size]
    }

    /// The bytes of a frame.
    #[inline]
    #[must_use]
    pub fn frame(&self, frame: Frame) -> &[u8] {
        let start = frame.slot as usize * self.size;
        &self.bytes[start..start + (frame.len as usize).min(self.size)]
    }

    /// The bytes of a frame, to be changed.
    #[inline]
    pub fn frame_mut(&mut self, frame: Frame) -> &mut [u8] {
        let len = (frame.len as usize).min(self.size);
        &mut self.buffer(frame.slot)[..len]
    }

    /// Bytes of each buffer.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Buffers in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.capacity - self.free.len()
    }

    /// The most that were ever in use.
    #[must_use]
    pub const fn most_in_use(&self) -> usize {
        self.capacity - self.least_free
    }
}
