//! Flow queueing: a queue and an algorithm a flow, served by deficit round robin that favours new flows (DRR++).
//!
//! *Signal*: that of the algorithm, each flow on its own; and the limit over all flows together.
//! *Law*: packets are hashed into `flows` queues. A queue that becomes busy goes to the end of the list of new flows with a
//! credit of one `quantum`; the new list is served before the old one. A queue without credit gets another quantum and goes
//! to the end of the old list; a new queue that runs empty passes once through the old list, so that it cannot starve others.
//! When all flows together exceed the limit, the one with the most bytes loses from its head up to `drop_batch` packets, but no more
//! than half its bytes, and its algorithm is told.
//! *Parameters*: see [`KINDS`].
//! *Departures*: `memory_limit` counts packet bytes, as there is no other memory to speak of. A renewed hash salt takes effect
//! when the queue is empty, so that no flow is ever reordered. After a batch, dropping goes on while a limit in bytes is still
//! exceeded.
//! *Limits*: two flows in one queue share its fate. An algorithm's random numbers come from one stream for all flows.
//! *Source*: RFC 8290 §4 and §5; batch dropping and the total backlog in CoDel's one-packet guard follow Linux.

use super::flow_table::{DropFrom, Flow, FlowTable, MOST_BYTES, ShownBacklog};
use crate::algo::codel;
use crate::aqm::{Aqm, FlowHash, QueueView};
use crate::arithmetic::ARITHMETIC;
use crate::counters::Counters;
use crate::pool;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{EcnPolicy, Limit};
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use goodqueue_units::{Bytes, Duration, Instant, Packets, Rate, Rng};

/// Settings of the scheduler; those of the algorithm belong to the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairQueueParams {
    /// Number of queues that packets are hashed into.
    pub flows: u32,
    /// Bytes a flow may send in its turn.
    pub quantum: Bytes,
    /// Limit over all flows, beside the queue's own.
    pub memory_limit: Bytes,
    /// At most so many packets are dropped at once when the limit is exceeded.
    pub drop_batch: u32,
    /// How often the hash salt is renewed.
    pub perturbation: Option<Duration>,
    /// What the algorithms are shown as their queue.
    pub shown: ShownBacklog,
}

impl Default for FairQueueParams {
    /// 1024 flows, 1514 bytes, 32 MiB, 64 packets, no renewal (RFC 8290 §5.2, Linux), the flow's own backlog.
    fn default() -> Self {
        Self {
            flows: 1024,
            quantum: Bytes::new(1514),
            memory_limit: Bytes::new(32 << 20),
            drop_batch: 64,
            perturbation: None,
            shown: ShownBacklog::Flow,
        }
    }
}

const NONE: u32 = u32::MAX;

/// Where a flow stands in the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Idle,
    New,
    Old,
}

/// A flow's place in the round and its credit there.
#[derive(Clone, Debug)]
struct Turn {
    next: u32,
    place: Place,
    deficit: i64,
}

/// A list of flows, linked through [`Turn::next`].
#[derive(Clone, Copy, Debug)]
struct Round {
    head: u32,
    tail: u32,
}

impl Round {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    fn push_back<A>(&mut self, flows: &mut [Flow<A, Turn>], index: u32) {
        flows[index as usize].turn.next = NONE;
        if self.head == NONE {
            self.head = index;
        } else {
            flows[self.tail as usize].turn.next = index;
        }
        self.tail = index;
    }

    #[inline]
    fn pop_front<A>(&mut self, flows: &[Flow<A, Turn>]) {
        self.head = flows[self.head as usize].turn.next;
    }

    fn len<A>(self, flows: &[Flow<A, Turn>]) -> u32 {
        let (mut count, mut index) = (0, self.head);
        while index != NONE {
            count += 1;
            index = flows[index as usize].turn.next;
        }
        count
    }
}

/// Deficit round robin over flows that each run an algorithm `A`, holding packets of type `P`.
#[derive(Clone, Debug)]
pub struct FairQueue<P, A> {
    table: FlowTable<P, A, Turn>,
    new: Round,
    old: Round,
    limit: Limit,
    quantum: i64,
    drop_batch: u32,
    salt: u64,
    perturbation: Option<Duration>,
    salt_renewal: Instant,
}

impl<P: Packet, A: Aqm + Clone> FairQueue<P, A> {
    /// An empty queue of `params.flows` flows, each under its own copy of `aqm`, that drops rather than marks.
    ///
    /// `limit` and `params.memory_limit` both hold over all flows together; whichever is hit first counts. A number of flows
    /// or a quantum of zero counts as one.
    #[must_use]
    pub fn new(aqm: A, limit: Limit, params: FairQueueParams) -> Self {
        let bytes = limit.bytes.min(params.memory_limit).min(MOST_BYTES);
        let idle = Turn { next: NONE, place: Place::Idle, deficit: 0 };
        let mut queue = Self {
            table: FlowTable::new(aqm, idle, params.flows.max(1), params.shown),
            new: Round::EMPTY,
            old: Round::EMPTY,
            limit: Limit { packets: limit.packets.min(Packets::new(pool::MOST)), bytes },
            quantum: i64::try_from(params.quantum.get()).unwrap_or(i64::MAX).max(1),
            drop_batch: params.drop_batch.max(1),
            salt: 0,
            perturbation: params.perturbation,
            salt_renewal: Instant::MAX,
        };
        queue.renew_salt(Instant::ZERO);
        queue
    }
}

impl<P: Packet, A: Aqm> FairQueue<P, A> {
    /// Sets whether signals mark.
    #[must_use]
    pub fn with_ecn(mut self, policy: EcnPolicy) -> Self {
        self.table.books.ecn = policy;
        self
    }

    /// Sets the random stream and draws the hash salt from it.
    #[must_use]
    pub fn with_rng(mut self, rng: Rng) -> Self {
        self.table.books.rng = rng;
        self.renew_salt(Instant::ZERO);
        self
    }

    /// Sets what the link adds to each packet.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Bytes) -> Self {
        self.table.books.overhead = overhead;
        self
    }

    /// The queue that packets of `flow` go to.
    #[inline]
    #[must_use]
    pub fn bucket(&self, flow: FlowHash) -> u32 {
        // Numbered flows differ in a few low bits only; the finaliser of splitmix64 spreads them over all bits.
        let mut z = (u64::from(flow.0) ^ self.salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The upper half of the mix is the hash; scaling it to the number of flows needs no division.
        (((z >> 32) * self.table.flows.len() as u64) >> 32) as u32
    }

    fn renew_salt(&mut self, now: Instant) {
        self.salt = self.table.books.rng.next_u64();
        self.salt_renewal = self.perturbation.map_or(Instant::MAX, |period| now + period);
    }

    #[inline]
    fn is_over_limit(&self) -> bool {
        self.table.total.packets > self.limit.packets || self.table.total.backlog > self.limit.bytes
    }

    /// Drops from the heads of the fattest flows until the limits hold.
    #[cold]
    fn shed(&mut self, now: Instant, sink: &mut dyn Sink<P>) {
        while self.is_over_limit() {
            let index = self.table.fattest();
            let half = self.table.backlog(index) / 2;
            self.table.evict(index, DropFrom::Head, self.drop_batch, half, now, sink);
        }
    }
}

impl<P: Packet, A: Aqm> Qdisc<P> for FairQueue<P, A> {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.table.books.arrive(&packet);
        if now >= self.salt_renewal && self.table.total.packets.is_zero() {
            self.renew_salt(now);
        }
        let bucket = self.bucket(packet.flow());
        let index = bucket as usize;
        if packet.len() > self.limit.bytes {
            self.table.refuse(index, now, packet, sink);
            return;
        }
        if !self.table.offer(index, now, packet, sink) {
            return;
        }
        let turn = &mut self.table.flows[index].turn;
        if turn.place == Place::Idle {
            turn.place = Place::New;
            turn.deficit = self.quantum;
            self.new.push_back(&mut self.table.flows, bucket);
        }
        if self.is_over_limit() {
            self.shed(now, sink);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        loop {
            let is_new = self.new.head != NONE;
            let round = if is_new { &mut self.new } else { &mut self.old };
            if round.head == NONE {
                return None;
            }
            let bucket = round.head;
            let index = bucket as usize;
            if self.table.flows[index].turn.deficit <= 0 {
                round.pop_front(&self.table.flows);
                let turn = &mut self.table.flows[index].turn;
                turn.deficit += self.quantum;
                turn.place = Place::Old;
                self.old.push_back(&mut self.table.flows, bucket);
                continue;
            }
            if let Some(departure) = self.table.take(index, now, sink) {
                self.table.flows[index].turn.deficit -= departure.packet.len().get() as i64;
                return Some(departure);
            }
            if is_new {
                self.new.pop_front(&self.table.flows);
            } else {
                self.old.pop_front(&self.table.flows);
            }
            if is_new && self.old.head != NONE {
                self.table.flows[index].turn.place = Place::Old;
                self.old.push_back(&mut self.table.flows, bucket);
            } else {
                self.table.flows[index].turn.place = Place::Idle;
            }
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        self.table.next_timer()
    }

    fn handle_timer(&mut self, now: Instant) {
        self.table.handle_timer(now);
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.table.set_link_rate(now, rate);
    }

    #[inline]
    fn view(&self) -> QueueView {
        self.table.total
    }

    fn counters(&self) -> Counters {
        self.table.books.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("new_flows", f64::from(self.new.len(&self.table.flows)));
        visit("old_flows", f64::from(self.old.len(&self.table.flows)));
    }
}

const FLOWS: ParamSpec = ParamSpec {
    name: "flows",
    unit: Unit::Count,
    default: ParamDefault::Value(Value::Number(1024.0)),
    range: (1.0, 65536.0),
    doc: "queues that packets are hashed into",
    source: "RFC 8290 §5.2.4",
};
const QUANTUM: ParamSpec = ParamSpec {
    name: "quantum",
    unit: Unit::Size,
    default: ParamDefault::Value(Value::Size(crate::spec::Size::Bytes(1514.0))),
    range: (1.0, 1e9),
    doc: "bytes a flow may send in its turn",
    source: "RFC 8290 §5.2.3",
};
const MEMORY_LIMIT: ParamSpec = ParamSpec {
    name: "memory_limit",
    unit: Unit::Size,
    default: ParamDefault::Value(Value::Size(crate::spec::Size::Bytes((32u32 << 20) as f64))),
    range: (1.0, i32::MAX as f64),
    doc: "bytes that all flows together may hold",
    source: "Linux",
};
const DROP_BATCH: ParamSpec = ParamSpec {
    name: "drop_batch",
    unit: Unit::Count,
    default: ParamDefault::Value(Value::Number(64.0)),
    range: (1.0, 1e6),
    doc: "most packets dropped at once from the fattest flow over the limit",
    source: "Linux",
};
const PERTURBATION: ParamSpec = ParamSpec {
    name: "perturbation",
    unit: Unit::Duration,
    default: ParamDefault::Auto("never"),
    range: (1e-3, 1e6),
    doc: "how often the hash salt is drawn anew",
    source: "RFC 8290 §4.1.1",
};
const GUARD: ParamSpec = ParamSpec {
    name: "guard",
    unit: Unit::Choice(&["total", "flow"]),
    default: ParamDefault::Value(Value::Choice("total")),
    range: (0.0, 0.0),
    doc: "whose backlog must exceed one MTU before CoDel may signal: all flows' or the flow's own",
    source: "Linux; RFC 8289 §4.4 reads as the flow's own",
};

const OF: ParamSpec = ParamSpec {
    name: "of",
    unit: Unit::Algorithm,
    default: ParamDefault::Auto("none: it must be named"),
    range: (0.0, 0.0),
    doc: "the algorithm of each flow, with its own parameters",
    source: "RFC 8290 §4",
};

/// The kinds of fair queue that a file can name.
pub const KINDS: &[KindSpec] = &[
    KindSpec {
        kind: "fq-codel",
        summary: "Fair queueing by deficit round robin, CoDel on each flow",
        signal: "sojourn time, at each flow's head",
        marks: true,
        params: &[
            FLOWS,
            QUANTUM,
            MEMORY_LIMIT,
            DROP_BATCH,
            PERTURBATION,
            GUARD,
            codel::TARGET,
            codel::INTERVAL,
            codel::CE_THRESHOLD,
            codel::REENTRY,
            ARITHMETIC,
        ],
        source: "RFC 8290",
    },
    KindSpec {
        kind: "fair",
        summary: "Fair queueing by deficit round robin over the algorithm named in `of`",
        signal: "that of the algorithm, for each flow",
        marks: true,
        params: &[OF, FLOWS, QUANTUM, MEMORY_LIMIT, DROP_BATCH, PERTURBATION],
        source: "RFC 8290 §4",
    },
];

impl FairQueueParams {
    /// The scheduler's part of the parameters of a kind in [`KINDS`].
    ///
    /// # Errors
    /// When a size is given as a time and the link's rate is unknown.
    pub fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self::default();
        let count = |name, default| given.number(name).map_or(default, |n| n as u32);
        Ok(Self {
            flows: count("flows", defaults.flows),
            quantum: given.bytes("quantum", link)?.unwrap_or(defaults.quantum),
            memory_limit: given.bytes("memory_limit", link)?.unwrap_or(defaults.memory_limit),
            drop_batch: count("drop_batch", defaults.drop_batch),
            perturbation: given.duration("perturbation"),
            shown: ShownBacklog::Flow,
        })
    }

    /// What [`ShownBacklog`] the `guard` parameter of `fq-codel` asks for.
    #[must_use]
    pub fn guarded(self, given: &Given<'_>) -> Self {
        let shown = if given.choice("guard") == Some("flow") { ShownBacklog::Flow } else { ShownBacklog::Total };
        Self { shown, ..self }
    }
}

#[cfg(test)]
mod tests;
