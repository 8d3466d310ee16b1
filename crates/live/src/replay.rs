//! Replay of a recorded run: the same arrivals at a fresh queue before a plain transmitter, without
//! packets, threads or a clock.
//!
//! The host here is written for this purpose alone and shares nothing with [`crate::Lane`] but
//! the four calls. When every verdict comes out as recorded, the live queue saw what a simulated
//! one would have seen, however late its thread was.

use crate::lane::Line;
use crate::record::{Event, EventKind};
use goodqueue_aqm::{Dropped, FlowHash, Packet, Qdisc, Reason, Sink};
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Class, Duration, Ecn, Framing, Instant, Packets, Rate};
use std::fmt;

/// A recorded packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayPacket {
    number: u64,
    flow: FlowHash,
    len: Bytes,
    ecn: Ecn,
    class: Class,
}

impl Packet for ReplayPacket {
    fn len(&self) -> Bytes {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowHash {
        self.flow
    }
    fn class(&self) -> Class {
        self.class
    }
}

/// The verdicts of a replay: every event of the queue, arrivals included.
#[derive(Debug)]
struct Verdicts {
    now: Instant,
    events: Vec<Event>,
}

impl Verdicts {
    fn add(&mut self, packet: &ReplayPacket, kind: EventKind) {
        let ReplayPacket { number, flow, len, ecn, class } = *packet;
        self.events.push(Event { at: self.now, number, flow, len, ecn, class, kind });
    }
}

impl Sink<ReplayPacket> for Verdicts {
    fn dropped(&mut self, packet: ReplayPacket, drop: Dropped) {
        self.add(&packet, EventKind::Dropped(drop.reason));
    }
    fn marked(&mut self, packet: &ReplayPacket, reason: Reason) {
        self.add(packet, EventKind::Marked(reason));
    }
}

/// The line of a recorded run, of constant or stepped rate. Changes of rate by hand are in the
/// record.
#[derive(Clone, Debug)]
pub struct ReplayLine {
    rate: RateCursor,
    nominal: Rate,
    framing: Framing,
}

impl ReplayLine {
    /// The line that `settings` describe; `None` for a recorded rate, whose opportunities are not
    /// in the record.
    #[must_use]
    pub fn new(settings: &Line) -> Option<Self> {
        let rate = RateCursor::new(&settings.rate);
        let nominal = settings.rate.nominal();
        (!rate.is_recorded()).then_some(Self { rate, nominal, framing: settings.framing })
    }

    fn change(&mut self, at: Instant, rate: Rate) {
        let just_before = at - Duration::ns(1);
        if self.rate.next_change(just_before) != at || self.rate.known_rate(at) != rate {
            self.rate = RateCursor::constant(rate);
        }
    }
}

/// The first difference between a replay and its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Events that agree before it.
    pub after: usize,
    /// The recorded event; `None` past the end of the record.
    pub recorded: Option<Event>,
    /// The replayed event; `None` past the end of the replay.
    pub replayed: Option<Event>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |event: Option<Event>| event.map_or_else(|| "nothing more".to_owned(), |event| format!("\"{event}\""));
        let (recorded, replayed) = (shown(self.recorded), shown(self.replayed));
        write!(f, "after {} events that agree, the record has {recorded}, the replay {replayed}", self.after)
    }
}

/// Replays `recorded` into `queue` and returns the first difference; `None` when every verdict is
/// the same.
pub fn first_difference<Q: Qdisc<ReplayPacket>>(queue: Q, line: ReplayLine, recorded: &[Event]) -> Option<Difference> {
    let replayed = replay(queue, line, recorded);
    let pairs = recorded.iter().map(Some).chain(std::iter::repeat(None));
    let others = replayed.iter().map(Some).chain(std::iter::repeat(None));
    let most = recorded.len().max(replayed.len());
    pairs.zip(others).take(most).position(|(recorded, replayed)| recorded != replayed).map(|after| Difference {
        after,
        recorded: recorded.get(after).copied(),
        replayed: replayed.get(after).copied(),
    })
}

/// Every event that comes of the arrivals and changes of rate in `recorded`, until the time of its
/// last event.
#[must_use]
pub fn replay<Q: Qdisc<ReplayPacket>>(mut queue: Q, mut line: ReplayLine, recorded: &[Event]) -> Vec<Event> {
    let mut verdicts = Verdicts { now: Instant::ZERO, events: Vec::with_capacity(recorded.len()) };
    queue.set_link_rate(Instant::ZERO, Some(line.nominal));
    // Between these times the transmitter is busy; `free` is when it last was found without work.
    let mut busy_until: Option<Instant> = None;
    let end = recorded.last().map_or(Instant::ZERO, |event| event.at);
    let given = |event: &&Event| matches!(event.kind, EventKind::Arrived | EventKind::RateChanged(_));
    let mut inputs = recorded.iter().filter(given).peekable();
    loop {
        let input = inputs.peek().map_or(Instant::MAX, |event| event.at);
        let changes = inputs.peek().is_some_and(|event| matches!(event.kind, EventKind::RateChanged(_)));
        let timer = queue.next_timer().map_or(Instant::MAX, |due| due.max(verdicts.now));
        let free = busy_until.unwrap_or(Instant::MAX);
        let next = input.min(timer).min(free);
        if next > end || next == Instant::MAX {
            return verdicts.events;
        }
        verdicts.now = next;
        if input == next && changes {
            if let Some(Event { kind: EventKind::RateChanged(new), .. }) = inputs.next() {
                line.change(next, *new);
                queue.set_link_rate(next, Some(*new));
                verdicts.events.push(Event::of_line(next, EventKind::RateChanged(*new)));
            }
            continue;
        }
        if timer == next {
            queue.handle_timer(next);
            let idle = busy_until.is_none();
            if !(idle && queue.view().packets > Packets::ZERO) {
                continue;
            }
        } else if free != next
            && let Some(event) = inputs.next()
        {
            let Event { number, flow, len, ecn, class, .. } = *event;
            let packet = ReplayPacket { number, flow, len, ecn, class };
            verdicts.add(&packet, EventKind::Arrived);
            queue.enqueue(next, packet, &mut verdicts);
            if busy_until.is_some() {
                continue;
            }
        }
        busy_until = queue.dequeue(next, &mut verdicts).map(|departure| {
            verdicts.add(&departure.packet, EventKind::Departed);
            line.rate.end_of(next, line.framing.wire(departure.packet.len))
        });
    }
}
