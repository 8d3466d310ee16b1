//! What happens next: the earliest of everything that has a time of its own.
//!
//! A lane, a transmitter and a queue's timer each have at most one next time. They stand in groups of eight; above the groups stand their earliest
//! times, in groups of eight again, up to a single one. A dumbbell needs one group, and a comparison of eight numbers is its whole event queue;
//! a network of thousands of links needs four levels. Of two slots with the same time the one with the lower number comes first: that order is
//! part of what a world means.

use goodqueue_units::Instant;

const FAN: usize = 8;
const PLACE_BITS: u32 = FAN.ilog2();

/// A time in nanoseconds above the place within the group, so that one comparison orders two of them.
type Key = u64;

type Group = [Key; FAN];

/// 73 years; later times count as none.
const NEVER: u64 = Key::MAX >> PLACE_BITS;

/// Times of a fixed number of slots.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    slots: Box<[Group]>,
    /// The earliest times of the groups below, level by level; empty when there is one group of slots.
    above: Vec<Box<[Group]>>,
}

#[inline]
fn key(at: u64, slot: usize) -> Key {
    at.min(NEVER) << PLACE_BITS | (slot % FAN) as Key
}

/// The earliest of a group.
#[inline]
fn earliest(group: &Group) -> Key {
    let [a, b, c, d, e, f, g, h] = *group;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

#[inline]
fn instant(key: Key) -> Instant {
    let at = key >> PLACE_BITS;
    if at == NEVER { Instant::MAX } else { Instant::from_nanos(at) }
}

#[inline]
fn place(key: Key) -> usize {
    key as usize % FAN
}

impl Agenda {
    /// All of `slots` without a time.
    pub(crate) fn new(slots: usize) -> Self {
        let level = |groups: usize| vec![std::array::from_fn(|place| key(NEVER, place)); groups].into_boxed_slice();
        let mut groups = slots.div_ceil(FAN).max(1);
        let mut agenda = Self { slots: level(groups), above: Vec::new() };
        while groups > 1 {
            groups = groups.div_ceil(FAN);
            agenda.above.push(level(groups));
        }
        agenda
    }

    /// The same times, and room for more slots.
    pub(crate) fn grown(&self, slots: usize) -> Self {
        let mut agenda = Self::new(slots);
        for slot in 0..self.slots.len() * FAN {
            let at = self.at(slot);
            if at != Instant::MAX {
                agenda.set(slot, at);
            }
        }
        agenda
    }

    /// Gives `slot` a time; [`Instant::MAX`] for none.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: usize, at: Instant) {
        self.slots[slot / FAN][slot % FAN] = key(at.as_nanos(), slot);
        if !self.above.is_empty() {
            self.lift(slot / FAN);
        }
    }

    /// Tells the levels above that a group of slots has changed.
    #[inline(never)]
    fn lift(&mut self, mut group: usize) {
        let mut best = earliest(&self.slots[group]) >> PLACE_BITS;
        for level in &mut self.above {
            let entry = &mut level[group / FAN][group % FAN];
            let new = key(best, group);
            if *entry == new {
                return;
            }
            *entry = new;
            group /= FAN;
            best = earliest(&level[group]) >> PLACE_BITS;
        }
    }

    /// The time of `slot`.
    #[inline]
    pub(crate) fn at(&self, slot: usize) -> Instant {
        instant(self.slots[slot / FAN][slot % FAN])
    }

    /// Has `slot` no time?
    #[inline(always)]
    pub(crate) fn is_free(&self, slot: usize) -> bool {
        self.slots[slot / FAN][slot % FAN] >= NEVER << PLACE_BITS
    }

    /// The earliest time ([`Instant::MAX`] when no slot has one), and the first slot that has it.
    #[inline(always)]
    pub(crate) fn next(&self) -> (Instant, usize) {
        let group = if self.above.is_empty() { 0 } else { self.descend() };
        let first = earliest(&self.slots[group]);
        (instant(first), group * FAN + place(first))
    }

    /// The group of slots with the earliest time.
    #[inline(never)]
    fn descend(&self) -> usize {
        self.above.iter().rev().fold(0, |group, level| group * FAN + place(earliest(&level[group])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rng;

    #[test]
    fn the_earliest_and_of_equals_the_lowest_comes_first() {
        let mut rng = Rng::new(1);
        for slots in [1, 2, 3, 7, 8, 9, 64, 65, 600] {
            let mut agenda = Agenda::new(slots);
            let mut plain = vec![u64::MAX; slots];
            assert_eq!(agenda.next().0, Instant::MAX);
            for _ in 0..2_000 {
                let slot = rng.below(slots as u64) as usize;
                plain[slot] = if rng.fires(0.1) { u64::MAX } else { rng.below(300) };
                agenda.set(slot, Instant::from_nanos(plain[slot]));
                let first = (0..slots).min_by_key(|&slot| plain[slot]).unwrap();
                assert_eq!(agenda.next(), (Instant::from_nanos(plain[first]), first));
                assert_eq!(agenda.at(slot).as_nanos(), plain[slot]);
            }
        }
    }
}
