//! A host that checks the contract of a queue after every operation.

use crate::Operation;
use goodqueue_aqm::{Counters, Dropped, EcnPolicy, Packet, Qdisc, QueueStatus, QueueView, Reason, SimplePacket, Sink};
use goodqueue_base::units::{Bytes, Class, Duration, Ecn, Instant, Packets, Rate};
use std::collections::VecDeque;

/// The order in which packets may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of arrival.
    Fifo,
    /// The order of arrival within each flow.
    FifoPerFlow,
    /// The order of arrival among the packets of a flow with the same original codepoint.
    FifoPerFlowAndCodepoint,
}

/// A packet that the queue must hold.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: SimplePacket,
    sent_as: Ecn,
    enqueued_at: Instant,
}

/// The packets that a queue must hold, by their identifiers, which are assigned in order. Entries
/// older than the oldest waiting packet are discarded.
#[derive(Debug, Default)]
struct Inventory {
    /// Identifier of the first entry.
    first: u64,
    places: VecDeque<Option<Held>>,
    packets: u64,
    bytes: u64,
}

impl Inventory {
    /// Identifier of the next packet.
    fn next_id(&self) -> u64 {
        self.first + self.places.len() as u64
    }

    fn add(&mut self, held: Held) {
        self.packets += 1;
        self.bytes += u64::from(held.packet.len);
        self.places.push_back(Some(held));
    }

    fn place(&mut self, id: u64) -> Option<&mut Option<Held>> {
        self.places.get_mut(usize::try_from(id.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Held> {
        self.place(id)?.as_mut()
    }

    fn remove(&mut self, id: u64) -> Option<Held> {
        let held = self.place(id)?.take()?;
        while matches!(self.places.front(), Some(None)) {
            self.places.pop_front();
            self.first += 1;
        }
        self.packets -= 1;
        self.bytes -= u64::from(held.packet.len);
        Some(held)
    }

    fn view(&self) -> QueueView {
        QueueView { backlog: Bytes::new(self.bytes), packets: Packets::new(self.packets) }
    }
}

/// The drops and marks that one call reported to the sink.
#[derive(Debug, Default)]
struct Report {
    dropped: Vec<(SimplePacket, Dropped)>,
    marked: Vec<(SimplePacket, Reason)>,
}

impl Sink<SimplePacket> for Report {
    fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
        self.dropped.push((packet, drop));
    }
    fn marked(&mut self, packet: &SimplePacket, reason: Reason) {
        self.marked.push((*packet, reason));
    }
}

/// A queue, the packets it must hold, and the clock.
///
/// Every operation asserts that: each packet leaves or is dropped exactly once, unchanged but for
/// CE; the order is kept; packets and bytes are conserved; CE is set only where allowed; an empty
/// queue reports nothing; a departure drops no more packets than waited; timers move forward, and
/// spurious ones change nothing. The counters of the queue, which are sums and so retain every
/// fault, are compared with those of the host every few operations and at the end of
/// [`CheckedQueue::run`].
#[derive(Debug)]
pub struct CheckedQueue<Q> {
    queue: Q,
    policy: EcnPolicy,
    order: Order,
    now: Instant,
    held: Inventory,
    /// Counts of packets that arrived, left, were dropped and were marked.
    counted: Counters,
    /// Operations left until the counters are compared.
    unaudited: u32,
    /// One above the identifier of the last departure, by index of the order class.
    last_out: Vec<u64>,
    service: Service,
    fingerprint: u64,
    report: Report,
}

/// Operations between two comparisons of the counters.
const AUDIT: u32 = 32;

/// Whether a queue may withhold packets from a link that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    WorkConserving,
    HoldsBack,
}

impl<Q: Qdisc<SimplePacket>> CheckedQueue<Q> {
    /// Takes charge of an empty queue that was built with `policy`.
    #[must_use]
    pub fn new(queue: Q, policy: EcnPolicy, order: Order) -> Self {
        Self {
            queue,
            policy,
            order,
            now: Instant::from_nanos(1),
            held: Inventory::default(),
            counted: Counters::default(),
            unaudited: 0,
            last_out: Vec::new(),
            service: Service::WorkConserving,
            fingerprint: 0,
            report: Report::default(),
        }
    }

    /// Allows the queue to withhold packets, as shapers do, as long as it names a time to ask
    /// again.
    #[must_use]
    pub fn that_holds_back(mut self) -> Self {
        self.service = Service::HoldsBack;
        self
    }

    /// Dequeues everything that waits, as fast as the queue allows.
    pub fn drain(&mut self) {
        while !self.queue.view().packets.is_zero() {
            if self.dequeue().is_none()
                && let Some(due) = self.queue.next_timer()
            {
                self.advance(due.since(self.now));
            }
        }
    }

    /// The queue.
    pub const fn queue(&self) -> &Q {
        &self.queue
    }

    /// The clock.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Hash over everything that left, was dropped or was marked, in order and with its time.
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Applies all of `operations`.
    pub fn run(&mut self, operations: impl IntoIterator<Item = Operation>) {
        for operation in operations {
            self.apply(operation);
        }
        self.audit();
    }

    /// Compares the counters of the queue with those of the host.
    fn audit(&mut self) {
        self.unaudited = 0;
        assert_eq!(self.queue.counters(), self.counted);
        assert!(self.counted.conserves(self.held.view()), "{:?} does not add up with {:?}", self.counted, self.held.view());
    }

    /// Applies one operation and checks the contract.
    pub fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Enqueue { len, flow, ecn } => {
                // A flow belongs to one class, as its packets keep one codepoint along the path.
                let class = Class::new(flow as u8);
                self.enqueue(SimplePacket { id: self.held.next_id(), len, flow, ecn, class });
            }
            Operation::Dequeue => {
                let _ = self.dequeue();
            }
            Operation::Advance(span) => self.advance(span),
            Operation::Stall(span) => {
                self.now += span;
                self.run_timer();
            }
            Operation::SpuriousTimer => self.run_timer(),
            Operation::SetRate(rate) => self.set_rate(rate),
        }
        self.unaudited += 1;
        if self.unaudited == AUDIT {
            self.audit();
        }
        assert_eq!(self.queue.view(), self.held.view());
    }

    fn enqueue(&mut self, packet: SimplePacket) {
        self.held.add(Held { packet, sent_as: packet.ecn, enqueued_at: self.now });
        self.counted.arrived.add(packet.len());
        if packet.ecn.is_capable() {
            self.counted.arrived_ect.add(packet.len());
        }
        let Self { queue, now, report, .. } = self;
        queue.enqueue(*now, packet, report);
        self.settle(None);
    }

    /// Dequeues one packet and checks the contract.
    pub fn dequeue(&mut self) -> Option<SimplePacket> {
        let waiting = self.queue.view().packets;
        let held_until = self.queue.held_until();
        self.check_outlook();
        let Self { queue, now, report, .. } = self;
        let departure = queue.dequeue(*now, report);
        assert!(held_until <= self.now || departure.is_none() && self.report.dropped.is_empty(), "a queue that holds gave");
        let gone = Packets::new(self.report.dropped.len() as u64 + u64::from(departure.is_some()));
        assert!(gone <= waiting, "{gone} left where {waiting} waited");
        if waiting.is_zero() {
            assert!(self.report.marked.is_empty(), "an empty queue marked");
        }
        if departure.is_none() {
            let is_held_back = self.queue.next_timer().is_some_and(|due| due > self.now);
            let may_hold_back = self.service == Service::HoldsBack && is_held_back;
            assert!(self.queue.view().packets.is_zero() || may_hold_back, "a queue with packets gave none");
        }
        let left = departure.map(|d| (d.packet, d.enqueued_at));
        self.settle(left);
        left.map(|(packet, _)| packet)
    }

    fn set_rate(&mut self, rate: Option<Rate>) {
        self.queue.set_link_rate(self.now, rate);
        assert!(self.report.dropped.is_empty() && self.report.marked.is_empty(), "a change of rate flushed packets");
    }

    /// Advances the clock by `span`, calling timers when they are due.
    pub fn advance(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(due) = self.queue.next_timer().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.run_timer();
        }
        self.now = end;
    }

    /// Checks that the status agrees with the single calls that it combines.
    fn check_outlook(&self) {
        let QueueStatus { waiting, timer, held_until, .. } = self.queue.status();
        assert_eq!((waiting, held_until), (self.queue.view(), self.queue.held_until()), "the status is another one");
        let next = self.queue.next_timer().unwrap_or(Instant::MAX);
        assert!(next == timer || next == timer.min(held_until), "the status has another timer: {timer:?}, not {next:?}");
    }

    fn run_timer(&mut self) {
        self.queue.handle_timer(self.now);
        let next = self.queue.next_timer();
        assert!(next.is_none() || !self.queue.is_timeless(), "a queue without a timer names a time");
        assert!(next.is_none_or(|next| next > self.now), "timer does not move forward: {next:?} at {:?}", self.now);
        self.queue.handle_timer(self.now);
        assert_eq!(self.queue.next_timer(), next, "a repeated timer call changed something");
    }

    /// Accounts for what the last call reported.
    fn settle(&mut self, left: Option<(SimplePacket, Instant)>) {
        if !self.report.marked.is_empty() || !self.report.dropped.is_empty() {
            self.settle_report();
        }
        if let Some((packet, enqueued_at)) = left {
            let sent_as = self.remove(packet, enqueued_at);
            self.counted.departed.add(packet.len());
            let line = match self.order {
                Order::Fifo => 0,
                Order::FifoPerFlow => packet.flow as usize,
                Order::FifoPerFlowAndCodepoint => (packet.flow as usize) << 2 | sent_as as usize,
            };
            if line >= self.last_out.len() {
                self.last_out.resize(line + 1, 0);
            }
            let before = core::mem::replace(&mut self.last_out[line], packet.id + 1);
            assert!(before <= packet.id, "packet {} overtook {}", packet.id, before - 1);
            self.digest(packet.id, 0x300);
        }
    }

    /// Accounts for drops and marks.
    fn settle_report(&mut self) {
        let mut report = core::mem::take(&mut self.report);
        for (packet, reason) in report.marked.drain(..) {
            assert_eq!(packet.ecn, Ecn::Ce);
            assert_eq!(self.policy, EcnPolicy::Mark, "marked by a queue that must drop");
            let held = self.held.get_mut(packet.id).expect("only waiting packets are marked");
            assert!(held.packet.ecn.is_capable(), "marked a Not-ECT packet");
            assert_ne!(held.packet.ecn, Ecn::Ce, "marked twice");
            held.packet.ecn = Ecn::Ce;
            self.counted.marked.add(packet.len());
            self.digest(packet.id, 0x100 + reason as u64);
        }
        for (packet, drop) in report.dropped.drain(..) {
            self.remove(packet, drop.enqueued_at);
            self.counted.drop_for(drop.reason, packet.len());
            self.digest(packet.id, 0x200 + drop.reason as u64);
        }
        // Keeps the storage for the next call.
        self.report = report;
    }

    /// Removes `packet` from the list and returns its original codepoint.
    fn remove(&mut self, packet: SimplePacket, enqueued_at: Instant) -> Ecn {
        let held = self.held.remove(packet.id).expect("a packet leaves once");
        assert_eq!((packet, enqueued_at), (held.packet, held.enqueued_at), "a packet changed within the queue");
        held.sent_as
    }

    fn digest(&mut self, id: u64, what: u64) {
        let event = self.now.as_nanos() ^ id.rotate_left(40) ^ what.rotate_left(20);
        self.fingerprint = (self.fingerprint ^ event).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}
