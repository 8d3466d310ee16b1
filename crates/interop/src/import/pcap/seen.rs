//! Packets that a recording has more than once: at each interface of a router, at both ends of a
//! bridge, or twice from a driver.

use super::clocks::MAX_APART_NS;
use super::link::Place;
use super::packet::{End, Packet};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The longest between two records of a packet at different places: a second on its way, waiting
/// included, and clocks that are as far apart as those that are taken for the same one.
const MAX_WAY_NS: i64 = 1_000_000_000 + MAX_APART_NS;
/// The longest between two records of a packet at one place; no host repeats one so soon.
const MAX_ECHO_NS: i64 = 500_000;
/// Packets that are remembered: more than a second of a gigabit of full ones.
const MAX_REMEMBERED: usize = 1 << 17;
/// Translated ends that are remembered.
const MAX_TRANSLATED: usize = 100_000;

/// The last packets.
#[derive(Default)]
pub(super) struct Seen {
    by_digest: HashMap<u64, First>,
    in_order: VecDeque<(i64, u64)>,
    /// Ends that a translator of addresses writes, for the other end of the connection, with those
    /// that it stands for.
    translated: BTreeMap<(End, End), End>,
    /// Records of packets that had been seen.
    again: u64,
    /// Packets of which too little is recorded to tell one from another.
    alike: u64,
    /// The place of the first packet, and whether there are others.
    place: Option<Place>,
    has_places: bool,
}

/// The first record of a packet.
struct First {
    at: i64,
    seen_at: (Place, u8),
    from: End,
    to: End,
    /// Whether it was recorded twice at its place, as drivers do.
    is_twice: bool,
    /// Whether others are like it: it came a third time, or again after a while.
    is_common: bool,
}

impl Seen {
    /// Records of packets that had been seen.
    pub(super) fn again(&self) -> u64 {
        self.again
    }

    /// Packets that may have been recorded at several places, of which that cannot be told.
    pub(super) fn alike(&self) -> u64 {
        if self.has_places { self.alike } else { 0 }
    }

    /// Returns a packet, at this time, with the ends that its connection is known by; `None` when
    /// it was seen before.
    pub(super) fn take(&mut self, packet: Packet, now: i64) -> Option<Packet> {
        self.has_places |= *self.place.get_or_insert(packet.seen_at.0) != packet.seen_at.0;
        if !packet.is_distinct {
            self.alike += 1;
            return Some(self.named(packet));
        }
        while let Some(&(at, digest)) = self.in_order.front() {
            if now.saturating_sub(at) <= MAX_WAY_NS && self.in_order.len() < MAX_REMEMBERED {
                break;
            }
            self.in_order.pop_front();
            if self.by_digest.get(&digest).is_some_and(|first| first.at == at) {
                self.by_digest.remove(&digest);
            }
        }
        let packet = self.named(packet);
        let mut is_common = false;
        if let Some(first) = self.by_digest.get_mut(&packet.digest) {
            let after = now.saturating_sub(first.at).saturating_abs();
            let is_elsewhere = first.seen_at != packet.seen_at;
            let is_same = (first.from, first.to) == (packet.from, packet.to);
            let is_translated = packet.is_unique && (first.from == packet.from || first.to == packet.to);
            let within = if is_elsewhere { MAX_WAY_NS } else { MAX_ECHO_NS };
            let is_third = !is_elsewhere && first.is_twice;
            let is_again = after <= within && (is_same || (is_elsewhere && is_translated));
            if is_again && !is_third && !first.is_common {
                first.is_twice |= !is_elsewhere;
                let (from, to) = (first.from, first.to);
                self.translate(&packet, from, to);
                self.again += 1;
                return None;
            }
            is_common = first.is_common || (!is_elsewhere && is_same);
            self.alike += u64::from(is_common);
            // The second of three was none that had been seen.
            self.again -= u64::from(is_third && !first.is_common);
        }
        self.in_order.push_back((now, packet.digest));
        let (from, to) = (packet.from, packet.to);
        self.by_digest.insert(packet.digest, First { at: now, seen_at: packet.seen_at, from, to, is_twice: false, is_common });
        Some(packet)
    }

    fn named(&self, packet: Packet) -> Packet {
        let name = |end: End, other: End| self.translated.get(&(end, other)).copied().unwrap_or(end);
        Packet { from: name(packet.from, packet.to), to: name(packet.to, packet.from), ..packet }
    }

    fn translate(&mut self, packet: &Packet, from: End, to: End) {
        if self.translated.len() >= MAX_TRANSLATED {
            return;
        }
        if packet.from != from {
            self.translated.insert((packet.from, to), from);
        } else if packet.to != to {
            self.translated.insert((packet.to, from), to);
        }
    }
}
