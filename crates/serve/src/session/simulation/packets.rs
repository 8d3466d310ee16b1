//! The packet view: which packet waits where, and why one was dropped or marked.

use crate::session::explain::{self, Action, Decision};
use goodqueue_base::units::Instant;
use goodqueue_lab::scenario::plan::Queue;
use goodqueue_sim::OpenWorld;
use goodqueue_sim::trace::{PacketEvent, PacketEventKind};
use serde::{Serialize, Serializer};
use std::collections::VecDeque;

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

/// Stands for a packet that nobody has seen arrive, which does not happen; exact as a number of
/// JavaScript.
const UNKNOWN_ID: u64 = (1 << 53) - 1;

/// A packet that waits.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Waiting {
    #[serde(rename = "t", serialize_with = "in_seconds")]
    at: Instant,
    #[serde(skip)]
    number: u64,
    flow: u32,
    size: u32,
    id: u64,
}

impl Waiting {
    /// Whether the event may be this packet's: a copy sent again is told apart by order alone.
    fn is_like(&self, event: &PacketEvent) -> bool {
        self.number == event.number && self.size == event.len
    }
}

fn in_seconds<S: Serializer>(at: &Instant, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(at.as_secs_f64())
}

/// Packets of one link: those that wait have a number of their own each.
#[derive(Debug, Default)]
pub struct Packets {
    next: u64,
    /// By flow, the earliest arrival first. Nearly every queue serves the packets of one flow in
    /// order, so that the first or the last is the one looked for and found at once.
    flows: Vec<VecDeque<Waiting>>,
}

impl Packets {
    /// Returns the packets that wait, the earliest arrival first.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut waiting: Vec<Waiting> = self.flows.iter().flatten().copied().collect();
        waiting.sort_unstable_by_key(|waiting| waiting.id);
        waiting
    }

    /// Takes in events of link number `link` that nobody looks at one by one.
    pub fn follow(&mut self, events: &[PacketEvent], link: u32) {
        for event in events.iter().filter(|event| event.link == link) {
            self.take(event);
        }
    }

    /// The event's packet; none that nobody has seen arrive, which does not happen.
    fn take(&mut self, event: &PacketEvent) -> Option<Waiting> {
        let flow = event.flow as usize;
        let leaves_at_once = match event.kind {
            PacketEventKind::Enqueued => {
                if flow >= self.flows.len() {
                    self.flows.resize_with(flow + 1, VecDeque::new);
                }
                let packet = Waiting { at: event.at, number: event.number, id: self.next, flow: event.flow, size: event.len };
                self.flows[flow].push_back(packet);
                self.next += 1;
                return Some(packet);
            }
            PacketEventKind::Marked { .. } => return self.flows.get(flow)?.iter().find(|packet| packet.is_like(event)).copied(),
            PacketEventKind::Departed { sojourn } | PacketEventKind::Dropped { sojourn, .. } => sojourn.is_zero(),
        };
        let packets = self.flows.get_mut(flow)?;
        let is_like = |packet: &Waiting| packet.is_like(event);
        // Dropped on arrival is the latest of its like, everything else the earliest.
        let index = if leaves_at_once { packets.iter().rposition(is_like) } else { packets.iter().position(is_like) };
        packets.remove(index?)
    }

    /// Takes in events that have just happened, and shows them; `world` is as it was right after
    /// them.
    pub fn show(&mut self, events: &[PacketEvent], link: u32, queue: &Queue, world: &OpenWorld, shown: &mut Vec<Shown>) {
        for event in events.iter().filter(|event| event.link == link) {
            let packet = self.take(event);
            let (what, decision) = match event.kind {
                PacketEventKind::Enqueued => ("arrive", None),
                PacketEventKind::Departed { .. } => ("depart", None),
                PacketEventKind::Dropped { reason, sojourn } => ("drop", Some((Action::Dropped, reason, sojourn))),
                PacketEventKind::Marked { reason } => {
                    let since = packet.map_or(event.at, |packet| packet.at);
                    let sojourn = event.at.since(since);
                    ("mark", Some((Action::Marked, reason, sojourn)))
                }
            };
            let text = decision.map(|(action, reason, sojourn)| {
                let mut gauges = Vec::new();
                world.gauges(link, &mut |name, value| gauges.push((name, value)));
                let waiting_packets = self.flows.iter().map(VecDeque::len).sum();
                explain::words(queue, &Decision { action, reason, sojourn, waiting_packets, gauges: &gauges })
            });
            let id = packet.map_or(UNKNOWN_ID, |packet| packet.id);
            let why = decision.map(|(_, reason, _)| reason.name());
            shown.push(Shown { t: event.at.as_secs_f64(), what, flow: event.flow, size: event.len, id, why, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_aqm::Reason;
    use goodqueue_base::units::Duration;

    fn event(number: u64, kind: PacketEventKind) -> PacketEvent {
        PacketEvent { at: Instant::ZERO, link: 0, flow: 1, number, len: 1500, kind }
    }

    fn ids(packets: &Packets) -> Vec<u64> {
        packets.waiting().iter().map(|waiting| waiting.id).collect()
    }

    const LEFT: PacketEventKind = PacketEventKind::Departed { sojourn: Duration::ms(1) };
    const REFUSED: PacketEventKind = PacketEventKind::Dropped { reason: Reason::Overflow, sojourn: Duration::ZERO };

    #[test]
    fn equal_packets_leave_first_in_and_are_refused_last_in() {
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
    }
}
