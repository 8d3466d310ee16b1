//! Tables with many numbered places, of which only those in use take memory.

use alloc::vec::Vec;

/// The positions in a vector of the values of a table's places.
///
/// A place that was never used has the position of a value that stands for all such places. The
/// others follow it in the order in which they came into use.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The position of each place; empty while none is in use.
    positions: Vec<u32>,
    count: u32,
    /// The position of all unused places.
    unused: u32,
}

/// Position of unused places where there are none.
const NONE: u32 = u32::MAX;

impl Places {
    /// `count` unused places, whose common value is at position `unused`.
    pub(crate) const fn unused(count: u32, unused: u32) -> Self {
        Self { positions: Vec::new(), count, unused }
    }

    /// `count` places, all of them in use, each at the position of its own number.
    pub(crate) fn used(count: u32) -> Self {
        Self { positions: (0..count).collect(), count, unused: NONE }
    }

    /// The position of the value of `place`.
    #[inline]
    pub(crate) fn position(&self, place: u32) -> u32 {
        self.positions.get(place as usize).copied().unwrap_or(self.unused)
    }

    /// Whether this is the position of unused places.
    #[inline]
    pub(crate) const fn is_unused(&self, position: u32) -> bool {
        position == self.unused
    }

    /// Brings `place` into use, with its value at `position`.
    #[cold]
    pub(crate) fn put(&mut self, place: u32, position: usize) {
        self.reserve();
        self.positions[place as usize] = position as u32;
    }

    /// Takes the memory that it needs once all places are in use.
    pub(crate) fn reserve(&mut self) {
        if self.positions.is_empty() {
            self.positions = alloc::vec![self.unused; self.count as usize];
        }
    }

    /// The number of places.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// No place is in use any more.
    pub(crate) fn clear(&mut self) {
        self.positions.fill(self.unused);
    }
}
