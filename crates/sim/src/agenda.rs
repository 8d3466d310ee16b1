//! The event queue: the earliest of everything that has a time of its own.
//!
//! A lane, a transmitter and a queue's timer each have at most one next time, in a slot of their
//! own. Slots form groups of eight. Above them are groups of the earliest times of eight groups
//! each, up to a single group. A dumbbell needs one group: a comparison of eight numbers is its
//! whole event queue. A network of thousands of links needs four levels. Of two slots with the same
//! time the one with the lower number comes first; that order is part of a world's definition.

use crate::ids::{Id, SlotId};
use goodqueue_units::Instant;

const FAN: usize = 8;
const PLACE_BITS: u32 = FAN.ilog2();

/// A time in nanoseconds above the place within the group, so that one comparison orders two slots.
type Key = u64;

type Group = [Key; FAN];

/// 73 years; later times count as none.
const NEVER: u64 = Key::MAX >> PLACE_BITS;

/// Times of a fixed number of slots.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The slots themselves where one group holds them all, else the earliest times of the groups
    /// of the level below.
    top: Group,
    /// Larger agendas: the slots, and above them the earliest times of the groups below, level by
    /// level, without `top`.
    levels: Vec<Box<[Group]>>,
}

#[inline(always)]
fn key(at: u64, slot: usize) -> Key {
    at.min(NEVER) << PLACE_BITS | (slot % FAN) as Key
}

/// The earliest key of a group.
#[inline(always)]
fn earliest(group: &Group) -> Key {
    let [a, b, c, d, e, f, g, h] = *group;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

#[inline]
fn instant(key: Key) -> Instant {
    let at = key >> PLACE_BITS;
    if at == NEVER { Instant::MAX } else { Instant::from_nanos(at) }
}

#[inline(always)]
fn place(key: Key) -> usize {
    key as usize % FAN
}

/// A bound on times: everything due by then, and no slot without a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(Key);

impl Until {
    pub(crate) fn new(last: Instant) -> Self {
        // The first key that is too late.
        Self((last.as_nanos().min(NEVER - 1) + 1) << PLACE_BITS)
    }
}

impl Agenda {
    /// `slots` without a time.
    pub(crate) fn new(slots: usize) -> Self {
        let none = || std::array::from_fn(|place| key(NEVER, place));
        let mut groups = slots.div_ceil(FAN).max(1);
        let mut agenda = Self { top: none(), levels: Vec::new() };
        while groups > 1 {
            agenda.levels.push(vec![none(); groups].into_boxed_slice());
            groups = groups.div_ceil(FAN);
        }
        agenda
    }

    /// The same times, and room for more slots.
    pub(crate) fn grown(&self, slots: usize) -> Self {
        let mut agenda = Self::new(slots);
        for slot in 0..self.bottom().len() * FAN {
            let at = self.at(SlotId::at(slot));
            if at != Instant::MAX {
                agenda.set(SlotId::at(slot), at);
            }
        }
        agenda
    }

    /// The groups of slots.
    fn bottom(&self) -> &[Group] {
        self.levels.first().map_or(std::slice::from_ref(&self.top), |slots| slots)
    }

    /// Gives `slot` a time; [`Instant::MAX`] for none.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: SlotId, at: Instant) {
        let slot = slot.index();
        if self.levels.is_empty() {
            self.top[slot % FAN] = key(at.as_nanos(), slot);
        } else {
            self.set_below(slot, at.as_nanos());
        }
    }

    /// Gives a slot of a larger agenda a time and updates the levels above.
    #[inline(never)]
    fn set_below(&mut self, slot: usize, at: u64) {
        let (mut number, mut at) = (slot, at);
        for level in &mut self.levels {
            let group = &mut level[number / FAN];
            let new = key(at, number);
            if std::mem::replace(&mut group[number % FAN], new) == new {
                return;
            }
            at = earliest(group) >> PLACE_BITS;
            number /= FAN;
        }
        self.top[number % FAN] = key(at, number);
    }

    #[inline(always)]
    fn key_of(&self, slot: SlotId) -> Key {
        let slot = slot.index();
        if self.levels.is_empty() { self.top[slot % FAN] } else { self.levels[0][slot / FAN][slot % FAN] }
    }

    /// The time of `slot`.
    #[inline]
    pub(crate) fn at(&self, slot: SlotId) -> Instant {
        instant(self.key_of(slot))
    }

    /// Whether `slot` has no time.
    #[inline(always)]
    pub(crate) fn is_free(&self, slot: SlotId) -> bool {
        self.key_of(slot) >= NEVER << PLACE_BITS
    }

    /// The earliest time ([`Instant::MAX`] when no slot has one), and the first slot that has it.
    #[inline]
    pub(crate) fn next(&self) -> (Instant, SlotId) {
        let first = earliest(&self.top);
        (instant(first), self.slot_of(first))
    }

    /// The same, if it is due by `until`.
    #[inline(always)]
    pub(crate) fn next_until(&self, until: Until) -> Option<(Instant, SlotId)> {
        let first = earliest(&self.top);
        (first < until.0).then(|| (Instant::from_nanos(first >> PLACE_BITS), self.slot_of(first)))
    }

    /// The slot whose time is the earliest of `top`.
    #[inline(always)]
    fn slot_of(&self, first: Key) -> SlotId {
        SlotId::at(if self.levels.is_empty() { place(first) } else { self.descend(place(first)) })
    }

    #[inline(never)]
    fn descend(&self, top: usize) -> usize {
        self.levels.iter().rev().fold(top, |group, level| group * FAN + place(earliest(&level[group])))
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
                agenda.set(SlotId::at(slot), Instant::from_nanos(plain[slot]));
                let first = (0..slots).min_by_key(|&slot| plain[slot]).unwrap();
                let expected = (Instant::from_nanos(plain[first]), SlotId::at(first));
                assert_eq!(agenda.next(), expected);
                let bound = rng.below(300);
                let due = (plain[first] <= bound).then_some(expected);
                assert_eq!(agenda.next_until(Until::new(Instant::from_nanos(bound))), due);
                assert_eq!(agenda.is_free(SlotId::at(slot)), plain[slot] == u64::MAX);
                assert_eq!(agenda.at(SlotId::at(slot)).as_nanos(), plain[slot]);
            }
        }
    }
}
