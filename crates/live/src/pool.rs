//! Buffers for frames, all of them made at the start.

use crate::segments::Joined;
use goodqueue_aqm::FlowHash;

/// Index of a buffer of a [`Pool`]. Its holder gives it back once, which debug builds
/// check.
pub type Slot = u32;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A frame in a buffer, or one segment of the joined frame in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Buffer that holds the frame.
    pub slot: Slot,
    /// Bytes of the frame, which starts at the start of the buffer; for a segment, its length as a
    /// frame of its own.
    pub len: u32,
    /// Index of the segment, where the buffer holds several.
    pub segment: u16,
    /// CE is to be set on the segment when it is sent. A whole frame is marked in its buffer.
    pub marked: bool,
}

impl Frame {
    /// A whole frame.
    #[must_use]
    pub const fn whole(slot: Slot, len: u32) -> Self {
        Self { slot, len, segment: 0, marked: false }
    }
}

/// Bookkeeping of one buffer.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// Frames that it holds: one, or the segments that are left of a joined one.
    frames: u32,
    /// Bytes of the joined frame.
    len: u32,
    joined: Option<Joined>,
    /// Flow of the frame.
    flow: FlowHash,
    /// Number of the packet, or of its first segment, among those that arrived at its queue.
    number: u64,
}

/// A fixed number of buffers of one size. Memory that is never touched is never really taken:
/// buffers given back last go out first.
#[derive(Debug)]
pub struct Pool {
    bytes: Vec<u8>,
    size: usize,
    /// From a buffer to the next.
    stride: usize,
    free: Vec<Slot>,
    capacity: usize,
    uses: Vec<Use>,
    /// Frames in all buffers, segments one by one.
    frames: usize,
}

impl Pool {
    /// `count` buffers of `size` bytes.
    #[must_use]
    pub fn new(count: u32, size: usize) -> Self {
        let capacity = count as usize;
        // An odd number of cache lines: the headers of a batch, each at the start of its buffer, do
        // not all fall into the same few sets.
        let stride = (size.div_ceil(LINE) | 1) * LINE;
        Self {
            // Zeroed memory comes from the kernel page by page, when it is first written.
            bytes: vec![0; capacity * stride],
            size,
            stride,
            free: (0..count).rev().collect(),
            capacity,
            uses: vec![Use { frames: 0, len: 0, joined: None, flow: FlowHash(0), number: 0 }; capacity],
            frames: 0,
        }
    }

    /// A free buffer, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<Slot> {
        let slot = self.free.pop()?;
        self.uses[slot as usize] = Use { frames: 1, len: 0, joined: None, flow: FlowHash(0), number: 0 };
        self.frames += 1;
        Some(slot)
    }

    /// Splits the frame of `len` bytes in `slot` into the segments that `joined` describes, each of
    /// which is given back by itself. Returns their number.
    pub fn split(&mut self, slot: Slot, len: u32, joined: Joined) -> u32 {
        let count = joined.count(len);
        debug_assert!(count > 0 && len as usize <= self.size, "a joined frame has segments");
        self.uses[slot as usize] = Use { frames: count, len, joined: Some(joined), flow: FlowHash(0), number: 0 };
        self.frames += count as usize - 1;
        count
    }

    /// Says which flow the packet in `slot` is of, and which number it has among those that arrived
    /// at its queue, or the first of its segments.
    #[inline]
    pub(crate) fn admit(&mut self, slot: Slot, flow: FlowHash, number: u64) {
        let used = &mut self.uses[slot as usize];
        (used.flow, used.number) = (flow, number);
    }

    /// The flow of the packet in `slot`.
    #[inline]
    #[must_use]
    pub(crate) fn flow(&self, slot: Slot) -> FlowHash {
        self.uses[slot as usize].flow
    }

    /// The number of a packet among those that arrived at its queue, from zero.
    #[must_use]
    pub(crate) fn number(&self, frame: Frame) -> u64 {
        self.uses[frame.slot as usize].number + u64::from(frame.segment)
    }

    /// Layout of a joined frame; `None` for a plain one.
    #[inline]
    #[must_use]
    pub fn joined(&self, slot: Slot) -> Option<Joined> {
        self.uses[slot as usize].joined
    }

    /// All bytes of a joined frame.
    #[inline]
    #[must_use]
    pub fn whole(&self, slot: Slot) -> &[u8] {
        let start = slot as usize * self.stride;
        &self.bytes[start..start + self.uses[slot as usize].len as usize]
    }

    /// Takes back a frame; its buffer is free when no segment is left in it.
    #[inline]
    pub fn give_back(&mut self, slot: Slot) {
        let used = &mut self.uses[slot as usize];
        debug_assert!(used.frames > 0, "buffer {slot} is given back twice");
        used.frames -= 1;
        self.frames -= 1;
        if used.frames == 0 {
            self.free.push(slot);
        }
    }

    /// Frames in all buffers, segments one by one.
    #[must_use]
    pub const fn frames(&self) -> usize {
        self.frames
    }

    /// Copies the frame into another buffer, if one is free.
    pub fn duplicate(&mut self, frame: Frame) -> Option<Frame> {
        let slot = self.take()?;
        let from = frame.slot as usize * self.stride;
        let len = (frame.len as usize).min(self.size);
        self.bytes.copy_within(from..from + len, slot as usize * self.stride);
        Some(Frame { slot, len: len as u32, ..frame })
    }

    /// All bytes of a buffer.
    #[inline]
    pub fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        let start = slot as usize * self.stride;
        &mut self.bytes[start..start + self.size]
    }

    /// The bytes of a frame.
    #[inline]
    #[must_use]
    pub fn frame(&self, frame: Frame) -> &[u8] {
        let start = frame.slot as usize * self.stride;
        &self.bytes[start..start + (frame.len as usize).min(self.size)]
    }

    /// The bytes of a frame, mutable.
    #[inline]
    pub fn frame_mut(&mut self, frame: Frame) -> &mut [u8] {
        let len = (frame.len as usize).min(self.size);
        &mut self.buffer(frame.slot)[..len]
    }

    /// Buffers in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.capacity - self.free.len()
    }
}
