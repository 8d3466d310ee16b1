//! The packet view: which packet waits where, and why one was dropped or marked.

use crate::explain::{self, Decision, Deed};
use goodqueue_lab::plan::Queue;
use goodqueue_sim::OpenWorld;
use goodqueue_trace::{PacketEvent, PacketEventKind};
use goodqueue_units::Instant;
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// One thing that happened to one packet, as a page gets it.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    t: f64,
    what: &'static str,
    flow: u32,
    size: u32,
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Shown {
    /// Whether the event is a drop or a mark.
    pub fn is_signal(&self) -> bool {
        matches!(self.what, "drop" | "mark")
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Waiting {
    t: f64,
    flow: u32,
    size: u32,
    id: u64,
}

/// Stands for a packet that nobody has seen arrive, which does not happen; exact as a number of
/// JavaScript.
const STRANGER: u64 = (1 << 53) - 1;

/// What makes packets alike: number, flow and size in one word, which is compared at once. A copy
/// sent again is told apart by order alone.
type Likeness = u128;

fn likeness(event: &PacketEvent) -> Likeness {
    u128::from(event.number) << 64 | u128::from(event.flow) << 32 | u128::from(event.len)
}

/// Multiplies and rotates: what is looked up comes from the simulation, and every packet is.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }

    fn write_u64(&mut self, value: u64) {
        // 2⁶⁴ divided by the golden ratio, odd: the multiplier of Fibonacci hashing.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Places of the first and the last of the packets that are alike.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

/// A packet that waits, between its like.
#[derive(Clone, Copy, Debug)]
struct Place {
    waiting: Waiting,
    before: Option<u32>,
    after: Option<u32>,
}

/// Packets of one link: those that wait have a number of their own each.
#[derive(Debug, Default)]
pub struct Packets {
    next: u64,
    /// Places of packets that have left are free, and their content means nothing.
    places: Vec<Place>,
    free: Vec<u32>,
    numbers: HashMap<Likeness, Ends, BuildHasherDefault<Mixer>>,
}

impl Packets {
    /// What waits, the earliest arrival first.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut is_free = vec![false; self.places.len()];
        for &place in &self.free {
            is_free[place as usize] = true;
        }
        let taken = self.places.iter().zip(is_free).filter(|(_, is_free)| !is_free);
        let mut waiting: Vec<Waiting> = taken.map(|(place, _)| place.waiting).collect();
        waiting.sort_unstable_by_key(|waiting| waiting.id);
        waiting
    }

    fn waiting_packets(&self) -> u64 {
        (self.places.len() - self.free.len()) as u64
    }

    /// Takes in events of link number `link` that nobody looks at one by one.
    pub fn follow(&mut self, events: &[PacketEvent], link: u32) {
        for event in events.iter().filter(|event| event.link == link) {
            self.take(event);
        }
    }

    /// The event's packet; none that nobody has seen arrive, which does not happen.
    fn take(&mut self, event: &PacketEvent) -> Option<Waiting> {
        let likeness = likeness(event);
        match event.kind {
            PacketEventKind::Enqueued => Some(self.add(likeness, event)),
            PacketEventKind::Marked { .. } => self.numbers.get(&likeness).map(|ends| self.places[ends.first as usize].waiting),
            // Dropped on arrival is the latest of its like, everything else the earliest.
            PacketEventKind::Departed { sojourn } | PacketEventKind::Dropped { sojourn, .. } => {
                self.remove(likeness, sojourn.is_zero())
            }
        }
    }

    fn add(&mut self, likeness: Likeness, event: &PacketEvent) -> Waiting {
        let waiting = Waiting { t: seconds(event.at), flow: event.flow, size: event.len, id: self.next };
        self.next += 1;
        let place = self.free.pop().unwrap_or(self.places.len() as u32);
        let ends = self.numbers.entry(likeness).or_insert(Ends { first: place, last: place });
        let before = (ends.last != place).then_some(ends.last);
        ends.last = place;
        if let Some(before) = before {
            self.places[before as usize].after = Some(place);
        }
        let content = Place { waiting, before, after: None };
        match self.places.get_mut(place as usize) {
            Some(free) => *free = content,
            None => self.places.push(content),
        }
        waiting
    }

    fn remove(&mut self, likeness: Likeness, is_latest: bool) -> Option<Waiting> {
        let Entry::Occupied(mut entry) = self.numbers.entry(likeness) else { return None };
        let Ends { first, last } = *entry.get();
        let place = if is_latest { last } else { first };
        let Place { waiting, before, after } = self.places[place as usize];
        match (before, after) {
            (Some(before), _) => {
                self.places[before as usize].after = None;
                entry.get_mut().last = before;
            }
            (None, Some(after)) => {
                self.places[after as usize].before = None;
                entry.get_mut().first = after;
            }
            (None, None) => {
                entry.remove();
            }
        }
        self.free.push(place);
        Some(waiting)
    }

    /// Takes in events that have just happened, and shows them; `world` is as it was right after
    /// them.
    pub fn show(&mut self, events: &[PacketEvent], link: u32, queue: &Queue, world: &OpenWorld, shown: &mut Vec<Shown>) {
        for event in events.iter().filter(|event| event.link == link) {
            let packet = self.take(event);
            let (what, decision) = match event.kind {
                PacketEventKind::Enqueued => ("arrive", None),
                PacketEventKind::Departed { .. } => ("depart", None),
                PacketEventKind::Dropped { reason, sojourn } => ("drop", Some((Deed::Dropped, reason, sojourn))),
                PacketEventKind::Marked { reason } => {
                    let since = packet.map_or(seconds(event.at), |waiting| waiting.t);
                    let sojourn = goodqueue_units::Duration::from_secs_f64((seconds(event.at) - since).max(0.0));
                    ("mark", Some((Deed::Marked, reason, sojourn)))
                }
            };
            let text = decision.map(|(deed, reason, sojourn)| {
                let mut gauges = Vec::new();
                world.gauges(link, &mut |name, value| gauges.push((name, value)));
                let waiting_packets = self.waiting_packets();
                explain::words(queue, &Decision { deed, reason, sojourn, waiting_packets, gauges: &gauges })
            });
            let id = packet.map_or(STRANGER, |waiting| waiting.id);
            let why = decision.map(|(_, reason, _)| reason.name());
            shown.push(Shown { t: seconds(event.at), what, flow: event.flow, size: event.len, id, why, text });
        }
    }
}

/// Since the start of the run.
pub fn seconds(at: Instant) -> f64 {
    at.since(Instant::ZERO).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_aqm::Reason;
    use goodqueue_units::Duration;

    fn event(number: u64, kind: PacketEventKind) -> PacketEvent {
        PacketEvent { at: Instant::ZERO, link: 0, flow: 1, number, len: 1500, kind }
    }

    fn ids(packets: &Packets) -> Vec<u64> {
        packets.waiting().iter().map(|waiting| waiting.id).collect()
    }

    const LEFT: PacketEventKind = PacketEventKind::Departed { sojourn: Duration::ms(1) };
    const REFUSED: PacketEventKind = PacketEventKind::Dropped { reason: Reason::Overflow, sojourn: Duration::ZERO };

    #[test]
    fn of_packets_that_are_alike_the_first_leaves_and_the_last_is_refused() {
        let mut packets = Packets::default();
        for number in [7, 8, 7, 7] {
            packets.take(&event(number, PacketEventKind::Enqueued));
        }
        packets.take(&event(7, REFUSED));
        assert_eq!(ids(&packets), [0, 1, 2]);
        packets.take(&event(7, LEFT));
        assert_eq!(ids(&packets), [1, 2]);
        packets.take(&event(9, PacketEventKind::Enqueued));
        packets.take(&event(7, LEFT));
        packets.take(&event(8, LEFT));
        assert_eq!(ids(&packets), [4]);
        assert!(packets.take(&event(7, LEFT)).is_none(), "a packet that is not there");
        assert_eq!((packets.waiting_packets(), packets.numbers.len()), (1, 1));
    }
}
