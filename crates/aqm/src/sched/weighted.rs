//! Weighted fair queueing by time stamps of the packets at the head (NFQ): a queue and an algorithm
//! a flow, served in proportion to weights.
//!
//! Each flow has a queue of its own, found by its number and not by a hash that others share. The
//! packet at its head carries a stamp, its size over the flow's weight. When no stamp is zero the
//! smallest is subtracted from all; flows with a stamp of zero are served in round robin. The
//! stamps are kept here as points in a virtual time that moves instead of being subtracted from, so
//! that a departure costs the same however many flows wait.

use super::flow_index::FlowIndex;
use super::flow_table::{FlowTable, MAX_BYTES, ShownBacklog};
use crate::aqm::{Aqm, FlowHash, QueueView};
use crate::counters::Counters;
use crate::pool;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::Limit;
use crate::sched::Setup;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use goodqueue_base::units::{Instant, Packets, Rate};

/// Settings of the scheduler; those of the algorithm belong to the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedQueueParams {
    /// Most queues; flows beyond that share those that exist.
    pub flows: u32,
    /// Limit of each flow, besides the limit over all.
    pub flow_limit: Limit,
}

/// A point in virtual time: bytes over weight, in units of 2^-32.
type Stamp = u128;

/// Bits below one byte at weight one.
const FRACTION: f64 = 4_294_967_296.0;
/// Stamps no further apart than this, 1e-9 bytes at weight one, are the same: rounding must not
/// decide whose turn it is.
const SAME: Stamp = 4;

/// A flow's weight, and the stamp of its head.
#[derive(Clone, Debug)]
struct Turn {
    weight: f64,
    is_waiting: bool,
}

/// Flows whose stamp is zero, by number.
#[derive(Clone, Debug, Default)]
struct Eligible {
    words: Vec<u64>,
    count: u32,
}

impl Eligible {
    fn insert(&mut self, flow: u32) {
        let word = flow as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (flow % 64);
        self.count += 1;
    }

    fn remove(&mut self, flow: u32) {
        self.words[flow as usize / 64] &= !(1 << (flow % 64));
        self.count -= 1;
    }

    /// The first flow from number `from` on, going round.
    fn next(&self, from: u32) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let words = self.words.len();
        let first = (from as usize / 64) % words;
        let ahead = if from as usize / 64 < words { self.words[first] & (u64::MAX << (from % 64)) } else { self.words[first] };
        let found = |index: usize, word: u64| (word != 0).then(|| index as u32 * 64 + word.trailing_zeros());
        found(first, ahead).or_else(|| {
            (1..=words).find_map(|step| {
                let index = (first + step) % words;
                found(index, self.words[index])
            })
        })
    }
}

/// Weighted fair queueing over flows that each run an algorithm `A`, holding packets of type `P`.
#[derive(Clone, Debug)]
pub struct WeightedQueue<P, A> {
    table: FlowTable<P, A, Turn>,
    index: FlowIndex,
    /// The algorithm's state in a new flow.
    fresh: A,
    params: WeightedQueueParams,
    limit: Limit,
    /// Virtual time now.
    now: Stamp,
    /// Flows with a stamp above zero.
    waiting: BinaryHeap<Reverse<(Stamp, u32)>>,
    eligible: Eligible,
    /// The place where the round continues.
    next: u32,
}

impl<P: Packet, A: Aqm + Clone> WeightedQueue<P, A> {
    /// An empty queue whose flows each get their own copy of `aqm`, that drops rather than marks. A
    /// number of flows of zero counts as one.
    #[must_use]
    pub fn new(aqm: A, limit: Limit, params: WeightedQueueParams) -> Self {
        Self {
            table: FlowTable::new(Vec::new(), ShownBacklog::Flow),
            index: FlowIndex::default(),
            fresh: aqm,
            params: WeightedQueueParams { flows: params.flows.max(1), ..params },
            limit: Limit { packets: limit.packets.min(Packets::new(pool::MAX)), bytes: limit.bytes.min(MAX_BYTES) },
            now: 0,
            waiting: BinaryHeap::new(),
            eligible: Eligible::default(),
            next: 0,
        }
    }

    /// Applies the settings that a host gives every queue: ECN policy, random stream and framing.
    pub(crate) fn set_up(&mut self, setup: Setup<'_>) {
        self.table.books.set_up(setup.ecn, setup.rng, setup.link.overhead);
    }

    /// The queue of `flow`, a new one at its first packet.
    #[inline]
    fn queue_of(&mut self, flow: FlowHash) -> u32 {
        match self.index.get(flow) {
            Some(queue) => queue,
            None => self.add(flow, 1.0),
        }
    }

    fn add(&mut self, flow: FlowHash, weight: f64) -> u32 {
        let known = self.table.flows.len() as u32;
        if known >= self.params.flows {
            return flow.0 % known;
        }
        let mut aqm = self.fresh.clone();
        aqm.on_weight(weight);
        let rate = self.table.books.link_rate;
        let queue = self.table.add(aqm, Turn { weight, is_waiting: false }, known);
        if rate.is_some() {
            self.table.tell_rate(queue as usize, Instant::ZERO);
        }
        self.index.insert(flow, queue);
        queue
    }

    /// The packet at the head of `queue` gets its stamp.
    #[inline]
    fn stamp(&mut self, queue: u32) {
        let Some(len) = self.table.head_len(queue as usize) else { return };
        let turn = &mut self.table.flows[queue as usize].turn;
        turn.is_waiting = true;
        let ahead = (len.get() as f64 / turn.weight * FRACTION + 0.5) as Stamp;
        self.waiting.push(Reverse((self.now + ahead, queue)));
    }

    /// Moves virtual time to the smallest stamp when none is zero.
    #[inline]
    fn advance(&mut self) {
        if self.eligible.count > 0 {
            return;
        }
        if let Some(&Reverse((first, _))) = self.waiting.peek() {
            self.now = self.now.max(first);
        }
        while let Some(&Reverse((stamp, queue))) = self.waiting.peek() {
            if stamp > self.now + SAME {
                break;
            }
            self.waiting.pop();
            self.eligible.insert(queue);
        }
    }
}

impl<P: Packet, A: Aqm + Clone> Qdisc<P> for WeightedQueue<P, A> {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.table.books.arrive(&packet);
        let queue = self.queue_of(packet.flow());
        let index = queue as usize;
        let len = packet.len();
        if !self.limit.admits(self.table.total, len) || !self.params.flow_limit.admits(self.table.load_view(index), len) {
            self.table.refuse(index, now, packet, sink);
            return;
        }
        if self.table.offer(index, now, packet, sink) && !self.table.flows[index].turn.is_waiting {
            self.stamp(queue);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        loop {
            self.advance();
            let queue = self.eligible.next(self.next)?;
            self.eligible.remove(queue);
            self.next = queue + 1;
            let departure = self.table.take(queue as usize, now, sink);
            if self.table.is_empty(queue as usize) {
                self.table.flows[queue as usize].turn.is_waiting = false;
            } else {
                self.stamp(queue);
            }
            if departure.is_some() {
                return departure;
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

    /// A weight that is not above zero, or not finite, counts as 1.
    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        let weight = if weight > 0.0 && weight.is_finite() { weight } else { 1.0 };
        match self.index.get(flow) {
            None => {
                self.add(flow, weight);
            }
            Some(queue) => {
                let known = &mut self.table.flows[queue as usize];
                known.turn.weight = weight;
                known.aqm.on_weight(weight);
            }
        }
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.table.set_link_rate(now, rate);
    }

    fn reserve(&mut self, packets: usize) {
        let flows = self.params.flows as usize;
        self.table.reserve_flows(flows);
        self.table.reserve(packets);
        self.index.reserve(flows);
        self.waiting.reserve(flows.saturating_sub(self.waiting.len()));
        self.eligible.words.reserve_exact(flows.div_ceil(64).saturating_sub(self.eligible.words.len()));
    }

    #[inline]
    fn view(&self) -> QueueView {
        self.table.total
    }

    fn counters(&self) -> Counters {
        self.table.books.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("known_flows", self.table.flows.len() as f64);
        visit("busy_flows", f64::from(self.eligible.count) + self.waiting.len() as f64);
    }
}

#[cfg(test)]
mod tests;
