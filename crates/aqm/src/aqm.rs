//! The trait that every algorithm implements, and its view of packets and queue.

use goodqueue_base::named;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Packets, Rate, Rng};

/// The host's knowledge at the moment of a decision.
#[derive(Debug)]
#[non_exhaustive]
pub struct Env<'a> {
    /// Now, on the host's clock.
    pub now: Instant,
    /// The link's rate; `None` where the host cannot know it, zero while the link is down.
    pub link_rate: Option<Rate>,
    /// Bytes the link adds to each packet on the wire (framing); zero when unknown.
    pub overhead: Bytes,
    /// This queue's own random stream.
    pub rng: &'a mut Rng,
}

impl<'a> Env<'a> {
    /// The knowledge of a host that knows the time and nothing of the link.
    #[must_use]
    pub fn new(now: Instant, rng: &'a mut Rng) -> Self {
        Self { now, link_rate: None, overhead: Bytes::ZERO, rng }
    }
}

/// A flow's hash or number: equal for packets of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowHash(pub u32);

/// A host's hash or number: equal for packets of one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HostHash(pub u32);

/// The two hosts that a packet travels between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// The host that sent the packet.
    pub source: HostHash,
    /// The host that the packet is for.
    pub destination: HostHash,
}

/// The facts of a packet that an algorithm may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketView {
    /// Size without link framing (the IP length in IP networks).
    pub len: Bytes,
    /// The ECN codepoint; `NotEct` whenever this queue does not mark.
    pub ecn: Ecn,
    /// The flow it belongs to.
    pub flow: FlowHash,
    /// The time it arrived at this queue (now, for an arriving packet).
    pub enqueued_at: Instant,
}

impl PacketView {
    /// A packet that cannot be marked.
    #[must_use]
    pub const fn new(len: Bytes, flow: FlowHash, enqueued_at: Instant) -> Self {
        Self { len, ecn: Ecn::NotEct, flow, enqueued_at }
    }

    /// Time spent in the queue so far.
    #[inline]
    #[must_use]
    pub fn sojourn(&self, now: Instant) -> Duration {
        now.since(self.enqueued_at)
    }
}

/// The state of the queue that an algorithm may use, without the packet under decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Waiting bytes, framing not counted.
    pub backlog: Bytes,
    /// Waiting packets.
    pub packets: Packets,
}

impl core::iter::Sum for QueueView {
    fn sum<I: Iterator<Item = Self>>(views: I) -> Self {
        views.fold(Self::default(), |sum, view| Self { backlog: sum.backlog + view.backlog, packets: sum.packets + view.packets })
    }
}

named! {
    /// The reason that a packet was dropped or marked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Reason {
        /// The queue's hard limit was reached.
        Overflow = "overflow",
        /// The algorithm's decision on arrival.
        Early = "early",
        /// The algorithm's decision on departure.
        Head = "head",
        /// A token bucket had too few tokens.
        Policer = "policer",
        /// A flow was recognized as unresponsive and held back.
        Penalty = "penalty",
        /// A fair queue dropped from its fattest flow because all flows together exceeded the
        /// limit.
        OverLimit = "over-limit",
        /// A packet of the same flow was found in the queue (CHOKe).
        Match = "match",
        /// A fixed marking threshold was exceeded; never drops.
        Threshold = "threshold",
        /// The frame could not be parsed.
        Malformed = "malformed",
        /// An acknowledgement made redundant by a later one in the queue.
        Redundant = "redundant",
    }
}

impl Reason {
    /// True if the queue ran out of room, false if the algorithm decided.
    #[must_use]
    pub const fn is_overflow(self) -> bool {
        matches!(self, Self::Overflow | Self::OverLimit)
    }
}

/// An algorithm's decision about the one packet it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Queue or send it.
    Pass,
    /// Signal congestion: set CE on an ECN-capable packet, drop any other.
    Signal(Reason),
    /// Set CE on an ECN-capable packet, pass any other.
    Mark(Reason),
    /// Drop it, ECN-capable or not.
    Drop(Reason),
    /// No verdict on arrival without a look at packets that wait: the queue asks
    /// [`Aqm::on_comparison`]. On departure it passes.
    Compare,
}

impl Verdict {
    /// Whether a packet with this ECN field stays in the queue.
    #[inline]
    #[must_use]
    pub const fn keeps(self, ecn: Ecn) -> bool {
        match self {
            Self::Pass | Self::Mark(_) | Self::Compare => true,
            Self::Signal(_) => ecn.is_capable(),
            Self::Drop(_) => false,
        }
    }
}

/// An algorithm's decision about an arriving packet that it compared with waiting ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Comparison {
    /// The verdict on the arriving packet, as if it had been decided on arrival;
    /// [`Verdict::Compare`] passes.
    Judged(Verdict),
    /// Drop the arriving packet and the one that waits this many places behind the head.
    DropBoth(usize, Reason),
}

/// An algorithm: judges packets one at a time, stores none, and keeps no books.
///
/// The queue calls the hooks; each hook's default does nothing. Limits, backlog, time stamps,
/// counters and setting CE are the queue's business ([`crate::ManagedQueue`]).
#[allow(unused_variables, reason = "defaults ignore what they are given")]
pub trait Aqm {
    /// True if [`Aqm::next_update`] never names a time, so that hosts need not ask.
    #[inline]
    fn is_timeless() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// An arriving packet that fits into the queue. `queue` does not contain it yet.
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        Verdict::Pass
    }

    /// An arriving packet that [`Aqm::on_arrival`] wants compared. `waiting` shows the packet so
    /// many places behind the head. A scheduler of many queues shows none.
    fn on_comparison(
        &mut self,
        env: &mut Env<'_>,
        packet: PacketView,
        queue: QueueView,
        waiting: &dyn Fn(usize) -> Option<PacketView>,
    ) -> Comparison {
        Comparison::Judged(Verdict::Pass)
    }

    /// An arriving packet does not fit and is dropped: a notification without a verdict.
    #[inline]
    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {}

    /// The packet at the head, about to be sent. `queue` does not contain it any more. After a drop
    /// the queue asks again for the next head, within the same departure.
    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        Verdict::Pass
    }

    /// The queue was found empty by a departure, or became empty while one looked for a packet to
    /// send.
    #[inline]
    fn on_idle(&mut self, now: Instant) {}

    /// A packet left and nothing waits behind it any more.
    #[inline]
    fn on_emptied(&mut self, now: Instant) {}

    /// The scheduler dropped `count` packets of this queue by its own decision.
    #[inline]
    fn on_evicted(&mut self, env: &mut Env<'_>, count: Packets) {}

    /// The flow's weight, from a scheduler that weighs flows, before the first
    /// packet.
    #[inline]
    fn on_weight(&mut self, weight: f64) {}

    /// Number of busy flows that share the link, this one included. Schedulers that count them
    /// report it before each departure.
    #[inline]
    fn on_sharing(&mut self, flows: u32) {}

    /// The link's rate changed to `env.link_rate`.
    #[inline]
    fn on_rate_change(&mut self, env: &mut Env<'_>) {}

    /// The time of the next call of [`Aqm::on_update`]; `None` for algorithms without a timer. May
    /// change after any hook.
    #[inline]
    fn next_update(&self) -> Option<Instant> {
        None
    }

    /// Called at or after the time [`Aqm::next_update`] named. `head` is the oldest waiting packet.
    /// Early and repeated calls change nothing.
    #[inline]
    fn on_update(&mut self, env: &mut Env<'_>, head: Option<PacketView>, queue: QueueView) {}

    /// Takes memory for whatever it keeps of each of `packets` waiting packets.
    fn reserve(&mut self, packets: usize) {
        let _ = packets;
    }

    /// Shows the internal state worth plotting, as (name, value) pairs, always the same names in
    /// the same order.
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {}
}
