//! A growable first-in-first-out ring that never shrinks: no allocation once it has reached its
//! working size.

use alloc::collections::VecDeque;

/// A FIFO of values. Grows by doubling until the owner's limit stops it.
#[derive(Clone, Debug)]
pub struct Ring<T>(VecDeque<T>);

impl<T> Ring<T> {
    /// An empty ring with room for `capacity` values.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(VecDeque::with_capacity(capacity))
    }

    /// Takes memory for `capacity` values at once.
    pub fn reserve(&mut self, capacity: usize) {
        self.0.reserve_exact(capacity.saturating_sub(self.0.len()));
    }

    /// Number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if nothing is in it.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends at the tail.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        self.0.push_back(value);
    }

    /// Removes the head.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    /// The head.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.0.front()
    }

    /// The head, writable.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.0.front_mut()
    }

    /// The value `index` places behind the head.
    #[inline]
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&T> {
        self.0.get(index)
    }

    /// Iterates from head to tail.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Takes out the value `index` places behind the head; the order of the others stays.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        self.0.remove(index)
    }
}
