//! All that a host of queues ever calls.

use crate::ack::PureAck;
use crate::aqm::{Endpoints, FlowHash, HostHash, QueueView, Reason};
use crate::counters::Counters;
use goodqueue_base::units::{Bytes, Class, Duration, Ecn, Instant, Rate, Rng};

/// The facts of a packet that queues use. A queue moves packets and never looks
/// inside.
pub trait Packet {
    /// Size without link framing (the IP length in IP networks).
    fn len(&self) -> Bytes;
    /// True for a packet of no bytes, which no network carries.
    fn is_empty(&self) -> bool {
        self.len().is_zero()
    }
    /// The ECN codepoint.
    fn ecn(&self) -> Ecn;
    /// Sets CE. Called only when [`Packet::ecn`] is ECN-capable.
    fn set_ce(&mut self);
    /// The flow it belongs to.
    fn flow(&self) -> FlowHash;
    /// The packet's class, for schedulers that distinguish classes.
    fn class(&self) -> Class {
        Class::DEFAULT
    }
    /// The hosts at its ends, for schedulers that distinguish hosts. Where they are unknown, each
    /// flow counts as a pair of hosts.
    fn endpoints(&self) -> Endpoints {
        let own = HostHash(self.flow().0);
        Endpoints { source: own, destination: own }
    }
    /// The acknowledgement of a packet that is a pure one, for queues that thin out
    /// acknowledgements.
    fn pure_ack(&self) -> Option<PureAck> {
        None
    }
}

/// A packet that leaves the queue for the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet, CE set if the queue marked it.
    pub packet: P,
    /// The time it arrived at the queue.
    pub enqueued_at: Instant,
}

impl<P> Departure<P> {
    /// Time from arrival at the queue to now, the start of transmission.
    #[inline]
    #[must_use]
    pub fn sojourn(&self, now: Instant) -> Duration {
        now.since(self.enqueued_at)
    }
}

/// The circumstances of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// The reason for the drop.
    pub reason: Reason,
    /// The time the packet had arrived at the queue (now, for one dropped on arrival).
    pub enqueued_at: Instant,
}

impl Dropped {
    /// A drop of a packet that had arrived at `enqueued_at`.
    #[must_use]
    pub const fn new(reason: Reason, enqueued_at: Instant) -> Self {
        Self { reason, enqueued_at }
    }
}

/// The state that a host needs to know after a call: the waiting packets, and the times to come
/// back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStatus {
    /// See [`Qdisc::view`].
    pub waiting: QueueView,
    /// The time to call [`Qdisc::handle_timer`]; [`Instant::MAX`] for never. Unlike
    /// [`Qdisc::next_timer`] it need not name `held_until`.
    pub timer: Instant,
    /// See [`Qdisc::held_until`].
    pub held_until: Instant,
}

/// Receiver of a queue's drops and marks. Only those cost a dynamic call.
pub trait Sink<P> {
    /// `packet` was dropped; it is handed back so that a host can reuse its buffer.
    fn dropped(&mut self, packet: P, drop: Dropped);
    /// CE was newly set on `packet`, which stays in or leaves the queue as usual.
    fn marked(&mut self, packet: &P, reason: Reason);
}

/// Ignores every report.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl<P> Sink<P> for NoSink {
    fn dropped(&mut self, _: P, _: Dropped) {}
    fn marked(&mut self, _: &P, _: Reason) {}
}

/// A queue discipline: one or more queues behind one interface.
///
/// A host calls [`Qdisc::enqueue`] when a packet arrives, [`Qdisc::dequeue`] when the link is free,
/// and [`Qdisc::handle_timer`] at [`Qdisc::next_timer`]. Time must not run backwards between calls.
pub trait Qdisc<P: Packet> {
    /// Queues `packet`, or drops it or others and reports that to `sink`.
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>);

    /// The next packet to send, if any. Packets dropped on the way go to `sink`.
    ///
    /// `None` while packets wait ([`Qdisc::view`]) means "not now": the queue holds them back, and
    /// names in [`Qdisc::next_timer`] when to ask again. A host asks again after
    /// [`Qdisc::handle_timer`], and may ask at any other time.
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>>;

    /// The time to call [`Qdisc::handle_timer`]: the earliest of its algorithms' updates and its
    /// own releases. May change after any other call.
    fn next_timer(&self) -> Option<Instant>;

    /// True if [`Qdisc::next_timer`] never names a time, so that a host need not ask.
    #[inline]
    fn is_timeless(&self) -> bool {
        false
    }

    /// The time before which [`Qdisc::dequeue`] returns `None`, even if packets arrive meanwhile,
    /// so that a host need not ask. It is past for queues that may have a packet to send. A host
    /// that relies on it asks at that time, whether or not [`Qdisc::next_timer`] names it.
    #[inline]
    fn held_until(&self) -> Instant {
        Instant::ZERO
    }

    /// Returns the waiting packets and both times by one call. They stay true until the next call
    /// that changes the queue.
    #[inline]
    fn status(&self) -> QueueStatus {
        QueueStatus { waiting: self.view(), timer: self.next_timer().unwrap_or(Instant::MAX), held_until: self.held_until() }
    }

    /// Runs whatever is due at `now`. Early and repeated calls change nothing.
    fn handle_timer(&mut self, now: Instant);

    /// Sets the link's rate; zero for a link that is down, `None` where it cannot be
    /// known.
    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>);

    /// Sets the weight of `flow` (above zero, 1 by default) for disciplines that weigh flows;
    /// others ignore it. Call it before the flow's first packet.
    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        let _ = (flow, weight);
    }

    /// Directs `flow` to the leaf of this name in a hierarchy of classes; others ignore it, and so
    /// do those that have no such leaf. Call it before the flow's first packet.
    fn set_leaf(&mut self, flow: FlowHash, leaf: &str) {
        let _ = (flow, leaf);
    }

    /// Takes memory for `packets` packets in each of its queues, and for all of its flows, so that
    /// no call asks for memory later while no more than those wait. For hosts that cannot ask for
    /// memory while packets pass. The default takes none.
    fn reserve(&mut self, packets: usize) {
        let _ = packets;
    }

    /// The backlog over all queues.
    fn view(&self) -> QueueView;

    /// The counters over all queues.
    fn counters(&self) -> Counters;

    /// The random stream, for hosts that replay recorded draws; `None` for disciplines that draw
    /// while they are built, or that hold several streams.
    fn rng_mut(&mut self) -> Option<&mut Rng> {
        None
    }

    /// Shows the algorithm's internal state as (name, value) pairs, always the same names in the
    /// same order.
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64));
}

/// A packet of nothing but metadata, for examples, tests and benches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimplePacket {
    /// A number of the owner's choice.
    pub id: u64,
    /// Size in bytes.
    pub len: u32,
    /// Flow number.
    pub flow: u32,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Class.
    pub class: Class,
}

impl SimplePacket {
    /// A Not-ECT packet of `len` bytes in flow 0 and the default class.
    #[must_use]
    pub const fn new(len: u32) -> Self {
        Self { id: 0, len, flow: 0, ecn: Ecn::NotEct, class: Class::DEFAULT }
    }
}

impl Packet for SimplePacket {
    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.len))
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        FlowHash(self.flow)
    }
    #[inline]
    fn class(&self) -> Class {
        self.class
    }
    /// Flows of one number divided by 8 come from one host modulo 8, those of one number divided by
    /// 64 go to one.
    fn endpoints(&self) -> Endpoints {
        Endpoints { source: HostHash(self.flow / 8 % 8), destination: HostHash(self.flow / 64) }
    }
}
