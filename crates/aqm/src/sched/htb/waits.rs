//! The classes that wait for a change of their mode, by time.

use alloc::vec::Vec;

const NOWHERE: u32 = u32::MAX;

/// A heap of classes, from which any can be taken out. Its memory is taken when it is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// Time, running number, class: those of one time go in the order in which they came.
    heap: Vec<(i64, u64, u32)>,
    came: u64,
    /// The place of each class in the heap, [`NOWHERE`] for none.
    places: Vec<u32>,
}

impl Waits {
    /// An empty heap for classes below `classes`.
    pub(super) fn new(classes: usize) -> Self {
        Self { heap: Vec::with_capacity(classes), came: 0, places: alloc::vec![NOWHERE; classes] }
    }

    /// The earliest time and its class.
    pub(super) fn first(&self) -> Option<(i64, u32)> {
        self.heap.first().map(|(at, _, class)| (*at, *class))
    }

    /// Adds a class that is not there.
    pub(super) fn insert(&mut self, class: u32, at: i64) {
        self.heap.push((at, self.came, class));
        self.came += 1;
        self.rise(self.heap.len() - 1);
    }

    /// Takes out a class, if it is there.
    pub(super) fn remove(&mut self, class: u32) {
        let place = core::mem::replace(&mut self.places[class as usize], NOWHERE) as usize;
        if place >= self.heap.len() {
            return;
        }
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.rise(place);
            self.sink(place);
        }
    }

    fn put(&mut self, place: usize) {
        self.places[self.heap[place].2 as usize] = place as u32;
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.heap[place] < self.heap[(place - 1) / 2] {
            self.heap.swap(place, (place - 1) / 2);
            self.put(place);
            place = (place - 1) / 2;
        }
        self.put(place);
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = (2 * place + 1..2 * place + 3).filter(|child| *child < self.heap.len());
            let Some(child) = children.min_by_key(|child| self.heap[*child]).filter(|child| self.heap[*child] < self.heap[place])
            else {
                break;
            };
            self.heap.swap(place, child);
            self.put(place);
            place = child;
        }
        self.put(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn the_earliest_is_first_whatever_was_taken_out() {
        const CLASSES: u64 = 50;
        let mut rng = Rng::new(1);
        let (mut waits, mut wanted) = (Waits::new(CLASSES as usize), BTreeSet::new());
        for came in 0..20_000 {
            let class = rng.below(CLASSES) as u32;
            match wanted.iter().find(|(_, _, known)| *known == class).copied() {
                Some(entry) => {
                    wanted.remove(&entry);
                    waits.remove(class);
                }
                None => {
                    let at = rng.below(30) as i64;
                    wanted.insert((at, came, class));
                    waits.insert(class, at);
                }
            }
            assert_eq!(waits.first(), wanted.first().map(|(at, _, class)| (*at, *class)));
        }
        waits.remove(7);
        waits.remove(7);
    }
}
