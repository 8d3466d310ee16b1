//! One store for the packets of many FIFO queues: lists in a vector, linked both ways, nothing
//! allocated once it has reached its working size.

use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// The most values a pool holds at once.
pub(crate) const MAX: u64 = NONE as u64 - 1;

#[derive(Clone, Debug)]
struct Slot<T> {
    value: Option<T>,
    next: u32,
    /// The slot before; of a queue's head not kept up.
    previous: u32,
}

/// The values of all queues that share it.
#[derive(Clone, Debug)]
pub(crate) struct Pool<T> {
    slots: Vec<Slot<T>>,
    free: u32,
}

/// One queue in a [`Pool`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: u32,
    tail: u32,
}

/// The place of a value in its queue, valid as long as the value waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

impl Default for Fifo {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Fifo {
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.head == NONE
    }
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }

    /// Takes memory for `capacity` values at once.
    pub(crate) fn reserve(&mut self, capacity: usize) {
        self.slots.reserve_exact(capacity.saturating_sub(self.slots.len()));
    }

    /// Appends at the tail of `fifo`. At most [`MAX`] values may wait, which the owner's limit
    /// sees to.
    #[inline]
    pub(crate) fn push_back(&mut self, fifo: &mut Fifo, value: T) {
        let slot = Slot { value: Some(value), next: NONE, previous: fifo.tail };
        let index = if self.free == NONE {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        } else {
            let index = self.free;
            self.free = self.slots[index as usize].next;
            self.slots[index as usize] = slot;
            index
        };
        if fifo.head == NONE {
            fifo.head = index;
        } else {
            self.slots[fifo.tail as usize].next = index;
        }
        fifo.tail = index;
    }

    /// Removes the head of `fifo`.
    #[inline]
    pub(crate) fn pop_front(&mut self, fifo: &mut Fifo) -> Option<T> {
        if fifo.head == NONE {
            return None;
        }
        let index = fifo.head;
        let slot = &mut self.slots[index as usize];
        fifo.head = slot.next;
        slot.next = self.free;
        self.free = index;
        slot.value.take()
    }

    /// Removes the tail of `fifo`.
    pub(crate) fn pop_back(&mut self, fifo: &mut Fifo) -> Option<T> {
        if fifo.head == NONE || fifo.head == fifo.tail {
            return self.pop_front(fifo);
        }
        let index = fifo.tail;
        let slot = &mut self.slots[index as usize];
        fifo.tail = slot.previous;
        slot.next = self.free;
        self.free = index;
        let value = slot.value.take();
        self.slots[fifo.tail as usize].next = NONE;
        value
    }

    /// The values of `fifo` from head to tail, each with its place.
    pub(crate) fn iter(&self, fifo: Fifo) -> impl Iterator<Item = (Place, &T)> {
        let mut index = fifo.head;
        core::iter::from_fn(move || {
            let slot = self.slots.get(index as usize)?;
            let place = Place(index);
            index = slot.next;
            Some((place, slot.value.as_ref()?))
        })
    }

    /// Removes the value at `place` of `fifo`.
    pub(crate) fn remove(&mut self, fifo: &mut Fifo, place: Place) -> Option<T> {
        let Place(index) = place;
        if index == fifo.head {
            return self.pop_front(fifo);
        }
        if index == fifo.tail {
            return self.pop_back(fifo);
        }
        let slot = &mut self.slots[index as usize];
        let (previous, next) = (slot.previous, slot.next);
        slot.next = self.free;
        self.free = index;
        let value = slot.value.take();
        self.slots[previous as usize].next = next;
        self.slots[next as usize].previous = previous;
        value
    }

    /// The head of `fifo`, writable.
    #[inline]
    pub(crate) fn front_mut(&mut self, fifo: Fifo) -> Option<&mut T> {
        self.slots.get_mut(fifo.head as usize)?.value.as_mut()
    }

    /// The head of `fifo`.
    pub(crate) fn front(&self, fifo: Fifo) -> Option<&T> {
        self.slots.get(fifo.head as usize)?.value.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn queues_keep_their_order_and_slots_are_used_again() {
        let mut pool = Pool::new();
        let mut queues = [Fifo::default(), Fifo::default()];
        for round in 0..100u32 {
            for n in 0..6 {
                pool.push_back(&mut queues[n as usize % 2], round * 6 + n);
            }
            for n in 0..6 {
                assert_eq!(pool.front(queues[n as usize % 2]), Some(&(round * 6 + n)));
                assert_eq!(pool.pop_front(&mut queues[n as usize % 2]), Some(round * 6 + n));
            }
            assert!(queues.iter().all(|q| q.is_empty()) && pool.pop_front(&mut queues[0]).is_none());
        }
        assert_eq!(pool.slots.len(), 6);
    }

    #[test]
    fn any_may_leave_before_the_others() {
        let mut pool = Pool::new();
        for gone in 0..5 {
            let mut fifo = Fifo::default();
            (0..5).for_each(|n| pool.push_back(&mut fifo, n));
            let place = pool.iter(fifo).nth(gone).expect("five wait").0;
            assert_eq!(pool.remove(&mut fifo, place), Some(gone));
            pool.push_back(&mut fifo, 9);
            let left: Vec<usize> = (0..5).filter(|&n| n != gone).collect();
            let now = [left.as_slice(), &[9]].concat();
            assert_eq!(pool.iter(fifo).map(|(_, &n)| n).collect::<Vec<_>>(), now);
            assert_eq!(pool.pop_back(&mut fifo), Some(9));
            left.iter().for_each(|&n| assert_eq!(pool.pop_front(&mut fifo), Some(n)));
        }
        assert_eq!(pool.slots.len(), 5);
    }

    #[test]
    fn the_tail_may_leave_first() {
        let mut pool = Pool::new();
        let mut fifo = Fifo::default();
        for _ in 0..3 {
            (0..5).for_each(|n| pool.push_back(&mut fifo, n));
            let order = [
                pool.pop_back(&mut fifo),
                pool.pop_front(&mut fifo),
                pool.pop_back(&mut fifo),
                pool.pop_front(&mut fifo),
                pool.pop_back(&mut fifo),
                pool.pop_back(&mut fifo),
            ];
            assert_eq!(order, [Some(4), Some(0), Some(3), Some(1), Some(2), None]);
            assert!(fifo.is_empty());
        }
        assert_eq!(pool.slots.len(), 5);
    }
}
