//! Flow queueing: one queue and one algorithm per flow, served by deficit round robin that favors
//! new flows (DRR++).
//!
//! *Signal*: that of the algorithm, separately for each flow; and the limit over all flows
//! together.
//! *Law*: packets are hashed into `flows` queues. A queue that becomes busy goes to the end of the
//! list of new flows with a credit of one `quantum`; the new list is served before the old one. A
//! queue without credit gets another quantum and goes to the end of the old list; a new queue that
//! runs empty passes once through the old list, so that it cannot starve others. When all flows
//! together exceed the limit, the one with the most bytes loses from its head up to `drop_batch`
//! packets, but no more than half its bytes, and its algorithm is notified.
//! *Parameters*: see `KINDS`.
//! *Deviations*: `memory_limit` counts packet bytes, as there is no other memory to count. A new
//! hash salt takes effect when the queue is empty, so that no flow is reordered. After a batch,
//! dropping continues while a limit in bytes is still exceeded. A turn counts packets as Linux
//! does, with the 14 bytes of their Ethernet header (`header`), so that a quantum of 1514 bytes is
//! one full packet; all other sizes here are those of packets without framing.
//! *Limits*: two flows in one queue share it; with `hash = "set-associative"` that happens only
//! when all eight queues of a set are busy. The random numbers of all flows' algorithms come from
//! one stream.
//! *Source*: RFC 8290 §4 and §5; batch dropping and the total backlog in the one-packet guard of
//! CoDel follow Linux.

pub(crate) mod kinds;

pub use super::classifier::Hashing;
pub use kinds::{FairKind, FqCoDelKind};

use super::Setup;
use super::classifier::Classifier;
use super::flow_table::{self, DropFrom, Flow, FlowTable, MAX_BYTES, ShownBacklog};
use super::places::Places;
use crate::aqm::{Aqm, FlowHash, QueueView};
use crate::books::EcnPolicy;
use crate::counters::Counters;
use crate::pool;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::Limit;
use alloc::vec::Vec;
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate, Rng};

/// The quantity that the flows share equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Bytes: this many per turn of a flow.
    Bytes(Bytes),
    /// Packets: one in a flow's turn, whatever its size.
    Packets,
}

/// The choice of packets to drop when all flows together exceed the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The oldest of the flow with the most bytes: up to `batch` at once, but no more than half its
    /// bytes.
    Fattest {
        /// Most packets at once.
        batch: u32,
    },
    /// The newest of the flow with the most packets.
    Longest,
    /// The arriving one.
    Arriving,
}

settings! {
    /// Settings of the scheduler; those of the algorithm belong to the algorithm. By default those
    /// of RFC 8290 §5.2 and Linux: 1024 flows, turns of one packet of 1500 bytes with its Ethernet
    /// header, 32 MiB, 64 packets of the fattest flow, no renewal, the flow's own backlog.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FairQueueParams {
        /// Number of queues that packets are hashed into.
        pub flows: u32 => kinds::FLOWS,
        /// Quantity that the flows share equally.
        pub share: Share = Share::Bytes(Bytes::new(1500 + kinds::HEADER.default.get())),
        /// Bytes that a packet counts in a turn besides its own.
        pub header: Bytes = kinds::HEADER.default,
        /// Limit over all flows, besides the queue's own.
        pub memory_limit: Bytes = kinds::MEMORY_LIMIT.default,
        /// Choice of packets to drop when the limit is exceeded.
        pub victim: Victim = Victim::Fattest { batch: kinds::DROP_BATCH.default },
        /// Rule that maps a packet to its queue.
        pub hashing: Hashing = kinds::HASH.default,
        /// Time between renewals of the hash salt; `None`: never.
        pub perturbation: Option<Duration> = kinds::PERTURBATION.default,
        /// Backlog that the algorithms see as their queue.
        pub shown: ShownBacklog = ShownBacklog::Flow,
    }
}

const NONE: u32 = u32::MAX;

/// The list of the round that a flow is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Idle,
    New,
    Old,
}

/// A flow's place in the round and its credit there.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
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
///
/// The flow of a queue that never had a packet takes no memory, unless its algorithm has updates,
/// which happen all the same.
#[derive(Clone, Debug)]
pub struct FairQueue<P, A> {
    table: FlowTable<P, A, Turn>,
    /// The flow of each queue.
    places: Places,
    new: Round,
    old: Round,
    limit: Limit,
    /// Credit of a turn.
    quantum: i64,
    /// Credit that a packet uses up besides its own bytes.
    header: i64,
    /// A turn lasts until the credit is used up, or else for one packet.
    by_bytes: bool,
    victim: Victim,
    classifier: Classifier,
}

impl<P: Packet, A: Aqm + Clone> FairQueue<P, A> {
    /// An empty queue of `params.flows` flows, each under its own copy of `aqm`, that drops rather
    /// than marks.
    ///
    /// `limit` and `params.memory_limit` both hold over all flows together; whichever is hit first
    /// counts. A number of flows or a quantum of zero counts as one.
    #[must_use]
    pub fn new(aqm: A, limit: Limit, params: FairQueueParams) -> Self {
        Self::over(&aqm, limit, params)
    }

    /// Does the work of [`FairQueue::new`], from an algorithm that need not be moved to here.
    /// Inline, so that a stack does not hold the queue twice.
    #[inline(always)]
    pub(crate) fn over(aqm: &A, limit: Limit, params: FairQueueParams) -> Self {
        Self::of(Self::flows(aqm, &params), limit, params)
    }

    /// The flows that a queue begins with, each under its own copy of `aqm`: all of them, or one
    /// for those that are not in use.
    pub(crate) fn flows(aqm: &A, params: &FairQueueParams) -> Vec<Flow<A, Turn>> {
        let idle = Turn { next: NONE, place: Place::Idle, deficit: 0 };
        flow_table::flows(aqm, &idle, if A::is_timeless() { 1 } else { params.flows.max(1) })
    }

    /// An empty queue of these flows.
    #[inline(always)]
    pub(crate) fn of(flows: Vec<Flow<A, Turn>>, limit: Limit, params: FairQueueParams) -> Self {
        let bytes = limit.bytes.min(params.memory_limit).min(MAX_BYTES);
        let count = params.flows.max(1);
        let (quantum, by_bytes) = match params.share {
            Share::Bytes(quantum) => (i64::try_from(quantum.get()).unwrap_or(i64::MAX).max(1), true),
            Share::Packets => (1, false),
        };
        let places = if A::is_timeless() { Places::unused(count, 0) } else { Places::used(count) };
        let mut table = FlowTable::new(flows, params.shown);
        let classifier = Classifier::new(count, params.hashing, params.perturbation, &mut table.books.rng);
        Self {
            table,
            places,
            new: Round::EMPTY,
            old: Round::EMPTY,
            limit: Limit { packets: limit.packets.min(Packets::new(pool::MAX)), bytes },
            quantum,
            header: params.header.get().min(MAX_BYTES.get()) as i64,
            by_bytes,
            victim: params.victim,
            classifier,
        }
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
        self.classifier.renew(Instant::ZERO, &mut self.table.books.rng);
        self
    }

    /// Sets what the link adds to each packet.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Bytes) -> Self {
        self.table.books.overhead = overhead;
        self
    }

    /// Applies the settings that a host gives every queue: ECN policy, random stream and framing.
    pub(crate) fn set_up(&mut self, setup: Setup<'_>) {
        self.table.books.set_up(setup.ecn, setup.rng, setup.link.overhead);
        self.classifier.renew(Instant::ZERO, &mut self.table.books.rng);
    }

    /// The queue that packets of `flow` go to when all are free.
    #[inline]
    #[must_use]
    pub fn bucket(&self, flow: FlowHash) -> u32 {
        self.classifier.home(flow)
    }

    #[inline]
    fn is_over_limit(&self) -> bool {
        self.table.total.packets > self.limit.packets || self.table.total.backlog > self.limit.bytes
    }

    /// The flow of queue `bucket`, which may never have had a packet.
    #[inline]
    fn flow_of(&mut self, bucket: u32) -> u32
    where
        A: Clone,
    {
        let flow = self.places.position(bucket);
        if self.places.is_unused(flow) { self.begin(bucket, flow) } else { flow }
    }

    /// Makes a flow for queue `bucket` like that at `unused`.
    #[cold]
    fn begin(&mut self, bucket: u32, unused: u32) -> u32
    where
        A: Clone,
    {
        let Flow { aqm, turn, .. } = self.table.flows[unused as usize].clone();
        let flow = self.table.add(aqm, turn, bucket);
        self.places.put(bucket, flow as usize);
        flow
    }

    /// Puts the first flow of a list behind all others.
    #[inline]
    fn end_turn(&mut self, flow: u32, is_new: bool) {
        let round = if is_new { &mut self.new } else { &mut self.old };
        round.pop_front(&self.table.flows);
        self.table.flows[flow as usize].turn.place = Place::Old;
        self.old.push_back(&mut self.table.flows, flow);
    }

    /// Returns true if an arriving packet of `len` may be queued. Makes room for it unless that
    /// happens after it was queued.
    #[inline]
    fn admits(&mut self, len: Bytes, now: Instant, sink: &mut dyn Sink<P>) -> bool {
        match self.victim {
            // The arriving packet's own flow may turn out to be the fattest, which shows once it is
            // queued.
            Victim::Fattest { .. } => len <= self.limit.bytes,
            Victim::Arriving => self.limit.admits(self.table.total, len),
            Victim::Longest => self.makes_room(len, now, sink),
        }
    }

    /// Drops from the tails of the longest flows until a packet of `len` fits; false when it never
    /// will.
    fn makes_room(&mut self, len: Bytes, now: Instant, sink: &mut dyn Sink<P>) -> bool {
        if len > self.limit.bytes || self.limit.packets.is_zero() {
            return false;
        }
        while !self.limit.admits(self.table.total, len) {
            let index = self.table.longest();
            self.table.evict(index, DropFrom::Tail, 1, 0, now, sink);
        }
        true
    }

    /// Drops from the heads of the fattest flows until the limits hold.
    #[cold]
    fn shed(&mut self, batch: u32, now: Instant, sink: &mut dyn Sink<P>) {
        while self.is_over_limit() {
            let index = self.table.fattest();
            let half = self.table.backlog(index) / 2;
            self.table.evict(index, DropFrom::Head, batch.max(1), half, now, sink);
        }
    }
}

impl<P: Packet, A: Aqm + Clone> Qdisc<P> for FairQueue<P, A> {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.table.books.arrive(&packet);
        if self.classifier.is_renewal_due(now) && self.table.total.packets.is_zero() {
            self.classifier.renew(now, &mut self.table.books.rng);
        }
        let Self { classifier, table, places, .. } = self;
        let is_busy = |queue| table.flows[places.position(queue) as usize].turn.place != Place::Idle;
        let bucket = classifier.queue_of(packet.flow(), is_busy);
        let flow = self.flow_of(bucket);
        let index = flow as usize;
        if !self.admits(packet.len(), now, sink) {
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
            self.new.push_back(&mut self.table.flows, flow);
        }
        if let Victim::Fattest { batch } = self.victim
            && self.is_over_limit()
        {
            self.shed(batch, now, sink);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        loop {
            let is_new = self.new.head != NONE;
            let round = if is_new { self.new } else { self.old };
            if round.head == NONE {
                return None;
            }
            let flow = round.head;
            let index = flow as usize;
            let turn = &mut self.table.flows[index].turn;
            if turn.deficit <= 0 {
                turn.deficit += self.quantum;
                self.end_turn(flow, is_new);
                continue;
            }
            if let Some(departure) = self.table.take(index, now, sink) {
                if self.by_bytes {
                    self.table.flows[index].turn.deficit -= departure.packet.len().get() as i64 + self.header;
                } else {
                    self.end_turn(flow, is_new);
                }
                return Some(departure);
            }
            if is_new && self.old.head != NONE {
                self.end_turn(flow, is_new);
                continue;
            }
            let round = if is_new { &mut self.new } else { &mut self.old };
            round.pop_front(&self.table.flows);
            self.table.flows[index].turn.place = Place::Idle;
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        self.table.next_timer()
    }

    #[inline]
    fn is_timeless(&self) -> bool {
        A::is_timeless()
    }

    fn handle_timer(&mut self, now: Instant) {
        self.table.handle_timer(now);
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.table.set_link_rate(now, rate);
    }

    fn reserve(&mut self, packets: usize) {
        // And one that stands for unused ones.
        self.table.reserve_flows(self.places.count() as usize + 1);
        self.places.reserve();
        self.classifier.reserve();
        self.table.reserve(packets);
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

    fn rng_mut(&mut self) -> Option<&mut Rng> {
        Some(&mut self.table.books.rng)
    }
}

#[cfg(test)]
mod tests;
