//! Packets reach their ends.

use super::outside_flow::{Content, Fate};
use super::path::FlowEnd;
use super::state::World;
use crate::ids::{LaneId, OutsideId, TcpId, UdpId};
use crate::lane::LaneExit;
use crate::packet::SimPacket;
use goodqueue_aqm::Packet;
use goodqueue_base::units::Bytes;
use goodqueue_tcp::hot::{self, Routine};
use goodqueue_tcp::{Flags, Segment};

impl World {
    /// The first packet of a lane has reached the lane's end.
    #[inline(always)]
    pub(super) fn lane_event(&mut self, lane: LaneId) {
        let now = self.clock.now;
        match self.net.path.lanes[lane].exit {
            LaneExit::End => {
                let packet = self.net.take_arrived(lane);
                if self.ends.crowded {
                    self.ends.prefetch_for(&self.net, lane);
                }
                self.deliver(packet);
            }
            LaneExit::Queue(link) => {
                let packet = self.net.take_arrived(lane);
                self.net.enqueue(now, link, packet);
            }
            LaneExit::PerPacket | LaneExit::Unknown => {
                let packet = self.net.take_arrived(lane);
                self.enter_or_deliver(&packet);
            }
            // Deferred events are counted one by one.
            LaneExit::DeferredQueue => self.clock.events = self.clock.events + self.net.process_deferred(now) - 1,
            LaneExit::DeferredWire => {
                self.clock.events += self.receive_deferred(now);
                self.clock.events = self.clock.events + self.net.cross_deferred_wire(now, lane) - 1;
            }
            LaneExit::DeferredReceivers => self.clock.events = self.clock.events + self.receive_deferred(now) - 1,
        }
    }

    /// Passes a packet to the hop that it has reached by its hop count, or delivers it at its end.
    #[inline]
    pub(super) fn enter_or_deliver(&mut self, packet: &SimPacket) {
        match self.net.hop_of(packet) {
            Some(hop) => self.net.enter(self.clock.now, packet, hop),
            None => self.deliver(*packet),
        }
    }

    /// A packet has reached its end.
    #[inline(always)]
    pub(super) fn deliver(&mut self, mut packet: SimPacket) {
        self.net.delivered += 1;
        let end = self.net.routes[packet.flow.id()].end;
        match end {
            FlowEnd::Tcp(tcp) if packet.is_reverse() => self.deliver_to_sender(tcp, &packet),
            FlowEnd::Tcp(tcp) => self.deliver_to_receiver(tcp, &packet),
            FlowEnd::Udp(udp) => self.deliver_to_sink(udp, &packet),
            FlowEnd::Echo(udp) => self.deliver_to_echo(udp, &packet),
            FlowEnd::Outside(outside) => self.deliver_outside(outside, &packet),
            FlowEnd::Stream(tcp) => {
                if !self.stream_accepts(tcp, &mut packet) {
                    return;
                }
                if packet.is_reverse() {
                    self.deliver_to_sender(tcp, &packet);
                } else {
                    self.deliver_to_receiver(tcp, &packet);
                }
                self.after_stream_delivery(tcp, &packet);
            }
            FlowEnd::Session(_) => debug_assert!(false, "no packet is addressed to {end:?} here"),
        }
    }

    /// A UDP packet has reached its sink.
    fn deliver_to_sink(&mut self, udp: UdpId, packet: &SimPacket) {
        let source = &mut self.ends.sources[udp];
        source.delivered += 1;
        source.delivered_bytes += Bytes::new(u64::from(packet.ip_len)).get();
        let (now, sent) = (self.clock.now, packet.segment.timestamp);
        if let Some(watcher) = &mut source.watcher {
            watcher.hear(now, packet.segment.number, sent);
        }
        if self.figures.measuring {
            self.figures.add_one_way_delay(self.net.routes[packet.flow.id()].group, now.since(sent));
            if let Some(listener) = &mut source.listener {
                listener.hear(now, packet.segment.number, sent);
            }
        }
    }

    /// A probe has reached the sink, which sends it back, or its answer has reached the source.
    #[inline(never)]
    fn deliver_to_echo(&mut self, udp: UdpId, packet: &SimPacket) {
        let Segment { number, timestamp, .. } = packet.segment;
        let now = self.clock.now;
        let source = &mut self.ends.sources[udp];
        if packet.is_reverse() {
            source.delivered += 1;
            source.delivered_bytes += u64::from(packet.ip_len);
            if let Some(probes) = &mut source.probes {
                probes.answer(now, number, timestamp);
            }
            return;
        }
        // With FIN no queue takes the answer for an acknowledgement that the next one makes
        // superfluous.
        let answer = Segment { number, timestamp, flags: Flags::ACK.with(Flags::FIN), ..Segment::default() };
        let ecn = source.ecn;
        self.net.inject(now, packet.flow.id(), answer, packet.ip_len, ecn);
    }

    /// An acknowledgement has reached its sender.
    #[inline]
    fn deliver_to_sender(&mut self, tcp: TcpId, packet: &SimPacket) {
        let now = self.clock.now;
        let end = &mut self.ends.senders[tcp];
        end.sender.handle_ack(now, &packet.segment);
        if self.figures.measuring {
            let statistics = end.sender.statistics();
            if statistics.rtt_samples != end.rtt_samples {
                end.rtt_samples = statistics.rtt_samples;
                self.figures.group_rtt[self.ends.group_of_tcp[tcp]].add(statistics.last_rtt);
            }
        }
        let flow = packet.flow.id();
        self.poll_sender(tcp, flow);
        if self.ends.senders[tcp].sender.is_finished() {
            // Streams of sessions are not among the flows; their sessions record completions.
            if let Some(facts) = self.ends.flows.get_mut(flow)
                && facts.completed_at.is_none()
            {
                facts.completed_at = Some(now);
                self.set_flow_active(flow, false);
            }
        }
    }

    /// A data segment has reached its receiver.
    #[inline(always)]
    fn deliver_to_receiver(&mut self, tcp: TcpId, packet: &SimPacket) {
        let now = self.clock.now;
        let receiver = &mut self.ends.receivers[tcp].receiver;
        let routine = hot::handle_routine(receiver, now, &packet.segment, packet.ecn());
        let answer = match routine {
            Routine::Acknowledged(ack) => Some(ack),
            Routine::Held => None,
            Routine::Unusual => hot::handle_unusual(receiver, now, &packet.segment, packet.ecn()),
        };
        let ecn = receiver.codepoint();
        // No timer runs after a routine acknowledgement.
        if answer.is_none() || routine == Routine::Unusual {
            self.arm_receiver_timer(tcp);
        }
        if let Some(ack) = answer {
            self.send_segment(packet.flow.id(), ack, ecn);
        }
    }

    /// A packet has reached an end that is outside.
    #[cold]
    fn deliver_outside(&mut self, outside: OutsideId, packet: &SimPacket) {
        let flow = packet.flow.id();
        if self.ends.outside[outside].content == Content::Datagrams {
            self.count_datagram(outside, packet);
        } else if packet.is_reverse() {
            let ends = &mut self.ends.outside[outside];
            let complete = ends.size.is_some_and(|size| packet.segment.number >= size);
            let facts = &mut self.ends.flows[flow];
            if let Some(rtt) = ends.acknowledged(self.clock.now, &packet.segment)
                && self.figures.measuring
            {
                self.figures.group_rtt[facts.group].add(rtt);
            }
            if complete && facts.completed_at.is_none() {
                facts.completed_at = Some(self.clock.now);
                self.set_flow_active(flow, false);
            }
        }
        if let Some(ticket) = packet.ticket() {
            self.ends.arrived.push(Fate::Arrived { ticket, is_reverse: packet.is_reverse(), ecn: packet.ecn() });
        }
    }

    /// A datagram has reached an end that is outside.
    fn count_datagram(&mut self, outside: OutsideId, packet: &SimPacket) {
        if packet.is_reverse() {
            return;
        }
        let ends = &mut self.ends.outside[outside];
        if !ends.is_reported {
            ends.delivered_bytes += u64::from(packet.ip_len);
        }
        if self.figures.measuring {
            let group = self.net.routes[packet.flow.id()].group;
            self.figures.add_one_way_delay(group, self.clock.now.since(packet.segment.timestamp));
        }
    }
}
