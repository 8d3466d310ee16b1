//! Prefetching of the ends of the next packets, in worlds of so many flows that most of their
//! state is not in the cache.

use super::{FlowEnds, ReceiverEnd, SenderEnd, Stream};
use crate::ids::LaneId;
use crate::lane::Lane;
use crate::packet::SimPacket;
use crate::sys::prefetch;
use crate::timers::Target;
use crate::world::network::Network;
use goodqueue_tcp::hot;

impl FlowEnds {
    /// Prefetches what the next timer's end reads first.
    #[inline]
    pub(in crate::world) fn prefetch_next_timer(&self) {
        match self.timers.next() {
            Some(Target::Sender(tcp)) => prefetch(&self.senders[tcp], SenderEnd::TOUCHED_BY_TIMER),
            Some(Target::Receiver(tcp)) => prefetch(&self.receivers[tcp], ReceiverEnd::TOUCHED),
            _ => {}
        }
    }

    /// Prefetches what the next packets of a lane need of their ends: the end of the second
    /// packet, and of the first packet, whose end was prefetched before, what that end points to.
    #[inline(always)]
    pub(in crate::world) fn prefetch_for(&self, net: &Network, lane: LaneId) {
        let lane = &net.path.lanes[lane];
        lane.prefetch_packet(0);
        if let Some(packet) = lane.peek(0)
            && packet.is_reverse()
            && let Some(tcp) = net.routes[packet.flow.id()].end.tcp()
        {
            hot::records(&self.senders[tcp].sender).into_iter().for_each(|record| prefetch(record, 1));
        }
        if let Some(packet) = lane.peek(1)
            && let Some(tcp) = net.routes[packet.flow.id()].end.tcp()
        {
            if packet.is_reverse() {
                prefetch(&self.senders[tcp], SenderEnd::TOUCHED);
            } else {
                prefetch(&self.receivers[tcp], ReceiverEnd::TOUCHED);
            }
        }
        net.path.prefetch_answers(&net.routes, [0, 1, 2].map(|place| lane.peek(place)));
        if !self.streams.is_empty() {
            self.prefetch_streams(net, lane);
        }
    }

    /// Prefetches what the next packets of a lane need of their streams: the number of the second
    /// packet's stream, and the stream of the first.
    #[inline(always)]
    fn prefetch_streams(&self, net: &Network, lane: &Lane) {
        let tcp_of = |packet: &SimPacket| net.routes[packet.flow.id()].end.tcp();
        if let Some(Some(tcp)) = lane.peek(0).map(tcp_of)
            && let Some(&Some(stream)) = self.stream_of_tcp.get(tcp)
        {
            prefetch(&self.streams[stream], size_of::<Stream>());
        }
        if let Some(Some(tcp)) = lane.peek(1).map(tcp_of)
            && let Some(stream) = self.stream_of_tcp.get(tcp)
        {
            prefetch(stream, 1);
        }
    }
}
