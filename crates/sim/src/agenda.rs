//! The event queue: the earliest of everything that has a time of its own.
//!
//! A lane, a transmitter and a queue's timer each have at most one next time, in a slot of their
//! own. Eight slots are one group, and a comparison of eight numbers is the whole event queue, as
//! in most dumbbells. More slots are the leaves of a tree below that group, in which each node has
//! the earliest time of the four below it: most home lines have 9 to 32 slots, which is one level
//! below the group. Of two slots with the same time the one with the lower number comes first; that
//! order is part of a world's definition.

use crate::ids::{Id, SlotId};
use crate::sys::SPACIOUS;
use goodqueue_base::units::Instant;

/// Slots or nodes of the group at the top.
const FAN: usize = 8;
/// Bits that number them.
const TOP_BITS: u32 = FAN.ilog2();
/// Nodes below a node.
const BELOW: usize = 4;
/// Bits that number the nodes of the second level.
const SECOND_BITS: u32 = (FAN * BELOW).ilog2();

/// A time in nanoseconds above the number of its slot, so that one comparison orders two slots.
type Key = u64;

/// Times of a fixed number of slots.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The slots themselves where one group holds them all, else the highest nodes of the tree.
    top: [Key; FAN],
    /// Bits of a key that are the number of its slot.
    bits: u32,
    /// More than [`FAN`] slots: the nodes below those.
    second: [[Key; BELOW]; FAN],
    /// Still more: all further nodes. The highest nodes of the tree are those from [`FAN`] to
    /// `2 * FAN - 1`, and group `n` has the nodes below node `n`, which are those from `4 n` on.
    groups: Box<[[Key; BELOW]]>,
}

/// The earliest key of a group.
#[inline(always)]
fn earliest(group: &[Key; FAN]) -> Key {
    let [a, b, c, d, e, f, g, h] = *group;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

/// Puts a key into a group of the tree. Returns the earliest of the group.
#[inline(always)]
fn put(group: &mut [Key; BELOW], place: usize, key: Key) -> Key {
    group[place % BELOW] = key;
    let [a, b, c, d] = *group;
    a.min(b).min(c.min(d))
}

/// A bound on times: everything due by then, and no slot without a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(Key);

impl Agenda {
    /// `slots` without a time.
    pub(crate) fn new(slots: usize) -> Self {
        let mut room = FAN;
        while room < slots {
            room *= BELOW;
        }
        let groups = if room > FAN * BELOW { vec![[Key::MAX; BELOW]; 2 * room / BELOW] } else { Vec::new() };
        let mut agenda =
            Self { top: [Key::MAX; FAN], bits: room.ilog2(), second: [[Key::MAX; BELOW]; FAN], groups: groups.into() };
        (0..room).for_each(|slot| agenda.set(SlotId::at(slot), Instant::MAX));
        agenda
    }

    /// Returns an agenda of the same times, with room for more slots.
    pub(crate) fn grown(&self, slots: usize) -> Self {
        let mut agenda = Self::new(slots);
        for slot in 0..1 << self.bits {
            let at = self.at(SlotId::at(slot));
            if at != Instant::MAX {
                agenda.set(SlotId::at(slot), at);
            }
        }
        agenda
    }

    /// The latest time that a slot may have; later times count as none. It is 73 years with eight
    /// slots, and 104 days with 2048.
    const fn latest(&self) -> Instant {
        Instant::from_nanos(self.never() - 1)
    }

    /// The latest time that a slot may have even if there are twice as many slots one day.
    pub(crate) const fn horizon(&self) -> Instant {
        Instant::from_nanos(self.latest().as_nanos() / BELOW as u64)
    }

    const fn never(&self) -> u64 {
        Key::MAX >> self.bits
    }

    #[inline(always)]
    fn key(at: u64, slot: usize, bits: u32) -> Key {
        at.min(Key::MAX >> bits) << bits | slot as Key
    }

    #[inline(always)]
    fn instant(&self, key: Key) -> Instant {
        let at = key >> self.bits;
        if at == self.never() { Instant::MAX } else { Instant::from_nanos(at) }
    }

    #[inline(always)]
    const fn is_one_group(&self) -> bool {
        self.bits == TOP_BITS
    }

    /// Returns `bits`, which is a constant for a single group.
    #[inline(always)]
    const fn slot_bits(&self) -> u32 {
        if self.is_one_group() { TOP_BITS } else { self.bits }
    }

    /// The node of a larger agenda that is this slot: there are as many nodes before the first slot
    /// as there are slots.
    #[inline(always)]
    const fn node_of(&self, slot: usize) -> usize {
        (1 << self.bits) + slot
    }

    /// The time and the slot of a key that is not none.
    #[inline(always)]
    fn parts(&self, key: Key) -> (Instant, SlotId) {
        let bits = self.slot_bits();
        (Instant::from_nanos(key >> bits), SlotId::at(key as usize & ((1 << bits) - 1)))
    }

    /// Gives `slot` a time; [`Instant::MAX`] for none.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: SlotId, at: Instant) {
        if self.is_one_group() {
            self.top[slot.index() % FAN] = Self::key(at.as_nanos(), slot.index(), TOP_BITS);
        } else if SPACIOUS && self.bits == SECOND_BITS {
            self.set_second(slot.index(), Self::key(at.as_nanos(), slot.index(), SECOND_BITS));
        } else {
            self.set_below(slot.index(), at.as_nanos());
        }
    }

    /// Gives a slot of a larger agenda a time and updates the nodes above.
    #[inline(never)]
    fn set_below(&mut self, slot: usize, at: u64) {
        let mut key = Self::key(at, slot, self.bits);
        let mut node = self.node_of(slot);
        while node >= 2 * FAN * BELOW {
            let group = &mut self.groups[node / BELOW];
            if group[node % BELOW] == key {
                return;
            }
            key = put(group, node, key);
            node /= BELOW;
        }
        self.set_second(node, key);
    }

    /// Gives a node of the second level its key, and updates the node above.
    #[inline(always)]
    fn set_second(&mut self, node: usize, key: Key) {
        let above = node / BELOW % FAN;
        self.top[above] = put(&mut self.second[above], node, key);
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn key_of(&self, slot: SlotId) -> Key {
        let slot = slot.index();
        if self.is_one_group() {
            self.top[slot % FAN]
        } else if self.bits == SECOND_BITS {
            self.second.as_flattened()[slot % (FAN * BELOW)]
        } else {
            let node = self.node_of(slot);
            self.groups[node / BELOW][node % BELOW]
        }
    }

    /// The time of `slot`.
    #[inline]
    pub(crate) fn at(&self, slot: SlotId) -> Instant {
        self.instant(self.key_of(slot))
    }

    /// Whether `slot` has no time.
    #[inline(always)]
    pub(crate) fn is_free(&self, slot: SlotId) -> bool {
        let bits = self.slot_bits();
        self.key_of(slot) >= Key::MAX >> bits << bits
    }

    /// The earliest time ([`Instant::MAX`] when no slot has one), and the first slot that has it.
    #[inline]
    pub(crate) fn next(&self) -> (Instant, SlotId) {
        let first = earliest(&self.top);
        (self.instant(first), self.parts(first).1)
    }

    /// The bound that allows everything due by `last`.
    pub(crate) fn until(&self, last: Instant) -> Until {
        // The first key that is too late.
        Until((last.as_nanos().min(self.never() - 1) + 1) << self.bits)
    }

    /// Returns the same as [`next`](Self::next), if it is due by `until`.
    #[inline(always)]
    pub(crate) fn next_until(&self, until: Until) -> Option<(Instant, SlotId)> {
        let first = earliest(&self.top);
        (first < until.0).then(|| self.parts(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Rng;

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
                assert_eq!(agenda.next_until(agenda.until(Instant::from_nanos(bound))), due);
                assert_eq!(agenda.is_free(SlotId::at(slot)), plain[slot] == u64::MAX);
                assert_eq!(agenda.at(SlotId::at(slot)).as_nanos(), plain[slot]);
            }
        }
    }

    #[test]
    fn more_slots_leave_less_time() {
        const DAY: u64 = 86_400 * 1_000_000_000;
        for (slots, days) in [(8, 26_687), (9, 6_671), (2048, 104), (2049, 26)] {
            let mut agenda = Agenda::new(slots);
            assert_eq!(agenda.latest().as_nanos() / DAY, days, "{slots} slots");
            let last = SlotId::at(slots - 1);
            agenda.set(last, agenda.latest());
            assert_eq!(agenda.next(), (agenda.latest(), last));
            agenda.set(last, Instant::from_nanos(agenda.latest().as_nanos() + 1));
            assert!(agenda.is_free(last));
        }
    }
}
