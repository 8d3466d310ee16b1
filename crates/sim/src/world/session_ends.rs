//! The ends of sessions, their channels and their streams.

use super::figures::FlowReading;
use super::path::{PathHalf, Route, flow_after};
use crate::completions::Ideal;
use crate::ids::{ChannelId, ControlId, FlowId, GroupId, IdVec, LinkId, SessionId, StreamId, TcpId};
use crate::link::Link;
use crate::outcome::VideoOutcome;
use crate::packet::flow_hash;
use crate::session::{Channel, Payload, Session};
use goodqueue_aqm::Qdisc;
use goodqueue_base::units::{Bytes, Instant, Rng};
use goodqueue_tcp::{ReceiverConfig, Sender};
use std::sync::Arc;

/// One session and its resources.
pub(super) struct SessionEnd {
    pub(super) model: Session,
    pub(super) rng: Rng,
    /// Root of the random streams of its connections, and the number of connections so far.
    pub(super) seed: u64,
    pub(super) connections: u64,
    pub(super) flow: FlowId,
    pub(super) group: GroupId,
    /// Event of its own timer.
    pub(super) control: ControlId,
    pub(super) channels: Vec<ChannelId>,
    /// Initial state of each connection's sender.
    pub(super) sender: Sender,
    pub(super) receiver: ReceiverConfig,
    pub(super) mss: Bytes,
    pub(super) path: SessionPath,
    pub(super) video_at_warmup: VideoOutcome,
}

impl SessionEnd {
    /// The random stream of the next connection.
    pub(super) fn next_stream(&mut self) -> Rng {
        self.connections += 1;
        Rng::stream(self.seed, self.connections)
    }
}

/// The path of a session's packets.
pub(super) struct SessionPath {
    /// Routes of data and of requests; each stream sets the end.
    pub(super) routes: [Route; 2],
    pub(super) place: PlaceInQueues,
    pub(super) ideal: Ideal,
}

/// The place of a flow in the queues on its route, forward and reverse. A flow of weight 1 without
/// a leaf has the place that queues give without being told.
pub(super) struct PlaceInQueues {
    pub(super) weight: f64,
    pub(super) leaf: Option<Arc<str>>,
    pub(super) forward: Vec<LinkId>,
    pub(super) reverse: Vec<LinkId>,
}

impl PlaceInQueues {
    /// Tells the queues the place of a flow whose data travels this way along the route.
    pub(super) fn announce(&self, links: &mut IdVec<LinkId, Link>, flow: FlowId, heading: PathHalf) {
        for (numbers, half) in [(&self.forward, PathHalf::Forward), (&self.reverse, PathHalf::Reverse)] {
            for &link in numbers {
                let (queue, flow) = (&mut links[link].qdisc, flow_hash(flow, half != heading));
                // The leaf comes first: the weight is one within it.
                if let Some(leaf) = &self.leaf {
                    queue.set_leaf(flow, leaf);
                }
                if self.weight != 1.0 {
                    queue.set_weight(flow, self.weight);
                }
            }
        }
    }
}

/// One channel: its streams, and the event of its timer.
pub(super) struct ChannelEnd {
    pub(super) session: SessionId,
    pub(super) number: Channel,
    pub(super) data: StreamId,
    pub(super) request: Option<StreamId>,
    pub(super) control: ControlId,
}

/// The state of one direction of a channel besides its sender and receiver.
pub(super) struct Stream {
    pub(super) channel: ChannelId,
    pub(super) direction: Payload,
    pub(super) tcp: TcpId,
    /// The first of its flow numbers, and that of its present connection.
    pub(super) first_flow: FlowId,
    pub(super) flow: FlowId,
    pub(super) used: bool,
    /// Stream offsets at which the present message begins and ends, and its bytes.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) bytes: u64,
    /// Events of the message that the session has not been notified of.
    pub(super) awaits_first: bool,
    pub(super) awaits_all: bool,
    /// Something is not yet acknowledged.
    pub(super) active: bool,
    pub(super) handshake_at: Instant,
    /// The sum over earlier messages and connections.
    pub(super) past: FlowReading,
}

impl Stream {
    /// The present connection and its flow number.
    pub(super) const fn connection(&self) -> (TcpId, FlowId) {
        (self.tcp, self.flow)
    }

    /// The channel, the first flow number and the direction.
    pub(super) const fn origin(&self) -> (ChannelId, FlowId, Payload) {
        (self.channel, self.first_flow, self.direction)
    }
}

/// Flow numbers that a stream's connections use in turn.
pub(super) const GENERATIONS: u32 = 4;

/// The flow numbers of a stream whose first one is `first`.
pub(super) fn flow_numbers(first: FlowId) -> impl Iterator<Item = FlowId> {
    (0..GENERATIONS).map(move |number| flow_after(first, number))
}
