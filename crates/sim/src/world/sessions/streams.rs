//! Streams: one direction of a channel, and the connections that carry it one after another.

use crate::ids::{ChannelId, SessionId, StreamId, TcpId};
use crate::losses::FlowSignals;
use crate::packet::SimPacket;
use crate::session::{After, Event, Payload};
use crate::sys::CROWD;
use crate::world::figures::FlowReading;
use crate::world::path::{FlowEnd, Route, flow_after};
use crate::world::session_ends::{ChannelEnd, GENERATIONS, Stream, flow_numbers};
use crate::world::state::World;
use goodqueue_base::units::{Bytes, Instant};
use goodqueue_tcp::{Ending, Flags, Receiver, Sender};

impl World {
    pub(super) fn add_stream(&mut self, session: SessionId, channel: ChannelId, direction: Payload) -> StreamId {
        let flow = self.net.routes.next_id();
        let end = &mut self.ends.sessions[session];
        let rng = end.next_stream();
        let route = end.path.routes[usize::from(direction == Payload::Request)];
        let group = end.group;
        let (sender, receiver) = (Sender::renewed(&end.sender, rng), Receiver::new(&end.receiver));
        let tcp = self.ends.add_connection(sender, receiver, flow, group);
        for _ in flow_numbers(flow) {
            self.net.routes.push(Route { end: FlowEnd::Stream(tcp), ..route });
            self.net.recorder.flows.push(FlowSignals::default());
        }
        self.place_stream(session, flow, direction);
        let stream = self.ends.streams.push(Stream {
            channel,
            direction,
            tcp,
            first_flow: flow,
            flow,
            used: false,
            begin: 0,
            end: 0,
            bytes: 0,
            awaits_first: false,
            awaits_all: false,
            active: false,
            handshake_at: Instant::ZERO,
            past: FlowReading::default(),
        });
        self.ends.stream_of_tcp.resize(self.ends.senders.len(), None);
        self.ends.stream_of_tcp[tcp] = Some(stream);
        self.ends.crowded |= self.ends.senders.len() >= CROWD;
        stream
    }

    /// Puts a new connection in the place of a stream's previous one.
    pub(super) fn replace_connection(&mut self, session: SessionId, id: StreamId) {
        if !std::mem::replace(&mut self.ends.streams[id].used, true) {
            return;
        }
        let past = self.sum_of_stream(id);
        self.set_stream_active(id, false);
        let stream = &mut self.ends.streams[id];
        stream.past = past;
        (stream.begin, stream.end, stream.bytes) = (0, 0, 0);
        (stream.awaits_first, stream.awaits_all) = (false, false);
        let generation = stream.flow.get() - stream.first_flow.get();
        stream.flow = flow_after(stream.first_flow, (generation + 1) % GENERATIONS);
        self.ends.flow_of_tcp[stream.tcp] = stream.flow;
        let tcp = stream.tcp;
        self.renew_connection(session, tcp);
    }

    /// Sends a message on a stream; `opposite` is the stream of the other direction.
    pub(super) fn send_message(&mut self, id: StreamId, opposite: Option<StreamId>, bytes: u64, after: After) {
        let now = self.clock.now;
        if let Some(opposite) = opposite {
            let (tcp, flow) = self.ends.streams[opposite].connection();
            let receiver = &mut self.ends.receivers[tcp].receiver;
            let ecn = receiver.codepoint();
            if let Some(acknowledgement) = receiver.flush(now) {
                self.send_segment(flow, acknowledgement, ecn);
            }
        }
        let delivered = self.message_bytes(id);
        self.set_stream_active(id, true);
        let stream = &mut self.ends.streams[id];
        stream.past.add_delivered(delivered);
        let sender = &mut self.ends.senders[stream.tcp].sender;
        stream.begin = sender.written();
        let ending = if after == After::Close { Ending::Fin } else { Ending::More };
        sender.write(Bytes::new(bytes), ending);
        stream.end = sender.written();
        stream.bytes = bytes;
        (stream.awaits_first, stream.awaits_all) = (true, true);
        let (tcp, flow) = stream.connection();
        self.poll_sender_cold(tcp, flow);
    }

    /// Adds a stream to, or removes it from, the flows that could lose packets.
    fn set_stream_active(&mut self, id: StreamId, active: bool) {
        let stream = &mut self.ends.streams[id];
        if stream.active != active {
            stream.active = active;
            self.net.count_active(stream.flow, active);
        }
    }

    /// Bytes of the present message that have arrived.
    fn message_bytes(&self, id: StreamId) -> u64 {
        let stream = &self.ends.streams[id];
        let next = self.ends.receivers[stream.tcp].receiver.delivered_bytes();
        next.saturating_sub(stream.begin).min(stream.bytes)
    }

    pub(super) fn read_stream(&self, id: StreamId) -> FlowReading {
        let signals = self.net.recorder.flows.run(self.ends.streams[id].first_flow, GENERATIONS as usize);
        let signals = signals.iter().fold(FlowSignals::default(), |sum, signals| sum.and(*signals));
        self.sum_of_stream(id).with_signals(signals)
    }

    /// Sums up the stream without signals, which the recorder sums up itself.
    fn sum_of_stream(&self, id: StreamId) -> FlowReading {
        let Stream { tcp, past, .. } = &self.ends.streams[id];
        past.and(self.message_bytes(id), self.ends.senders[*tcp].sender.statistics())
    }

    /// Returns whether a packet that has reached its end belongs to the stream's present
    /// connection, and prepares it for its end.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn stream_accepts(&mut self, tcp: TcpId, packet: &mut SimPacket) -> bool {
        let stream = self.ends.stream_of(tcp);
        let stream = &mut self.ends.streams[stream];
        if packet.flow.id() != stream.flow {
            return false;
        }
        if packet.is_reverse() {
            return true;
        }
        if packet.segment.flags.has(Flags::SYN) {
            stream.handshake_at = self.clock.now;
        } else if packet.segment.payload > 0 {
            // The short end of a message counts as a whole segment in the stream's offsets.
            let session = self.ends.channels[stream.channel].session;
            packet.segment.payload = self.ends.sessions[session].mss.get() as u16;
        }
        true
    }

    /// Notifies the session of what a delivered packet has completed.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn after_stream_delivery(&mut self, tcp: TcpId, packet: &SimPacket) {
        let id = self.ends.stream_of(tcp);
        if !packet.is_reverse() {
            self.after_data_delivery(id);
            return;
        }
        if self.ends.streams[id].active && self.ends.senders[tcp].sender.is_finished() {
            self.set_stream_active(id, false);
            self.notify_of(id, Event::Acknowledged);
        }
    }

    /// Notifies the session of the first data of a message, and of the last.
    fn after_data_delivery(&mut self, id: StreamId) {
        let stream = &mut self.ends.streams[id];
        let (direction, channel) = (stream.direction, stream.channel);
        let next = self.ends.receivers[stream.tcp].receiver.delivered_bytes();
        let first = stream.awaits_first && next > stream.begin;
        let all = stream.awaits_all && next >= stream.end;
        stream.awaits_first &= !first;
        stream.awaits_all &= !all;
        let handshake_took = self.clock.now.since(stream.handshake_at);
        if first && direction == Payload::Data {
            self.notify_of(id, |channel, _| Event::FirstByte(channel));
        }
        if !all {
            return;
        }
        if direction == Payload::Request {
            let ChannelEnd { data, .. } = self.ends.channels[channel];
            let (tcp, _) = self.ends.streams[data].connection();
            let receiver = &mut self.ends.receivers[tcp].receiver;
            self.ends.senders[tcp].sender.accept(self.clock.now, handshake_took, receiver);
        }
        self.notify_of(id, Event::Arrived);
    }
}
