//! The packet view: which packet waits where, and why one was dropped or marked.

use crate::explain::{self, Decision, Deed};
use goodqueue_lab::plan::Queue;
use goodqueue_sim::OpenWorld;
use goodqueue_trace::{PacketEvent, PacketEventKind};
use goodqueue_units::Instant;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

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

/// What makes packets alike: a copy sent again is told apart by order alone.
type Likeness = (u32, u64, u32);

/// Packets of one link: those that wait have a number of their own each.
#[derive(Debug, Default)]
pub struct Packets {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    numbers: BTreeMap<Likeness, VecDeque<u64>>,
}

impl Packets {
    /// What waits, the earliest arrival first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.waiting.values().copied().collect()
    }

    /// Takes in events of link number `link` that nobody looks at one by one.
    pub fn follow(&mut self, events: &[PacketEvent], link: u32) {
        for event in events.iter().filter(|event| event.link == link) {
            self.take(event);
        }
    }

    /// The number of the event's packet.
    fn take(&mut self, event: &PacketEvent) -> u64 {
        let likeness = (event.flow, event.number, event.len);
        match event.kind {
            PacketEventKind::Enqueued => {
                let id = self.next;
                self.next += 1;
                let t = seconds(event.at);
                self.waiting.insert(id, Waiting { t, flow: event.flow, size: event.len, id });
                self.numbers.entry(likeness).or_default().push_back(id);
                id
            }
            PacketEventKind::Marked { .. } => {
                self.numbers.get(&likeness).and_then(|ids| ids.front().copied()).unwrap_or(STRANGER)
            }
            PacketEventKind::Departed { sojourn } | PacketEventKind::Dropped { sojourn, .. } => {
                let Some(ids) = self.numbers.get_mut(&likeness) else { return STRANGER };
                // Dropped on arrival is the latest of its like, everything else the earliest.
                let id = if sojourn.is_zero() { ids.pop_back() } else { ids.pop_front() };
                if ids.is_empty() {
                    self.numbers.remove(&likeness);
                }
                let id = id.unwrap_or(STRANGER);
                self.waiting.remove(&id);
                id
            }
        }
    }

    /// Takes in events that have just happened, and shows them; `world` is as it was right after
    /// them.
    pub fn show(&mut self, events: &[PacketEvent], link: u32, queue: &Queue, world: &OpenWorld, shown: &mut Vec<Shown>) {
        for event in events.iter().filter(|event| event.link == link) {
            let id = self.take(event);
            let (what, decision) = match event.kind {
                PacketEventKind::Enqueued => ("arrive", None),
                PacketEventKind::Departed { .. } => ("depart", None),
                PacketEventKind::Dropped { reason, sojourn } => ("drop", Some((Deed::Dropped, reason, sojourn))),
                PacketEventKind::Marked { reason } => {
                    let since = self.waiting.get(&id).map_or(seconds(event.at), |waiting| waiting.t);
                    let sojourn = goodqueue_units::Duration::from_secs_f64((seconds(event.at) - since).max(0.0));
                    ("mark", Some((Deed::Marked, reason, sojourn)))
                }
            };
            let text = decision.map(|(deed, reason, sojourn)| {
                let mut gauges = Vec::new();
                world.gauges(link, &mut |name, value| gauges.push((name, value)));
                let waiting_packets = self.waiting.len() as u64;
                explain::words(queue, &Decision { deed, reason, sojourn, waiting_packets, gauges: &gauges })
            });
            let why = decision.map(|(_, reason, _)| reason.name());
            shown.push(Shown { t: seconds(event.at), what, flow: event.flow, size: event.len, id, why, text });
        }
    }
}

/// Since the start of the run.
pub fn seconds(at: Instant) -> f64 {
    at.since(Instant::ZERO).as_secs_f64()
}
