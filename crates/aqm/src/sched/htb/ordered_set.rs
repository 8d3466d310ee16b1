//! Sets of small numbers in order.

use alloc::vec::Vec;

const BITS: usize = u64::BITS as usize;

/// A set of numbers below a bound, whose memory is taken when it is made. Finding the next number
/// looks at one word for each factor of 64.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedSet {
    /// One bit for each number; above that, one for each word with a bit, up to a single word.
    levels: Vec<Vec<u64>>,
}

impl OrderedSet {
    /// An empty set of numbers below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = bound.div_ceil(BITS).max(1);
        loop {
            levels.push(alloc::vec![0; words]);
            if words == 1 {
                return Self { levels };
            }
            words = words.div_ceil(BITS);
        }
    }

    /// Whether it is a set of no numbers at all, for which no memory was taken.
    pub(super) const fn is_unset(&self) -> bool {
        self.levels.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.last().is_none_or(|top| top[0] == 0)
    }

    pub(super) fn insert(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            level[at / BITS] |= 1 << (at % BITS);
            at /= BITS;
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            level[at / BITS] &= !(1 << (at % BITS));
            if level[at / BITS] != 0 {
                return;
            }
            at /= BITS;
        }
    }

    /// The least number of the set that is `number` or more.
    pub(super) fn next(&self, number: u32) -> Option<u32> {
        let mut at = number as usize;
        for (height, level) in self.levels.iter().enumerate() {
            let word = at / BITS;
            let bits = level.get(word)? & (u64::MAX << (at % BITS));
            if bits != 0 {
                let first = word * BITS + bits.trailing_zeros() as usize;
                let below = self.levels[..height].iter().rev();
                return Some(below.fold(first, |at, level| at * BITS + level[at].trailing_zeros() as usize) as u32);
            }
            at = word + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_come_in_their_order() {
        for bound in [1u64, 63, 64, 65, 4096, 4097, 300_000] {
            let mut rng = Rng::new(bound);
            let (mut set, mut wanted) = (OrderedSet::new(bound as usize), BTreeSet::new());
            for _ in 0..2000 {
                let number = rng.below(bound) as u32;
                if rng.fires(0.5) {
                    set.insert(number);
                    wanted.insert(number);
                } else {
                    set.remove(number);
                    wanted.remove(&number);
                }
                let from = rng.below(bound + 1) as u32;
                assert_eq!(set.next(from), wanted.range(from..).next().copied());
                assert_eq!(set.is_empty(), wanted.is_empty());
            }
        }
    }
}
