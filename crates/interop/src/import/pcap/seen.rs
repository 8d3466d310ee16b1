//! Packets that a recording has more than once: at each interface of a router, at both ends of a
//! bridge, or twice from a driver.

use super::link::Place;
use super::packet::{End, Packet};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The longest that a packet is on its way from one place of a host to another, waiting included.
const MAX_WAY_NS: i64 = 1_000_000_000;
/// The longest between two records of a packet at one place; no host repeats one so soon.
const MAX_ECHO_NS: i64 = 500_000;
/// Packets of a second that are remembered: more than a gigabit of full ones.
const MAX_REMEMBERED: usize = 1 << 17;
/// Translated ends that are remembered.
const MAX_TRANSLATED: usize = 100_000;

/// The packets of the last second.
#[derive(Default)]
pub(super) struct Seen {
    by_digest: HashMap<u64, First>,
    in_order: VecDeque<(i64, u64)>,
    /// Ends that a translator of addresses writes, for the other end of the connection, with those
    /// that it stands for.
    translated: BTreeMap<(End, End), End>,
    /// Records of packets that had been seen.
    again: u64,
}

/// The first record of a packet.
struct First {
    at: i64,
    seen_at: (Place, u8),
    from: End,
    to: End,
}

impl Seen {
    /// Records of packets that had been seen.
    pub(super) fn again(&self) -> u64 {
        self.again
    }

    /// Returns a packet with the ends that its connection is known by; `None` when it was seen
    /// before.
    pub(super) fn take(&mut self, packet: Packet) -> Option<Packet> {
        while let Some(&(at, digest)) = self.in_order.front() {
            if packet.at.saturating_sub(at) <= MAX_WAY_NS && self.in_order.len() < MAX_REMEMBERED {
                break;
            }
            self.in_order.pop_front();
            if self.by_digest.get(&digest).is_some_and(|first| first.at == at) {
                self.by_digest.remove(&digest);
            }
        }
        let packet = self.named(packet);
        if let Some(first) = self.by_digest.get(&packet.digest) {
            let after = packet.at.saturating_sub(first.at).saturating_abs();
            let is_elsewhere = first.seen_at != packet.seen_at;
            let is_same = (first.from, first.to) == (packet.from, packet.to);
            // Numbers of a TCP segment tell it from all others.
            let is_translated = packet.tcp.is_some() && (first.from == packet.from || first.to == packet.to);
            let within = if is_elsewhere { MAX_WAY_NS } else { MAX_ECHO_NS };
            if after <= within && (is_same || (is_elsewhere && is_translated)) {
                let (from, to) = (first.from, first.to);
                self.translate(&packet, from, to);
                self.again += 1;
                return None;
            }
        }
        self.in_order.push_back((packet.at, packet.digest));
        let first = First { at: packet.at, seen_at: packet.seen_at, from: packet.from, to: packet.to };
        self.by_digest.insert(packet.digest, first);
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
