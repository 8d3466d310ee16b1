//! One queue under one algorithm: storage, limits, time stamps, counters, ECN policy, and the carrying out of verdicts.

use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::counters::Counters;
use crate::qdisc::{Departure, Dropped, Packet, Qdisc, Sink};
use crate::ring::Ring;
use goodqueue_units::{Bytes, Ecn, Instant, Packets, Rate, Rng};

/// What a queue may hold. Whichever limit is hit first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// At most so many packets.
    pub packets: Packets,
    /// At most so many bytes, framing not counted.
    pub bytes: Bytes,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { packets: Packets::MAX, bytes: Bytes::MAX };

    /// A limit in packets only.
    #[must_use]
    pub const fn packets(count: u64) -> Self {
        Self { packets: Packets::new(count), ..Self::NONE }
    }

    /// A limit in bytes only.
    #[must_use]
    pub const fn bytes(count: u64) -> Self {
        Self { bytes: Bytes::new(count), ..Self::NONE }
    }

    /// Is there room for one more packet of `len` beside `queue`?
    #[inline]
    #[must_use]
    pub fn admits(&self, queue: QueueView, len: Bytes) -> bool {
        queue.packets < self.packets && queue.backlog + len <= self.bytes
    }
}

/// May this queue mark packets?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnPolicy {
    /// Never: the algorithm is shown every packet as Not-ECT, so its signals become drops.
    #[default]
    Drop,
    /// Signals on ECN-capable packets become marks.
    Mark,
}

/// Which packet goes when an arriving one does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverflowVictim {
    /// The arriving one.
    #[default]
    Tail,
    /// Packets from the head, until the arriving one fits.
    Head,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry<P> {
    pub(crate) packet: P,
    pub(crate) enqueued_at: Instant,
}

/// A FIFO queue under algorithm `A`, holding packets of type `P`.
///
/// Carries out the algorithm's verdicts: a signal becomes a mark on an ECN-capable packet and a drop otherwise; after a drop
/// on departure the algorithm is asked about the next head. A verdict concerns the packet shown and no other.
#[derive(Clone, Debug)]
pub struct ManagedQueue<P, A> {
    ring: Ring<Entry<P>>,
    aqm: A,
    limit: Limit,
    ecn: EcnPolicy,
    victim: OverflowVictim,
    backlog: Bytes,
    link_rate: Option<Rate>,
    overhead: Bytes,
    rng: Rng,
    counters: Counters,
}

impl<P: Packet, A: Aqm> ManagedQueue<P, A> {
    /// An empty queue that drops rather than marks, with random stream 0 and no known link rate.
    #[must_use]
    pub fn new(aqm: A, limit: Limit) -> Self {
        Self {
            ring: Ring::with_capacity(16),
            aqm,
            limit,
            ecn: EcnPolicy::Drop,
            victim: OverflowVictim::Tail,
            backlog: Bytes::ZERO,
            link_rate: None,
            overhead: Bytes::ZERO,
            rng: Rng::new(0),
            counters: Counters::default(),
        }
    }

    /// Sets whether signals mark.
    #[must_use]
    pub fn with_ecn(mut self, policy: EcnPolicy) -> Self {
        self.ecn = policy;
        self
    }

    /// Sets the random stream.
    #[must_use]
    pub fn with_rng(mut self, rng: Rng) -> Self {
        self.rng = rng;
        self
    }

    /// Sets what the link adds to each packet.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Bytes) -> Self {
        self.overhead = overhead;
        self
    }

    /// Sets which packet goes when an arriving one does not fit.
    #[must_use]
    pub fn with_overflow_victim(mut self, victim: OverflowVictim) -> Self {
        self.victim = victim;
        self
    }

    /// The algorithm.
    #[must_use]
    pub const fn aqm(&self) -> &A {
        &self.aqm
    }

    /// Replaces the algorithm by what `change` makes of it; every queued packet stays.
    pub fn map_aqm<B>(self, change: impl FnOnce(A) -> B) -> ManagedQueue<P, B> {
        let Self { ring, aqm, limit, ecn, victim, backlog, link_rate, overhead, rng, counters } = self;
        ManagedQueue { ring, aqm: change(aqm), limit, ecn, victim, backlog, link_rate, overhead, rng, counters }
    }

    #[inline]
    fn shown_ecn(&self, packet: &P) -> Ecn {
        match self.ecn {
            EcnPolicy::Drop => Ecn::NotEct,
            EcnPolicy::Mark => packet.ecn(),
        }
    }

    #[inline]
    fn waiting(&self) -> QueueView {
        QueueView { backlog: self.backlog, packets: Packets::new(self.ring.len() as u64) }
    }

    #[inline]
    fn env(&mut self, now: Instant) -> (&mut A, Env<'_>) {
        (&mut self.aqm, Env { now, link_rate: self.link_rate, overhead: self.overhead, rng: &mut self.rng })
    }

    fn drop_arriving(&mut self, now: Instant, packet: P, reason: Reason, sink: &mut dyn Sink<P>) {
        self.counters.drop_for(reason, packet.len());
        sink.dropped(packet, Dropped { reason, enqueued_at: now });
    }

    #[inline]
    fn mark(&mut self, packet: &mut P, reason: Reason, sink: &mut dyn Sink<P>) {
        if packet.ecn() != Ecn::Ce {
            packet.set_ce();
            self.counters.marked.add(packet.len());
            sink.marked(packet, reason);
        }
    }

    /// Makes room by dropping from the head; false when the packet could never fit.
    fn make_room(&mut self, len: Bytes, sink: &mut dyn Sink<P>) -> bool {
        while !self.limit.admits(self.waiting(), len) {
            let Some(head) = self.ring.pop_front() else { return false };
            self.backlog -= head.packet.len();
            self.counters.drop_for(Reason::Overflow, head.packet.len());
            sink.dropped(head.packet, Dropped { reason: Reason::Overflow, enqueued_at: head.enqueued_at });
        }
        true
    }
}

impl<P: Packet, A: Aqm> Qdisc<P> for ManagedQueue<P, A> {
    #[inline]
    fn enqueue(&mut self, now: Instant, mut packet: P, sink: &mut dyn Sink<P>) {
        let len = packet.len();
        self.counters.arrived.add(len);
        if packet.ecn().is_capable() {
            self.counters.arrived_ect.add(len);
        }
        let ecn = self.shown_ecn(&packet);
        let shown = PacketView { len, ecn, flow: packet.flow(), enqueued_at: now };
        let mut queue = self.waiting();
        if !self.limit.admits(queue, len) {
            let (aqm, mut env) = self.env(now);
            aqm.on_overflow(&mut env, shown, queue);
            if self.victim == OverflowVictim::Tail || !self.make_room(len, sink) {
                self.drop_arriving(now, packet, Reason::Overflow, sink);
                return;
            }
            queue = self.waiting();
        }
        let (aqm, mut env) = self.env(now);
        match aqm.on_arrival(&mut env, shown, queue) {
            Verdict::Pass => {}
            Verdict::Signal(reason) | Verdict::Mark(reason) if ecn.is_capable() => self.mark(&mut packet, reason, sink),
            Verdict::Mark(_) => {}
            Verdict::Signal(reason) | Verdict::Drop(reason) => {
                self.drop_arriving(now, packet, reason, sink);
                return;
            }
        }
        self.backlog += len;
        self.ring.push_back(Entry { packet, enqueued_at: now });
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        while let Some(Entry { mut packet, enqueued_at }) = self.ring.pop_front() {
            let len = packet.len();
            self.backlog -= len;
            let ecn = self.shown_ecn(&packet);
            let shown = PacketView { len, ecn, flow: packet.flow(), enqueued_at };
            let queue = self.waiting();
            let (aqm, mut env) = self.env(now);
            match aqm.on_departure(&mut env, shown, queue) {
                Verdict::Pass => {}
                Verdict::Signal(reason) | Verdict::Mark(reason) if ecn.is_capable() => self.mark(&mut packet, reason, sink),
                Verdict::Mark(_) => {}
                Verdict::Signal(reason) | Verdict::Drop(reason) => {
                    self.counters.drop_for(reason, len);
                    sink.dropped(packet, Dropped { reason, enqueued_at });
                    continue;
                }
            }
            self.counters.departed.add(len);
            if self.ring.is_empty() {
                self.aqm.on_emptied(now);
            }
            return Some(Departure { packet, enqueued_at });
        }
        self.aqm.on_idle(now);
        None
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        self.aqm.next_update()
    }

    fn handle_timer(&mut self, now: Instant) {
        if self.aqm.next_update().is_some_and(|due| due <= now) {
            let queue = self.waiting();
            let head = self.ring.front().map(|entry| PacketView {
                len: entry.packet.len(),
                ecn: self.shown_ecn(&entry.packet),
                flow: entry.packet.flow(),
                enqueued_at: entry.enqueued_at,
            });
            let (aqm, mut env) = self.env(now);
            aqm.on_update(&mut env, head, queue);
        }
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        if self.link_rate != rate {
            self.link_rate = rate;
            let (aqm, mut env) = self.env(now);
            aqm.on_rate_change(&mut env);
        }
    }

    #[inline]
    fn view(&self) -> QueueView {
        self.waiting()
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.aqm.gauges(visit);
    }
}
