//! The ends of all flows, and their timers.

mod prefetch;

use super::figures::FlowReading;
use super::outside_flow::{Fate, OutsideFlow};
use super::path::FlowEnd;
use super::session_ends::{ChannelEnd, SessionEnd, Stream};
use crate::ids::{ChannelId, ControlId, FlowId, GroupId, IdVec, LaneId, LinkId, OutsideId, SessionId, StreamId, TcpId, UdpId};
use crate::session::Action;
use crate::timers::Timers;
use crate::traffic::UdpSource;
use goodqueue_base::units::{Instant, Rate, Rng};
use goodqueue_tcp::{Receiver, Sender, hot};

/// A TCP sender and its one lazy timer.
#[repr(C)]
pub(super) struct SenderEnd {
    /// Time of the pending event; `MAX` when there is none.
    pub(super) timer_at: Instant,
    /// Time before which its access link takes nothing more.
    pub(super) held_until: Instant,
    /// Round-trip times that the figures have counted.
    pub(super) rtt_samples: u64,
    pub(super) sender: Sender,
}

impl SenderEnd {
    /// Length of the prefix of this struct that processing an ACK reads; used as the prefetch size.
    pub(super) const TOUCHED: usize = std::mem::offset_of!(Self, sender) + hot::SENDER_PREFIX;
    /// Length of the prefix that a timer reads.
    pub(super) const TOUCHED_BY_TIMER: usize = 3 * 64;

    pub(super) const fn new(sender: Sender) -> Self {
        Self { sender, timer_at: Instant::MAX, held_until: Instant::ZERO, rtt_samples: 0 }
    }

    /// Puts a new connection in the place of an ended one: a copy of `closed` with its own random
    /// stream. A pending event stays.
    pub(super) fn renew(&mut self, closed: &Sender, rng: Rng) {
        self.sender.renew(closed, rng);
        self.held_until = Instant::ZERO;
        self.rtt_samples = 0;
    }
}

/// A TCP receiver and its one lazy timer, in the cache line that the receiver reads for every
/// segment.
#[repr(C, align(64))]
pub(super) struct ReceiverEnd {
    pub(super) timer_at: Instant,
    pub(super) receiver: Receiver,
}

impl ReceiverEnd {
    /// Length of the prefix of this struct that processing a segment reads.
    pub(super) const TOUCHED: usize = 3 * 64;

    pub(super) const fn new(receiver: Receiver) -> Self {
        Self { receiver, timer_at: Instant::MAX }
    }
}

/// The state of a flow besides its hot state.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) group: GroupId,
    pub(super) index: u32,
    pub(super) end: FlowEnd,
    pub(super) start: Instant,
    pub(super) weight: f64,
    pub(super) completed_at: Option<Instant>,
    /// Counts among the flows that are sending.
    pub(super) active: bool,
    pub(super) at_warmup: FlowReading,
}

impl Flow {
    pub(super) fn new(group: GroupId, index: u32, end: FlowEnd, start: Instant, weight: f64) -> Self {
        let at_warmup = FlowReading::default();
        Self { group, index, end, start, weight, completed_at: None, active: false, at_warmup }
    }
}

/// Control events: rare events that belong to no packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    StartFlow(FlowId),
    StopFlow(FlowId),
    /// The timer of a session.
    Session(SessionId),
    /// The timer of a channel.
    Channel(ChannelId),
    RateStep(LinkId, Rate),
    BeginMeasuring,
    Sample,
}

/// The lane that leads to late receivers, and their timers.
pub(super) struct DeferredReceivers {
    pub(super) lane: LaneId,
    pub(super) timers: Timers,
}

/// The ends of all flows, and their timers.
#[derive(Default)]
pub(super) struct FlowEnds {
    pub(super) timers: Timers,
    /// Receivers that take their packets late, in worlds that have them.
    pub(super) late: Option<DeferredReceivers>,
    /// Whether the flows are so numerous that the state of most of them is not in the cache.
    pub(super) crowded: bool,
    pub(super) flows: IdVec<FlowId, Flow>,
    pub(super) senders: IdVec<TcpId, SenderEnd>,
    pub(super) receivers: IdVec<TcpId, ReceiverEnd>,
    pub(super) flow_of_tcp: IdVec<TcpId, FlowId>,
    pub(super) group_of_tcp: IdVec<TcpId, GroupId>,
    pub(super) sources: IdVec<UdpId, UdpSource>,
    pub(super) flow_of_source: IdVec<UdpId, FlowId>,
    pub(super) outside: IdVec<OutsideId, OutsideFlow>,
    /// Packets that have reached ends outside and are not yet fetched.
    pub(super) arrived: Vec<Fate>,
    pub(super) sessions: IdVec<SessionId, SessionEnd>,
    pub(super) channels: IdVec<ChannelId, ChannelEnd>,
    pub(super) streams: IdVec<StreamId, Stream>,
    /// Stream of each connection, as far as there are streams.
    pub(super) stream_of_tcp: IdVec<TcpId, Option<StreamId>>,
    /// Room for the actions of a session.
    pub(super) actions: Vec<Action>,
    pub(super) controls: IdVec<ControlId, Control>,
}

impl FlowEnds {
    pub(super) fn new(crowded: bool) -> Self {
        Self { crowded, ..Self::default() }
    }

    /// Adds the two ends of a connection.
    pub(super) fn add_connection(&mut self, sender: Sender, receiver: Receiver, flow: FlowId, group: GroupId) -> TcpId {
        self.receivers.push(ReceiverEnd::new(receiver));
        self.flow_of_tcp.push(flow);
        self.group_of_tcp.push(group);
        self.senders.push(SenderEnd::new(sender))
    }

    /// Whether nothing of these ends forbids deferred processing.
    pub(super) fn allow_deferring(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.end, FlowEnd::Tcp(_) | FlowEnd::Udp(_) | FlowEnd::Echo(_)))
    }

    /// The stream of a connection that belongs to a session.
    pub(super) fn stream_of(&self, tcp: TcpId) -> StreamId {
        self.stream_of_tcp[tcp].expect("a route of a stream leads to a connection with a stream")
    }
}
