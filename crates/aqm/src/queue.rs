//! One queue under one algorithm: storage, limits, time stamps, counters, ECN policy, and the
//! carrying out of verdicts.

use crate::aqm::{Aqm, QueueView, Reason};
use crate::books::{Books, EcnPolicy, Entry, Fate, Waiting};
use crate::counters::Counters;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use alloc::collections::VecDeque;
use goodqueue_base::units::{Bytes, Instant, Packets, Rate, Rng};

/// The limits of a queue. The first that is hit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Maximum number of packets.
    pub packets: Packets,
    /// Maximum number of bytes, framing not counted.
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

    /// True if a packet of `len` fits in addition to what `queue` holds.
    #[inline]
    #[must_use]
    pub fn admits(&self, queue: QueueView, len: Bytes) -> bool {
        queue.packets < self.packets && queue.backlog + len <= self.bytes
    }
}

/// Packets in a line, and their bytes.
#[derive(Clone, Debug)]
pub(crate) struct Line<P> {
    ring: VecDeque<Entry<P>>,
    backlog: Bytes,
}

impl<P: Packet> Line<P> {
    pub(crate) fn new() -> Self {
        Self { ring: VecDeque::new(), backlog: Bytes::ZERO }
    }

    /// Takes memory for `packets` packets at once.
    pub(crate) fn reserve(&mut self, packets: usize) {
        self.ring.reserve_exact(packets.saturating_sub(self.ring.len()));
    }

    /// The time the head arrived, if there is one.
    #[inline]
    pub(crate) fn head_since(&self) -> Option<Instant> {
        self.ring.front().map(|entry| entry.enqueued_at)
    }

    #[inline]
    pub(crate) fn view(&self) -> QueueView {
        QueueView { backlog: self.backlog, packets: Packets::new(self.ring.len() as u64) }
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: P, enqueued_at: Instant) {
        self.backlog += packet.len();
        self.ring.push_back(Entry { packet, enqueued_at });
    }
}

impl<P: Packet> Line<P> {
    /// The oldest packet.
    pub(crate) fn first(&self) -> Option<&Entry<P>> {
        self.ring.front()
    }

    /// The newest packet.
    pub(crate) fn tail(&self) -> Option<&Entry<P>> {
        self.ring.get(self.ring.len().checked_sub(1)?)
    }

    /// Takes out the newest packet.
    pub(crate) fn pop_tail(&mut self) -> Option<Entry<P>> {
        self.remove(self.ring.len().checked_sub(1)?)
    }

    /// Takes out the packet `place` places behind the head. Those on the shorter side of it move
    /// up.
    fn remove(&mut self, place: usize) -> Option<Entry<P>> {
        let entry = self.ring.remove(place)?;
        self.backlog -= entry.packet.len();
        Some(entry)
    }
}

impl<P: Packet> Waiting<P> for &mut Line<P> {
    #[inline]
    fn head(&mut self) -> Option<(&mut Entry<P>, QueueView)> {
        let QueueView { backlog, packets } = self.view();
        let head = self.ring.front_mut()?;
        let rest = QueueView { backlog: backlog - head.packet.len(), packets: packets - Packets::new(1) };
        Some((head, rest))
    }
    #[inline]
    fn pop(&mut self) -> Option<Entry<P>> {
        let entry = self.ring.pop_front()?;
        self.backlog -= entry.packet.len();
        Some(entry)
    }
    #[inline]
    fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// A FIFO queue under algorithm `A`, holding packets of type `P`.
///
/// Carries out the algorithm's verdicts: a signal becomes a mark on an ECN-capable packet and a
/// drop otherwise; after a drop on departure the algorithm is asked about the next head. A verdict
/// concerns the packet shown and no other.
#[derive(Clone, Debug)]
pub struct ManagedQueue<P, A> {
    waiting: Line<P>,
    aqm: A,
    limit: Limit,
    books: Books,
}

impl<P: Packet, A: Aqm> ManagedQueue<P, A> {
    /// An empty queue that drops rather than marks, with random stream 0 and no known link rate.
    #[must_use]
    pub fn new(aqm: A, limit: Limit) -> Self {
        Self { waiting: Line::new(), aqm, limit, books: Books::new() }
    }

    /// Sets whether signals mark.
    #[must_use]
    pub fn with_ecn(mut self, policy: EcnPolicy) -> Self {
        self.books.ecn = policy;
        self
    }

    /// Sets the random stream.
    #[must_use]
    pub fn with_rng(mut self, rng: Rng) -> Self {
        self.books.rng = rng;
        self
    }

    /// Sets what the link adds to each packet.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Bytes) -> Self {
        self.books.overhead = overhead;
        self
    }

    /// The algorithm.
    #[must_use]
    pub const fn aqm(&self) -> &A {
        &self.aqm
    }

    /// The limits of the queue.
    #[must_use]
    pub const fn limit(&self) -> Limit {
        self.limit
    }

    /// The packet `place` places behind the head.
    #[inline]
    #[must_use]
    pub fn waiting(&self, place: usize) -> Option<&P> {
        self.waiting.ring.get(place).map(|entry| &entry.packet)
    }

    /// Compares an arriving packet with waiting ones for the algorithm: queues it or drops it,
    /// and another one if need be.
    #[cold]
    fn compare(&mut self, now: Instant, mut packet: P, queue: QueueView, sink: &mut dyn Sink<P>) {
        let ring = &self.waiting.ring;
        let (fate, other) = self.books.compare(&mut self.aqm, now, &mut packet, queue, sink, |place| ring.get(place));
        if let Some(entry) = other.and_then(|place| self.waiting.remove(place)) {
            self.books.discard(entry, fate.unwrap_or(Reason::Match), sink);
            if self.waiting.ring.is_empty() {
                self.aqm.on_emptied(now);
            }
        }
        match fate {
            None => self.waiting.push(packet, now),
            Some(reason) => self.books.discard(Entry { packet, enqueued_at: now }, reason, sink),
        }
    }

    /// Drops an arriving packet that does not fit, and notifies the algorithm.
    #[cold]
    fn overflow(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        let queue = self.waiting.view();
        let shown = self.books.shown(&packet, now);
        self.aqm.on_overflow(&mut self.books.env(now), shown, queue);
        self.books.discard(Entry { packet, enqueued_at: now }, Reason::Overflow, sink);
    }

    /// Counts a packet that arrives and leaves at once, unjudged. Returns false, and counts
    /// nothing, where others wait or it does not fit.
    #[inline]
    pub(crate) fn count_through(&mut self, packet: &P) -> bool {
        if !self.waiting.ring.is_empty() || !self.limit.admits(QueueView::default(), packet.len()) {
            return false;
        }
        self.books.arrive(packet);
        self.books.counters.departed.add(packet.len());
        true
    }
}

impl<P: Packet, A: Aqm> Qdisc<P> for ManagedQueue<P, A> {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline)]
    fn enqueue(&mut self, now: Instant, mut packet: P, sink: &mut dyn Sink<P>) {
        self.books.arrive(&packet);
        let queue = self.waiting.view();
        if !self.limit.admits(queue, packet.len()) {
            self.overflow(now, packet, sink);
            return;
        }
        match self.books.judge_arrival(&mut self.aqm, now, &mut packet, queue, sink) {
            Fate::Keep => self.waiting.push(packet, now),
            Fate::Drop(reason) => self.books.discard(Entry { packet, enqueued_at: now }, reason, sink),
            Fate::Compare => self.compare(now, packet, queue, sink),
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        self.books.release(&mut self.aqm, now, sink, &mut self.waiting)
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        self.aqm.next_update()
    }

    #[inline]
    fn is_timeless(&self) -> bool {
        A::is_timeless()
    }

    fn handle_timer(&mut self, now: Instant) {
        if self.aqm.next_update().is_some_and(|due| due <= now) {
            let queue = self.waiting.view();
            let head = self.waiting.ring.front().map(|entry| self.books.shown(&entry.packet, entry.enqueued_at));
            self.aqm.on_update(&mut self.books.env(now), head, queue);
        }
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        if self.books.set_link_rate(rate) {
            self.aqm.on_rate_change(&mut self.books.env(now));
        }
    }

    fn reserve(&mut self, packets: usize) {
        self.waiting.reserve(packets);
        self.aqm.reserve(packets);
    }

    #[inline]
    fn view(&self) -> QueueView {
        self.waiting.view()
    }

    fn counters(&self) -> Counters {
        self.books.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.aqm.gauges(visit);
    }

    fn rng_mut(&mut self) -> Option<&mut Rng> {
        Some(&mut self.books.rng)
    }
}
