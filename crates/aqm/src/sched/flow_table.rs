//! The parts that all schedulers of flows share: packets of many flows in one store, an algorithm
//! for each flow, and counters over all flows.
//!
//! A scheduler decides which flow a packet belongs to, whose turn it is and who loses when there is
//! no room; everything that happens to a packet besides is here.

use super::timers::Timers;
use crate::aqm::{Aqm, QueueView, Reason};
use crate::books::{Books, Entry, Waiting};
use crate::pool::{Fifo, Place, Pool};
use crate::qdisc::{Departure, Packet, Sink};
use alloc::vec::Vec;
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate};

/// The backlog that an algorithm inside a fair queue sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownBacklog {
    /// Packets of its own flow.
    #[default]
    Flow,
    /// Everything that waits, over all flows.
    Total,
    /// Everything that waits, but nothing while the flow's last packet is judged.
    TotalBehindOwn,
}

/// The end of the queue at which a scheduler drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DropFrom {
    /// The oldest packet first.
    #[default]
    Head,
    /// The newest packet first.
    Tail,
}

/// The most bytes a table holds: a flow's backlog and one packet more fit 32 bits.
pub(crate) const MAX_BYTES: Bytes = Bytes::new(i32::MAX as u64);

/// One flow: its packets, what the scheduler knows of it, and its algorithm. In this order and at
/// the start of a cache line, so that a packet of one of many flows finds these, and the first
/// fields of the algorithm, in one fetch from memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow<A, S> {
    fifo: Fifo,
    pub(crate) turn: S,
    pub(crate) aqm: A,
}

impl<A, S> Flow<A, S> {
    /// True if nothing waits in it.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }
}

/// Backlog of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    bytes: u32,
    packets: u32,
}

impl Load {
    #[inline]
    fn view(self) -> QueueView {
        QueueView { backlog: Bytes::new(u64::from(self.bytes)), packets: Packets::new(u64::from(self.packets)) }
    }
}

/// All flows of a scheduler.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable<P, A, S> {
    pub(crate) flows: Vec<Flow<A, S>>,
    /// Backlog of each flow; apart from the flows so that the search for the fattest reads little
    /// memory.
    loads: Vec<Load>,
    /// The rank of each flow: the lowest one is dropped from where several are equally fat.
    ranks: Vec<u32>,
    pool: Pool<Entry<P>>,
    pub(crate) total: QueueView,
    shown: ShownBacklog,
    timers: Timers,
    pub(crate) books: Books,
}

/// `count` empty flows, each under its own copy of `aqm`. Out of line and not by value, as flows
/// take much room on a stack ([`super::Scheduler::build`]).
#[inline(never)]
pub(crate) fn flows<A: Clone, S: Clone>(aqm: &A, turn: &S, count: u32) -> Vec<Flow<A, S>> {
    (0..count).map(|_| Flow { aqm: aqm.clone(), fifo: Fifo::default(), turn: turn.clone() }).collect()
}

impl<P: Packet, A: Aqm, S> FlowTable<P, A, S> {
    /// These flows, all of them empty.
    pub(crate) fn new(flows: Vec<Flow<A, S>>, shown: ShownBacklog) -> Self {
        Self {
            loads: alloc::vec![Load::default(); flows.len()],
            ranks: (0..flows.len() as u32).collect(),
            flows,
            pool: Pool::new(),
            total: QueueView::default(),
            shown,
            timers: Timers::default(),
            books: Books::new(),
        }
    }
}

impl<P: Packet, A: Aqm, S> FlowTable<P, A, S> {
    /// Adds an empty flow of this rank under `aqm` and returns its number.
    pub(crate) fn add(&mut self, aqm: A, turn: S, rank: u32) -> u32 {
        self.flows.push(Flow { aqm, fifo: Fifo::default(), turn });
        self.loads.push(Load::default());
        self.ranks.push(rank);
        (self.flows.len() - 1) as u32
    }

    /// Takes memory for `flows` flows.
    pub(crate) fn reserve_flows(&mut self, flows: usize) {
        self.flows.reserve_exact(flows.saturating_sub(self.flows.len()));
        self.loads.reserve_exact(flows.saturating_sub(self.loads.len()));
        self.ranks.reserve_exact(flows.saturating_sub(self.ranks.len()));
    }

    /// Takes memory for `packets` packets, and for the timers of all flows there are.
    pub(crate) fn reserve(&mut self, packets: usize) {
        // One more is queued before others are dropped.
        self.pool.reserve(packets.saturating_add(1));
        if !A::is_timeless() {
            self.timers.reserve(self.flows.capacity());
        }
        self.flows.iter_mut().for_each(|flow| flow.aqm.reserve(packets));
    }

    /// True if nothing waits in flow `index`.
    #[inline]
    pub(crate) fn is_empty(&self, index: usize) -> bool {
        self.loads[index].packets == 0
    }

    /// Size of the oldest packet of flow `index`.
    #[inline]
    pub(crate) fn head_len(&self, index: usize) -> Option<Bytes> {
        self.pool.front(self.flows[index].fifo).map(|entry| entry.packet.len())
    }

    /// Backlog of flow `index`.
    #[inline]
    pub(crate) fn load_view(&self, index: usize) -> QueueView {
        self.loads[index].view()
    }

    /// Gives the link's rate to the algorithm of a new flow.
    pub(crate) fn tell_rate(&mut self, index: usize, now: Instant) {
        let aqm = &mut self.flows[index].aqm;
        aqm.on_rate_change(&mut self.books.env(now));
        self.timers.note(index as u32, aqm.next_update());
    }

    /// Bytes waiting in flow `index`.
    #[inline]
    pub(crate) fn backlog(&self, index: usize) -> u32 {
        self.loads[index].bytes
    }

    /// The backlog that the algorithm of flow `index` sees as its queue.
    #[inline]
    fn shown_view(&self, index: usize) -> QueueView {
        match self.shown {
            ShownBacklog::Flow => self.loads[index].view(),
            ShownBacklog::Total | ShownBacklog::TotalBehindOwn => self.total,
        }
    }

    /// Drops an arriving packet of flow `index` for lack of room, and notifies the flow's
    /// algorithm.
    #[cold]
    pub(crate) fn refuse(&mut self, index: usize, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        let queue = self.shown_view(index);
        let shown = self.books.shown(&packet, now);
        let aqm = &mut self.flows[index].aqm;
        aqm.on_overflow(&mut self.books.env(now), shown, queue);
        self.timers.note(index as u32, aqm.next_update());
        self.books.discard(Entry { packet, enqueued_at: now }, Reason::Overflow, sink);
    }

    /// Asks the algorithm of flow `index` about an arriving packet, and queues it if it may stay.
    #[inline]
    pub(crate) fn offer(&mut self, index: usize, now: Instant, mut packet: P, sink: &mut dyn Sink<P>) -> bool {
        let queue = self.shown_view(index);
        let flow = &mut self.flows[index];
        let fate = self.books.admit(&mut flow.aqm, now, &mut packet, queue, sink);
        self.timers.note(index as u32, flow.aqm.next_update());
        if let Some(reason) = fate {
            self.books.discard(Entry { packet, enqueued_at: now }, reason, sink);
            return false;
        }
        let len = packet.len();
        self.pool.push_back(&mut flow.fifo, Entry { packet, enqueued_at: now });
        self.total.packets += Packets::new(1);
        self.total.backlog += len;
        let load = &mut self.loads[index];
        load.packets += 1;
        // The flow may hold the limit and this packet too until some are shed: both are below
        // `MAX_BYTES`.
        load.bytes += len.get() as u32;
        true
    }

    /// Takes a packet from flow `index` with its algorithm's consent.
    #[inline]
    pub(crate) fn take(&mut self, index: usize, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        let Self { flows, loads, pool, total, shown, books, timers, .. } = self;
        let Flow { aqm, fifo, .. } = &mut flows[index];
        let line = Line { pool, fifo, load: &mut loads[index], total, shown: *shown };
        let departure = books.release(aqm, now, sink, line);
        timers.note(index as u32, aqm.next_update());
        departure
    }

    /// Drops up to `most` packets of flow `index`, and goes on while more than `keep` bytes are
    /// left; at least one.
    #[cold]
    pub(crate) fn evict(&mut self, index: usize, from: DropFrom, most: u32, keep: u32, now: Instant, sink: &mut dyn Sink<P>) {
        let Self { flows, loads, pool, total, shown, books, timers, .. } = self;
        let Flow { aqm, fifo, .. } = &mut flows[index];
        let mut line = Line { pool, fifo, load: &mut loads[index], total, shown: *shown };
        let mut dropped = 0;
        while dropped < most && (dropped == 0 || line.load.bytes > keep) {
            let taken = match from {
                DropFrom::Head => line.pop(),
                DropFrom::Tail => line.pop_back(),
            };
            let Some(entry) = taken else { break };
            books.discard(entry, Reason::OverLimit, sink);
            dropped += 1;
        }
        aqm.on_evicted(&mut books.env(now), Packets::new(u64::from(dropped)));
        if line.is_empty() {
            aqm.on_emptied(now);
        }
        timers.note(index as u32, aqm.next_update());
    }

    /// The packets of flow `index`, oldest first, each with its place.
    pub(crate) fn waiting(&self, index: usize) -> impl Iterator<Item = (Place, &P)> {
        self.pool.iter(self.flows[index].fifo).map(|(place, entry)| (place, &entry.packet))
    }

    /// Drops the packet of flow `index` at `place` without a word to its algorithm; not the only
    /// one of the flow.
    pub(crate) fn withdraw(&mut self, index: usize, place: Place, reason: Reason, sink: &mut dyn Sink<P>) {
        let Self { flows, loads, pool, total, shown, books, .. } = self;
        let fifo = &mut flows[index].fifo;
        if let Some(entry) = pool.remove(fifo, place) {
            Line { pool, fifo, load: &mut loads[index], total, shown: *shown }.forget(entry.packet.len());
            books.discard(entry, reason, sink);
        }
    }

    /// The rank of flow `index`.
    pub(crate) fn rank(&self, index: usize) -> u32 {
        self.ranks[index]
    }

    /// The flow of lowest rank among those with the most bytes; where only packets of no bytes
    /// wait, among those that have some.
    pub(crate) fn fattest(&self) -> usize {
        let most = self.loads.iter().map(|load| load.bytes).max().unwrap_or(0);
        self.first(|load| load.bytes == most && load.packets > 0)
    }

    /// The flow of lowest rank among those with the most packets.
    pub(crate) fn longest(&self) -> usize {
        let most = self.loads.iter().map(|load| load.packets).max().unwrap_or(0);
        self.first(|load| load.packets == most)
    }

    /// The flow of lowest rank whose load is such.
    fn first(&self, is_such: impl Fn(&Load) -> bool) -> usize {
        let flows = self.loads.iter().zip(&self.ranks).enumerate().filter(|(_, (load, _))| is_such(load));
        flows.min_by_key(|(_, (_, rank))| **rank).map_or(0, |(index, _)| index)
    }

    /// The time at which an algorithm may want its update; never later than the earliest.
    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// Runs the updates that are due.
    pub(crate) fn handle_timer(&mut self, now: Instant) {
        while let Some(bucket) = self.timers.pop_due(now) {
            let index = bucket as usize;
            let queue = self.shown_view(index);
            let flow = &mut self.flows[index];
            if flow.aqm.next_update().is_some_and(|due| due <= now) {
                let head = self.pool.front(flow.fifo).map(|entry| self.books.shown(&entry.packet, entry.enqueued_at));
                flow.aqm.on_update(&mut self.books.env(now), head, queue);
            }
            // An algorithm that does not move its update forward must not hold up the host.
            self.timers.note(bucket, flow.aqm.next_update().map(|due| due.max(now + Duration::ns(1))));
        }
    }

    /// Gives a changed rate of the link to every algorithm.
    pub(crate) fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        if self.books.set_link_rate(rate) {
            for (index, flow) in self.flows.iter_mut().enumerate() {
                flow.aqm.on_rate_change(&mut self.books.env(now));
                self.timers.note(index as u32, flow.aqm.next_update());
            }
        }
    }
}

/// The packets of one flow, and the sums they are part of.
struct Line<'a, P> {
    pool: &'a mut Pool<Entry<P>>,
    fifo: &'a mut Fifo,
    load: &'a mut Load,
    total: &'a mut QueueView,
    shown: ShownBacklog,
}

impl<P: Packet> Line<'_, P> {
    #[inline]
    fn forget(&mut self, len: Bytes) {
        self.load.packets -= 1;
        // A packet in the pool fits the limit, which fits 32 bits.
        self.load.bytes -= len.get() as u32;
        self.total.backlog -= len;
        self.total.packets -= Packets::new(1);
    }

    fn pop_back(&mut self) -> Option<Entry<P>> {
        let entry = self.pool.pop_back(self.fifo)?;
        self.forget(entry.packet.len());
        Some(entry)
    }
}

impl<P: Packet> Waiting<P> for Line<'_, P> {
    #[inline]
    fn head(&mut self) -> Option<(&mut Entry<P>, QueueView)> {
        let all = match self.shown {
            ShownBacklog::TotalBehindOwn if self.load.packets > 1 => *self.total,
            ShownBacklog::Flow | ShownBacklog::TotalBehindOwn => self.load.view(),
            ShownBacklog::Total => *self.total,
        };
        let head = self.pool.front_mut(*self.fifo)?;
        let rest = QueueView { backlog: all.backlog - head.packet.len(), packets: all.packets - Packets::new(1) };
        Some((head, rest))
    }
    #[inline]
    fn pop(&mut self) -> Option<Entry<P>> {
        let entry = self.pool.pop_front(self.fifo)?;
        self.forget(entry.packet.len());
        Some(entry)
    }
    #[inline]
    fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }
}
