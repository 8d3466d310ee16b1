//! End hosts: starting and stopping flows, handing segments to senders and receivers, keeping their timers.

use super::{ELEMENT, Hop, HostKind, WIRE, World};
use crate::link::WireClass;
use crate::packet::{DsField, FlowId, SimPacket};
use crate::session::Event;
use crate::timers::Target;
use goodqueue_aqm::Packet;
use goodqueue_tcp::{Flags, Routine, Segment, Sender};
use goodqueue_units::{Duration, Ecn, Instant};

/// A UDP source that outruns its own access link loses what does not fit into this many packets (Linux: txqueuelen 1000).
const LOCAL_QUEUE_PACKETS: u64 = 1000;

impl World {
    pub(super) fn start_flow(&mut self, flow: u32) {
        let facts = &self.flows[flow as usize];
        let slot = facts.slot;
        let kind = facts.kind;
        if kind != HostKind::Session {
            self.count_active(flow, true);
        }
        match kind {
            HostKind::Tcp => {
                self.senders[slot as usize].sender.connect(self.now);
                self.transmit_now_and_then(slot, flow);
            }
            HostKind::Session => self.tell(slot, Event::Start),
            HostKind::Stream | HostKind::Outside => {}
            HostKind::Udp | HostKind::Echo => {
                let at = self.sources[slot as usize].first(self.now);
                self.set_timer(at, Target::Source(slot));
            }
        }
    }

    /// A flow begins or ends to be one of those that could lose something at the links on its way.
    #[cold]
    pub(super) fn count_active(&mut self, flow: u32, active: bool) {
        let facts = &mut self.flows[flow as usize];
        if facts.active == active {
            return;
        }
        facts.active = active;
        self.add_active(flow, active);
    }

    /// The same for a flow that is known to change.
    pub(super) fn add_active(&mut self, flow: u32, active: bool) {
        let (base, len) = self.routes[flow as usize].way(false);
        for hop in &self.hops[base as usize..base as usize + usize::from(len)] {
            if hop.element & WIRE == 0 {
                let count = &mut self.tap.losses[hop.element as usize].active;
                *count = if active { *count + 1 } else { *count - 1 };
            }
        }
    }

    pub(super) fn stop_flow(&mut self, flow: u32) {
        let facts = &self.flows[flow as usize];
        let slot = facts.slot;
        let kind = facts.kind;
        if kind != HostKind::Session {
            self.count_active(flow, false);
        }
        match kind {
            HostKind::Tcp => {
                self.senders[slot as usize].sender.stop(self.now);
                self.transmit_now_and_then(slot, flow);
            }
            HostKind::Session => self.tell(slot, Event::Stop),
            HostKind::Stream | HostKind::Outside => {}
            HostKind::Udp | HostKind::Echo => self.sources[slot as usize].stopped = true,
        }
    }

    /// An acknowledgement has reached its sender.
    #[inline]
    pub(super) fn sender_receives(&mut self, slot: u32, packet: &SimPacket) {
        let now = self.now;
        let host = &mut self.senders[slot as usize];
        host.sender.handle_ack(now, &packet.segment);
        if self.measuring {
            let statistics = host.sender.statistics();
            if statistics.rtt_samples != host.rtt_samples {
                host.rtt_samples = statistics.rtt_samples;
                let group = self.group_of_sender[slot as usize] as usize;
                self.group_rtt[group].add(statistics.last_rtt);
            }
        }
        self.transmit(slot, packet.flow.number());
        if self.senders[slot as usize].sender.is_finished() {
            // Streams of sessions are not among the flows; their sessions note what is complete.
            if let Some(facts) = self.flows.get_mut(packet.flow.index())
                && facts.completed_at.is_none()
            {
                facts.completed_at = Some(now);
                self.count_active(packet.flow.number(), false);
            }
        }
    }

    /// Sends whatever the sender wants to send now and its own access link takes, and keeps its timer.
    #[inline(always)]
    pub(super) fn transmit(&mut self, slot: u32, flow: u32) {
        let now = self.now;
        if self.senders[slot as usize].held_until <= now {
            self.launch_granted(slot, flow);
            let host = &self.senders[slot as usize];
            if host.held_until <= now && host.sender.may_send() {
                self.launch_carefully(slot, flow);
            }
        }
        let host = &mut self.senders[slot as usize];
        let held_until = if host.held_until > now { host.held_until } else { Instant::MAX };
        let due = host.sender.next_timeout().map_or(held_until, |due| due.min(held_until));
        if due < host.timer_at {
            host.timer_at = due;
            self.set_timer(due, Target::Sender(slot));
        }
    }

    /// The same as [`transmit`](Self::transmit) for what happens less often.
    #[inline(never)]
    pub(super) fn transmit_now_and_then(&mut self, slot: u32, flow: u32) {
        self.transmit(slot, flow);
    }

    /// Sends what may leave without further questions, if it leaves by a wire and nothing else is passed at once with that: the bulk of all
    /// segments.
    #[inline(always)]
    fn launch_granted(&mut self, slot: u32, flow: u32) {
        let now = self.now;
        let sender = &mut self.senders[slot as usize].sender;
        let route = &self.routes[flow as usize];
        let Hop { element, lane, joined } = self.hops[route.hops as usize];
        if element & WIRE == 0 || joined {
            return;
        }
        let wire = &mut self.wires[(element & ELEMENT) as usize];
        let class = &mut self.wire_classes[usize::from(wire.class)];
        let ring = &mut self.lanes[lane as usize];
        let flow = FlowId::new(flow, route.host);
        // More on its own access link needs a closer look, once for all that leaves together.
        let (mut allowed, mut looked) = (class.two_packets, false);
        let full_until = loop {
            let Some(out) = sender.poll_granted(now) else { return };
            let ip_len = out.segment.payload + route.header;
            let ds = DsField::new(route.class, out.ecn);
            let at = wire.pass(class, now, ip_len);
            self.launched += 1;
            if ring.push(at, SimPacket { segment: out.segment, flow, ip_len, ds, hop: 0 }, 1) {
                self.agenda.set(self.slots.lane(lane), at + ring.lag);
            }
            let backlog = wire.busy_until.since(now);
            if backlog > allowed && !std::mem::replace(&mut looked, true) {
                allowed = allowed_backlog(sender, class);
            }
            if backlog > allowed {
                break wire.busy_until - allowed;
            }
        };
        self.hold_until(slot, full_until);
    }

    /// Makes a sender wait until then.
    fn hold_until(&mut self, slot: u32, until: Instant) {
        let host = &mut self.senders[slot as usize];
        host.sender.hold(self.now);
        host.held_until = until;
    }

    /// Sends the rest.
    #[inline(never)]
    fn launch_carefully(&mut self, slot: u32, flow: u32) {
        let now = self.now;
        let wire = self.first_wire(flow);
        while let Some(out) = self.senders[slot as usize].sender.poll_transmit(now) {
            self.emit(flow, out.segment, out.ecn);
            if let Some(until) = self.local_queue_full(slot, wire) {
                self.hold_until(slot, until);
                break;
            }
        }
    }

    /// Has the sender put so much on its own access link that the rest had better wait in the socket? Until when?
    #[inline(always)]
    fn local_queue_full(&self, slot: u32, wire: Option<u32>) -> Option<Instant> {
        let wire = &self.wires[wire? as usize];
        let class = &self.wire_classes[usize::from(wire.class)];
        let backlog = wire.busy_until.since(self.now);
        if backlog <= class.two_packets {
            return None;
        }
        let allowed = allowed_backlog(&self.senders[slot as usize].sender, class);
        (backlog > allowed).then(|| wire.busy_until - allowed)
    }

    /// The number of the wire that takes a flow's packets first, if it is one.
    #[inline]
    fn first_wire(&self, flow: u32) -> Option<u32> {
        let element = self.hops[self.routes[flow as usize].hops as usize].element;
        if element & WIRE == 0 { None } else { Some(element & ELEMENT) }
    }

    pub(super) fn sender_timer(&mut self, slot: u32) {
        let now = self.now;
        let host = &mut self.senders[slot as usize];
        if host.timer_at > now {
            return;
        }
        host.timer_at = Instant::MAX;
        if host.sender.next_timeout().is_some_and(|due| due <= now) {
            host.sender.handle_timeout(now);
        }
        let flow = self.flow_of_slot[slot as usize];
        self.transmit(slot, flow);
    }

    /// A data segment has reached its receiver.
    #[inline(always)]
    pub(super) fn receiver_receives(&mut self, slot: u32, packet: SimPacket) {
        let now = self.now;
        let receiver = &mut self.receivers[slot as usize].receiver;
        match receiver.handle_routine(now, &packet.segment, packet.ecn()) {
            Routine::Unusual => self.receiver_looks_closer(slot, packet),
            Routine::Held => self.keep_receiver_timer(slot),
            // Then no timer runs.
            Routine::Acknowledged(ack) => {
                let ecn = receiver.codepoint();
                self.emit(packet.flow.number(), ack, ecn);
            }
        }
    }

    /// A segment that is not one of the bulk of all segments. By value: the others never stand in memory.
    #[inline(never)]
    fn receiver_looks_closer(&mut self, slot: u32, packet: SimPacket) {
        let receiver = &mut self.receivers[slot as usize].receiver;
        let ack = receiver.handle_unusual(self.now, &packet.segment, packet.ecn());
        let ecn = receiver.codepoint();
        self.keep_receiver_timer(slot);
        if let Some(ack) = ack {
            self.emit(packet.flow.number(), ack, ecn);
        }
    }

    #[inline]
    fn keep_receiver_timer(&mut self, slot: u32) {
        let host = &mut self.receivers[slot as usize];
        if let Some(due) = host.receiver.next_timeout()
            && due < host.timer_at
        {
            host.timer_at = due;
            self.set_timer(due, Target::Receiver(slot));
        }
    }

    pub(super) fn receiver_timer(&mut self, slot: u32) {
        let now = self.now;
        let host = &mut self.receivers[slot as usize];
        if host.timer_at > now {
            return;
        }
        host.timer_at = Instant::MAX;
        let ecn = host.receiver.codepoint();
        let mut ack = None;
        if host.receiver.next_timeout().is_some_and(|due| due <= now) {
            ack = host.receiver.handle_timeout(now);
        }
        if let Some(due) = host.receiver.next_timeout() {
            host.timer_at = due;
            self.set_timer(due, Target::Receiver(slot));
        }
        if let Some(ack) = ack {
            let flow = self.flow_of_slot[slot as usize];
            self.emit_now_and_then(flow, ack, ecn);
        }
    }

    /// A UDP source sends its next packet.
    pub(super) fn source_emits(&mut self, slot: u32) {
        let now = self.now;
        let source = &mut self.sources[slot as usize];
        if source.stopped {
            return;
        }
        let segment = Segment { number: source.sent, timestamp: now, ..Segment::default() };
        source.sent += 1;
        if let Some(probes) = &mut source.probes {
            probes.send(now);
        }
        let (ip_len, ecn) = (source.ip_len(), source.ecn);
        let next = source.next(now);
        self.set_timer(next, Target::Source(slot));
        let flow = self.flow_of_source[slot as usize];
        let outrun = self.first_wire(flow).is_some_and(|wire| {
            let wire = &self.wires[wire as usize];
            let class = &self.wire_classes[usize::from(wire.class)];
            wire.busy_until.since(now) > class.packet_time() * LOCAL_QUEUE_PACKETS
        });
        if outrun {
            self.launched += 1;
            self.wire_losses += 1;
            return;
        }
        self.launch(flow, segment, ip_len, ecn);
    }

    /// A probe has reached the sink, which sends it back, or its answer has reached the source.
    #[inline(never)]
    pub(super) fn echo_takes(&mut self, slot: u32, packet: &SimPacket) {
        let Segment { number, timestamp, .. } = packet.segment;
        let source = &mut self.sources[slot as usize];
        if packet.is_reverse() {
            source.delivered += 1;
            source.delivered_bytes += u64::from(packet.ip_len);
            if let Some(probes) = &mut source.probes {
                probes.answer(self.now, number, timestamp);
            }
            return;
        }
        // No queue takes what says FIN for an acknowledgement that the next one makes superfluous.
        let answer = Segment { number, timestamp, flags: Flags::ACK.with(Flags::FIN), ..Segment::default() };
        let ecn = source.ecn;
        self.launch(packet.flow.number(), answer, packet.ip_len, ecn);
    }

    /// The same as [`emit`](Self::emit) for what happens less often.
    #[inline(never)]
    pub(super) fn emit_now_and_then(&mut self, flow: u32, segment: Segment, ecn: Ecn) {
        self.emit(flow, segment, ecn);
    }

    /// Wraps a TCP segment into a packet and puts it on the first link of its way.
    // Wholly inlined: a packet put together from small parts and read again as a whole at once is read slowly.
    #[inline(always)]
    fn emit(&mut self, flow: u32, segment: Segment, ecn: Ecn) {
        let header = u32::from(self.routes[flow as usize].header);
        // The largest segment is checked against 64 KiB when the world is built.
        let options = if segment.flags.has(Flags::SYN) { handshake_options(header) } else { 0 };
        let ip_len = (u32::from(segment.data_len()) + header + options) as u16;
        self.launch(flow, segment, ip_len, ecn);
    }

    #[inline(always)]
    fn launch(&mut self, flow: u32, segment: Segment, ip_len: u16, ecn: Ecn) {
        self.launched += 1;
        let route = &self.routes[flow as usize];
        let packet =
            SimPacket { segment, flow: FlowId::new(flow, route.host), ip_len, ds: DsField::new(route.class, ecn), hop: 0 };
        let place = route.place(packet.is_reverse(), 0);
        let element = self.hops[place as usize].element;
        if element & WIRE == 0 {
            self.enqueue(element, packet);
        } else {
            self.pass_wire(&packet, place, self.now);
        }
    }
}

/// As long as what a sender has put on its own access link is not longer, more may follow.
///
/// Linux's small-queue rule: at most two packets, or a millisecond at the rate the connection is sending at (its pacing rate; without one,
/// twice window per round trip in slow start, 1.2 times after it). Without it a window larger than the path would stand in the host's
/// own queue, where no host keeps it.
#[inline(never)]
fn allowed_backlog(sender: &Sender, class: &WireClass) -> Duration {
    let sending_bit_s = match (sender.pacing_rate(), sender.srtt()) {
        (Some(rate), _) => rate.as_bit_s() as f64,
        (None, Some(srtt)) => {
            let gain = if sender.cwnd().get() < sender.ssthresh().get() / 2 { 2.0 } else { 1.2 };
            gain * sender.cwnd().bits() as f64 / srtt.as_secs_f64()
        }
        (None, None) => return Duration::MAX,
    };
    let rate_share = sending_bit_s / class.rate.as_bit_s() as f64;
    Duration::ms(1).mul_f64(rate_share).max(class.two_packets)
}

/// Bytes of options that opening a connection takes beyond those of every segment: the segment size, SACK and the window's scale, padded; of these
/// SACK takes the place of the padding beside timestamps.
#[cold]
const fn handshake_options(header: u32) -> u32 {
    const PLAIN_HEADERS: u32 = 40;
    if header == PLAIN_HEADERS { 12 } else { 8 }
}
