//! Replays a vector on our own queues.

use crate::conformance::fault::Fault;
use crate::conformance::operation::{Event, Operation, Step, What};
use crate::conformance::vector::{Generator, Vector};
use goodqueue_aqm::{
    AnyQdisc, Departure, Dropped, EcnPolicy, Endpoints, FlowHash, Packet, PureAck, Qdisc, Reason, Rng, SimplePacket, Sink,
};
use goodqueue_base::units::{Bytes, Class, Ecn, Instant};
use std::fmt;

/// Result of an implementation on a vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Operations of the vector.
    pub operations: usize,
    /// Number of operations followed by the same events in the same order.
    pub identical: usize,
    /// The first difference. Later ones mostly follow from it, since the queues hold different
    /// packets from there on.
    pub first: Option<Difference>,
}

/// An operation whose outcome differs from the vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Index of the operation in the vector, from 0.
    pub index: usize,
    /// The operation.
    pub operation: Operation,
    /// Kind of difference.
    pub kind: Mismatch,
}

/// Kind of a [`Difference`].
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// The events differ.
    Events {
        /// Events in the vector.
        expected: Vec<Event>,
        /// Events of the implementation.
        found: Vec<Event>,
    },
    /// The time of the next timer differs.
    Timer {
        /// Time in the vector; `None`: not before the operation.
        expected: Option<Instant>,
        /// Time of the implementation.
        found: Option<Instant>,
    },
    /// The answer is not a list of events.
    Answer(String),
}

/// Replays the operations of a vector on the queue that it describes.
///
/// # Errors
/// When the parameters contradict each other or the link, or the random numbers are not those of
/// the seed.
pub fn replay(vector: &Vector) -> Result<Outcome, Fault> {
    let mut queue = build(vector)?;
    let queues = if let AnyQdisc::CakeMq(shared) = &queue { shared.queues() } else { 0 };
    let asked = vector.steps.iter().filter_map(|step| match step.operation {
        Operation::Dequeue { queue, .. } => queue,
        _ => None,
    });
    if let Some(queue) = asked.max().filter(|queue| *queue as usize >= queues) {
        return Err(Fault::field("operations", format!("transmit queue {queue} is asked: there are {queues}, numbered from 0")));
    }
    let mut draws = Draws::new(vector);
    let mut outcome = Outcome { operations: vector.steps.len(), identical: 0, first: None };
    let (mut log, mut next_id) = (Log::default(), 0);
    for (index, Step { operation, events }) in vector.steps.iter().enumerate() {
        let now = operation.at();
        // A request does for a shaper what its timer does.
        let is_request = |due| match operation {
            Operation::Dequeue { queue: None, .. } => due == queue.held_until() || vector.queue.kind.class.is_some(),
            Operation::Dequeue { queue: Some(_), .. } => true,
            _ => false,
        };
        let found = queue.next_timer().filter(|&due| due <= now && !is_request(due));
        let expected = matches!(operation, Operation::Timer { .. }).then_some(now);
        draws.offer(&mut queue);
        match (*operation, &mut queue) {
            (Operation::Dequeue { at, queue: Some(number) }, AnyQdisc::CakeMq(shared)) => {
                let departure = shared.dequeue_from(number as usize, at, &mut log);
                log.depart(departure);
            }
            (_, queue) => apply(queue, *operation, &mut next_id, &mut log),
        }
        draws.take_back(&mut queue);
        let kind = if found != expected {
            Some(Mismatch::Timer { expected, found })
        } else if !agree(events, &log.0) {
            Some(Mismatch::Events { expected: events.clone(), found: log.0.clone() })
        } else {
            None
        };
        outcome.note(index, *operation, kind);
        log.0.clear();
    }
    Ok(outcome)
}

impl Outcome {
    /// Counts an operation and keeps the first difference.
    pub(crate) fn note(&mut self, index: usize, operation: Operation, kind: Option<Mismatch>) {
        match kind {
            None => self.identical += 1,
            Some(kind) if self.first.is_none() => self.first = Some(Difference { index, operation, kind }),
            Some(_) => {}
        }
    }

    /// Whether every operation had the events of the vector.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.first.is_none() && self.identical == self.operations
    }
}

/// Whether both lists have the same events in the same order.
pub(crate) fn agree(expected: &[Event], found: &[Event]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(one, two)| one.agrees(two))
}

fn build(vector: &Vector) -> Result<AnyQdisc<Offered>, Fault> {
    if vector.generator != Generator::Xoshiro && vector.queue.of.is_some() {
        return Err(Fault::field("generator", "only xoshiro256++ is for kinds of several queues"));
    }
    let mut rng = Rng::new(vector.seed);
    let of_seed = if vector.generator == Generator::Listed { &[] } else { vector.random.as_slice() };
    for (place, number) in of_seed.iter().enumerate() {
        let own = rng.next_u64();
        if own != *number {
            return Err(Fault::field("random", format!("number {place} is {number:#018x}, but the seed gives {own:#018x}")));
        }
    }
    let policy = if vector.ecn { EcnPolicy::Mark } else { EcnPolicy::Drop };
    // Building a queue consumes the first number of the generator; the Linux forms continue from it
    // on their own.
    let rng = match vector.generator {
        Generator::SplitMix => Rng::about_to_draw(Draws::split_mix(vector.seed)),
        Generator::Xoshiro | Generator::Listed => Rng::new(vector.seed),
    };
    let facts = vector.link.facts();
    let built = AnyQdisc::build_over(&vector.queue, &facts, policy, rng);
    let mut queue = built.map_err(Fault::Queue)?;
    for (flow, weight) in vector.weights.iter().enumerate() {
        queue.set_weight(FlowHash(flow as u32), *weight);
    }
    for class in &vector.queue.classes {
        if let Ok(flow) = class.name.parse() {
            queue.set_leaf(FlowHash(flow), &class.name);
        }
    }
    Ok(queue)
}

/// Draws of a foreign generator, handed to the queue one per operation. Where an algorithm draws
/// twice in one operation, as some do at their first packet, the second number is not the listed
/// one, but it counts as drawn.
struct Draws<'a> {
    source: Source<'a>,
    offered: Rng,
}

enum Source<'a> {
    /// The generator of goodqueue.
    Own,
    /// State of splitmix64.
    SplitMix(u64),
    /// The remaining listed numbers.
    Listed(&'a [u64]),
}

impl<'a> Draws<'a> {
    fn new(vector: &'a Vector) -> Self {
        let source = match vector.generator {
            Generator::Xoshiro => Source::Own,
            Generator::SplitMix => Source::SplitMix(vector.seed),
            Generator::Listed => Source::Listed(&vector.random),
        };
        Self { source, offered: Rng::new(0) }
    }

    const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Output of splitmix64 after `state`.
    const fn split_mix(state: u64) -> u64 {
        let mut z = state.wrapping_add(Self::GAMMA);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn offer(&mut self, queue: &mut impl Qdisc<Offered>) {
        let number = match self.source {
            Source::Own => return,
            Source::SplitMix(state) => Self::split_mix(state),
            Source::Listed(numbers) => numbers.first().copied().unwrap_or(u64::MAX),
        };
        if let Some(rng) = queue.rng_mut() {
            self.offered = Rng::about_to_draw(number);
            *rng = self.offered.clone();
        }
    }

    /// Skips as many numbers as the queue drew.
    fn take_back(&mut self, queue: &mut impl Qdisc<Offered>) {
        const MAX: usize = 4;
        let (Some(rng), false) = (queue.rng_mut(), matches!(self.source, Source::Own)) else { return };
        let mut drawn = 0;
        while drawn < MAX && *rng != self.offered {
            self.offered.next_u64();
            drawn += 1;
        }
        match &mut self.source {
            Source::Own => {}
            Source::SplitMix(state) => *state = state.wrapping_add(Self::GAMMA.wrapping_mul(drawn as u64)),
            Source::Listed(numbers) => *numbers = numbers.get(drawn..).unwrap_or(&[]),
        }
    }
}

/// A packet of a vector.
#[derive(Clone, Copy, Debug)]
struct Offered {
    simple: SimplePacket,
    ack: Option<PureAck>,
}

impl Packet for Offered {
    fn len(&self) -> Bytes {
        self.simple.len()
    }
    fn ecn(&self) -> Ecn {
        self.simple.ecn()
    }
    fn set_ce(&mut self) {
        self.simple.set_ce();
    }
    fn flow(&self) -> FlowHash {
        self.simple.flow()
    }
    fn class(&self) -> Class {
        self.simple.class()
    }
    fn endpoints(&self) -> Endpoints {
        self.simple.endpoints()
    }
    fn pure_ack(&self) -> Option<PureAck> {
        self.ack
    }
}

fn apply(queue: &mut impl Qdisc<Offered>, operation: Operation, next_id: &mut u64, log: &mut Log) {
    match operation {
        Operation::Enqueue { at, len, flow, ecn, ack } => {
            // Flow f has class f mod 8: vectors need no field for what few queues use.
            let simple = SimplePacket { id: *next_id, len, flow, ecn, class: Class::new(flow as u8) };
            let packet = Offered { simple, ack };
            *next_id += 1;
            queue.enqueue(at, packet, log);
        }
        Operation::Dequeue { at, .. } => {
            let departure = queue.dequeue(at, log);
            log.depart(departure);
        }
        Operation::Timer { at } => queue.handle_timer(at),
        Operation::Rate { at, rate } => queue.set_link_rate(at, rate),
    }
}

#[derive(Default)]
struct Log(Vec<Event>);

impl Log {
    fn depart(&mut self, departure: Option<Departure<Offered>>) {
        let packet = departure.map(|departure| departure.packet.simple.id);
        self.0.extend(packet.map(|packet| Event { what: What::Depart, packet, reason: None }));
    }
}

impl Sink<Offered> for Log {
    fn dropped(&mut self, packet: Offered, drop: Dropped) {
        self.0.push(Event { what: What::Drop, packet: packet.simple.id, reason: Some(drop.reason.name().to_owned()) });
    }
    fn marked(&mut self, packet: &Offered, reason: Reason) {
        self.0.push(Event { what: What::Mark, packet: packet.simple.id, reason: Some(reason.name().to_owned()) });
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} {}: ", self.index, self.operation.line())?;
        match &self.kind {
            Mismatch::Events { expected, found } => write!(f, "expected {}, found {}", events(expected), events(found)),
            Mismatch::Timer { expected: Some(due), found } => {
                write!(f, "expected the timer at {} ns, found {}", due.as_nanos(), timer(*found))
            }
            Mismatch::Timer { expected: None, found } => write!(f, "expected no timer before it, found {}", timer(*found)),
            Mismatch::Answer(message) => f.write_str(message),
        }
    }
}

fn timer(due: Option<Instant>) -> String {
    due.map_or_else(|| "none by then".to_owned(), |due| format!("one at {} ns", due.as_nanos()))
}

fn events(list: &[Event]) -> String {
    if list.is_empty() { "nothing".to_owned() } else { list.iter().map(Event::to_string).collect::<Vec<_>>().join(", ") }
}
