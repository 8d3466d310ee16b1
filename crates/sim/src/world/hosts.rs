//! End hosts: starting and stopping flows, polling senders, delivering packets, keeping timers.

mod deferred_receivers;
mod prefetch;

use super::outside::{Fate, OutsideFlow};
use super::path::Host;
use super::sessions::{ChannelHost, SessionHost, Stream};
use super::{Control, World, measure};
use crate::ids::{ChannelId, ControlId, FlowId, GroupId, IdVec, LaneId, OutsideId, SessionId, StreamId, TcpId, UdpId};
use crate::lane::LaneExit;
use crate::link::WireClass;
use crate::packet::{DsField, FlowLabel, SimPacket};
use crate::session::{Action, Event};
use crate::timers::{Target, Timers};
use crate::traffic::UdpSource;
use deferred_receivers::DeferredReceivers;
use goodqueue_aqm::Packet;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rng};
use goodqueue_tcp::hot::{self, Routine};
use goodqueue_tcp::{Flags, Receiver, Segment, Sender};

/// Packets that may wait at a UDP source's own access link; it drops the rest (Linux: txqueuelen
/// 1000).
const LOCAL_QUEUE_PACKETS: u64 = 1000;

/// A TCP sender and its one lazy timer.
#[repr(C)]
pub(super) struct SenderHost {
    /// Time of the pending event; `MAX` when there is none.
    timer_at: Instant,
    /// Time before which its access link takes nothing more.
    pub(super) held_until: Instant,
    /// Round-trip times that the figures have counted.
    pub(super) rtt_samples: u64,
    pub(super) sender: Sender,
}

impl SenderHost {
    /// Length of the prefix of this struct that processing an ACK reads; used as the prefetch size.
    const TOUCHED: usize = std::mem::offset_of!(Self, sender) + hot::SENDER_PREFIX;
    /// Length of the prefix that a timer reads.
    const TOUCHED_BY_TIMER: usize = 3 * 64;

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
pub(super) struct ReceiverHost {
    timer_at: Instant,
    pub(super) receiver: Receiver,
}

impl ReceiverHost {
    /// Length of the prefix of this struct that processing a segment reads.
    const TOUCHED: usize = 3 * 64;

    pub(super) const fn new(receiver: Receiver) -> Self {
        Self { receiver, timer_at: Instant::MAX }
    }
}

/// The state of a flow besides its hot state.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) group: GroupId,
    pub(super) index: u32,
    pub(super) host: Host,
    pub(super) start: Instant,
    pub(super) weight: f64,
    pub(super) completed_at: Option<Instant>,
    /// Counts among the flows that are sending.
    pub(super) active: bool,
    pub(super) at_warmup: measure::FlowReading,
}

/// The ends of all flows, and their timers.
pub(super) struct Hosts {
    pub(super) timers: Timers,
    /// Receivers that take their packets late, in worlds that have them.
    late: Option<DeferredReceivers>,
    /// Whether the flows are so numerous that the state of most of them is not in the cache.
    pub(super) crowded: bool,
    pub(super) flows: IdVec<FlowId, Flow>,
    pub(super) senders: IdVec<TcpId, SenderHost>,
    pub(super) receivers: IdVec<TcpId, ReceiverHost>,
    pub(super) flow_of_tcp: IdVec<TcpId, FlowId>,
    pub(super) group_of_tcp: IdVec<TcpId, GroupId>,
    pub(super) sources: IdVec<UdpId, UdpSource>,
    pub(super) flow_of_source: IdVec<UdpId, FlowId>,
    pub(super) outside: IdVec<OutsideId, OutsideFlow>,
    /// Packets that have reached ends outside and are not yet fetched.
    pub(super) arrived: Vec<Fate>,
    pub(super) sessions: IdVec<SessionId, SessionHost>,
    pub(super) channels: IdVec<ChannelId, ChannelHost>,
    pub(super) streams: IdVec<StreamId, Stream>,
    /// Stream of each connection, as far as there are streams.
    pub(super) stream_of_tcp: IdVec<TcpId, Option<StreamId>>,
    /// Room for the actions of a session.
    pub(super) actions: Vec<Action>,
    pub(super) controls: IdVec<ControlId, Control>,
}

impl Hosts {
    pub(super) fn new(crowded: bool) -> Self {
        Self {
            timers: Timers::new(),
            late: None,
            crowded,
            flows: IdVec::new(),
            senders: IdVec::new(),
            receivers: IdVec::new(),
            flow_of_tcp: IdVec::new(),
            group_of_tcp: IdVec::new(),
            sources: IdVec::new(),
            flow_of_source: IdVec::new(),
            outside: IdVec::new(),
            arrived: Vec::new(),
            sessions: IdVec::new(),
            channels: IdVec::new(),
            streams: IdVec::new(),
            stream_of_tcp: IdVec::new(),
            actions: Vec::new(),
            controls: IdVec::new(),
        }
    }

    /// Adds the two ends of a connection.
    pub(super) fn add_connection(&mut self, sender: Sender, receiver: Receiver, flow: FlowId, group: GroupId) -> TcpId {
        self.receivers.push(ReceiverHost::new(receiver));
        self.flow_of_tcp.push(flow);
        self.group_of_tcp.push(group);
        self.senders.push(SenderHost::new(sender))
    }

    /// Whether nothing of these hosts forbids deferred processing.
    pub(super) fn allow_deferring(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.host, Host::Tcp(_) | Host::Udp(_) | Host::Echo(_)))
    }
}

/// Flows begin and end.
impl World {
    pub(super) fn start_flow(&mut self, flow: FlowId) {
        let host = self.hosts.flows[flow].host;
        self.set_flow_active(flow, true);
        match host {
            Host::Tcp(tcp) => {
                self.hosts.senders[tcp].sender.connect(self.clock.now);
                self.poll_sender_cold(tcp, flow);
            }
            Host::Session(session) => self.notify_session(session, Event::Start),
            Host::Stream(_) | Host::Outside(_) => {}
            Host::Udp(udp) | Host::Echo(udp) => {
                let at = self.hosts.sources[udp].first(self.clock.now);
                self.set_timer(at, Target::Source(udp));
            }
        }
    }

    pub(super) fn stop_flow(&mut self, flow: FlowId) {
        let host = self.hosts.flows[flow].host;
        self.set_flow_active(flow, false);
        match host {
            Host::Tcp(tcp) => {
                self.hosts.senders[tcp].sender.stop(self.clock.now);
                self.poll_sender_cold(tcp, flow);
            }
            Host::Session(session) => self.notify_session(session, Event::Stop),
            Host::Stream(_) | Host::Outside(_) => {}
            Host::Udp(udp) | Host::Echo(udp) => self.hosts.sources[udp].stopped = true,
        }
    }

    /// Adds a flow to, or removes it from, the flows that could lose packets at the links on its
    /// way. Sessions' streams are counted instead of their flow.
    #[cold]
    pub(super) fn set_flow_active(&mut self, flow: FlowId, active: bool) {
        let facts = &mut self.hosts.flows[flow];
        if facts.active != active && !matches!(facts.host, Host::Session(_)) {
            facts.active = active;
            self.net.count_active(flow, active);
        }
    }
}

/// Packets reach their ends.
impl World {
    /// The first packet of a lane has reached the lane's end.
    #[inline(always)]
    pub(super) fn lane_event(&mut self, lane: LaneId) {
        let now = self.clock.now;
        match self.net.lanes[lane].exit {
            LaneExit::End => {
                let packet = self.net.take_arrived(lane);
                if self.hosts.crowded {
                    self.hosts.prefetch_for(&self.net, lane);
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
    fn deliver(&mut self, mut packet: SimPacket) {
        self.net.delivered += 1;
        let host = self.net.routes[packet.flow.id()].host;
        match host {
            Host::Tcp(tcp) if packet.is_reverse() => self.deliver_to_sender(tcp, &packet),
            Host::Tcp(tcp) => self.deliver_to_receiver(tcp, &packet),
            Host::Udp(udp) => self.deliver_to_sink(udp, &packet),
            Host::Echo(udp) => self.deliver_to_echo(udp, &packet),
            Host::Outside(outside) => self.deliver_outside(outside, &packet),
            Host::Stream(tcp) => {
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
            Host::Session(_) => debug_assert!(false, "no packet is addressed to {host:?} here"),
        }
    }

    /// A UDP packet has reached its sink.
    fn deliver_to_sink(&mut self, udp: UdpId, packet: &SimPacket) {
        let source = &mut self.hosts.sources[udp];
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
        let source = &mut self.hosts.sources[udp];
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
        let host = &mut self.hosts.senders[tcp];
        host.sender.handle_ack(now, &packet.segment);
        if self.figures.measuring {
            let statistics = host.sender.statistics();
            if statistics.rtt_samples != host.rtt_samples {
                host.rtt_samples = statistics.rtt_samples;
                self.figures.group_rtt[self.hosts.group_of_tcp[tcp]].add(statistics.last_rtt);
            }
        }
        let flow = packet.flow.id();
        self.poll_sender(tcp, flow);
        if self.hosts.senders[tcp].sender.is_finished() {
            // Streams of sessions are not among the flows; their sessions record completions.
            if let Some(facts) = self.hosts.flows.get_mut(flow)
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
        let receiver = &mut self.hosts.receivers[tcp].receiver;
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
}

/// Senders and sources send, and timers fire.
impl World {
    /// Sends what the sender may send now and its own access link takes, and sets its timer.
    #[inline(always)]
    fn poll_sender(&mut self, tcp: TcpId, flow: FlowId) {
        let now = self.clock.now;
        if self.hosts.senders[tcp].held_until <= now {
            self.poll_sender_granted(tcp, flow);
            let host = &self.hosts.senders[tcp];
            if host.held_until <= now && hot::may_send(&host.sender) {
                self.poll_sender_rest(tcp, flow);
            }
        }
        let host = &mut self.hosts.senders[tcp];
        let held_until = if host.held_until > now { host.held_until } else { Instant::MAX };
        let due = host.sender.next_timeout().map_or(held_until, |due| due.min(held_until));
        if due < host.timer_at {
            host.timer_at = due;
            self.set_timer(due, Target::Sender(tcp));
        }
    }

    /// The out-of-line twin for rare callers; saves 1.1 % of a packet's instructions.
    #[inline(never)]
    pub(super) fn poll_sender_cold(&mut self, tcp: TcpId, flow: FlowId) {
        self.poll_sender(tcp, flow);
    }

    /// Sends the segments that the sender grants without further checks, which are most segments,
    /// if they leave by a wire that no fused wire follows.
    // Does inline what `send_segment`, `inject`, `cross_wire` and `leave_hop` do, with all that
    // does not change from segment to segment outside of the loop: 2.4 % of a packet's
    // instructions.
    #[inline(always)]
    fn poll_sender_granted(&mut self, tcp: TcpId, flow: FlowId) {
        let now = self.clock.now;
        let net = &mut self.net;
        let sender = &mut self.hosts.senders[tcp].sender;
        let route = &net.routes[flow];
        let hop = net.hops[route.hops];
        let Some(wire) = hop.wire().filter(|_| !hop.joined) else { return };
        let wire = &mut net.wires[wire];
        let class = &mut net.classes[wire.class];
        let lane = &mut net.lanes[hop.lane];
        let flow = FlowLabel::new(flow, route.mark);
        // A backlog above two packets needs the exact limit, once for all that leaves together.
        let (mut allowed, mut exact) = (class.two_packets, false);
        let full_until = loop {
            let Some(out) = hot::poll_granted(sender, now) else { return };
            let ip_len = out.segment.payload + route.header;
            let ds = DsField::new(route.class, out.ecn);
            let at = wire.exit_time(class, now, ip_len);
            net.entered += 1;
            if lane.push(at, 1, || SimPacket { segment: out.segment, flow, ip_len, ds, hop: 0 }) {
                net.agenda.set(net.slots.lane(hop.lane), lane.due(at));
            }
            let backlog = wire.busy_until.since(now);
            if backlog > allowed && !std::mem::replace(&mut exact, true) {
                allowed = allowed_backlog(sender, class);
            }
            if backlog > allowed {
                break wire.busy_until - allowed;
            }
        };
        self.hold_sender(tcp, full_until);
    }

    /// Makes a sender wait until then.
    fn hold_sender(&mut self, tcp: TcpId, until: Instant) {
        let host = &mut self.hosts.senders[tcp];
        hot::hold(&mut host.sender, self.clock.now);
        host.held_until = until;
    }

    /// Sends the segments that are not granted without checks.
    #[inline(never)]
    fn poll_sender_rest(&mut self, tcp: TcpId, flow: FlowId) {
        let now = self.clock.now;
        while let Some(out) = self.hosts.senders[tcp].sender.poll_transmit(now) {
            self.send_segment(flow, out.segment, out.ecn);
            if let Some(until) = self.access_link_full(tcp, flow) {
                self.hold_sender(tcp, until);
                break;
            }
        }
    }

    /// Returns when the sender may send again if its access link already holds more than the
    /// small-queue limit; `None` if it may send now.
    #[inline(always)]
    fn access_link_full(&self, tcp: TcpId, flow: FlowId) -> Option<Instant> {
        let wire = self.net.first_wire(flow)?;
        let class = self.net.class_of(wire);
        let backlog = wire.busy_until.since(self.clock.now);
        if backlog <= class.two_packets {
            return None;
        }
        let allowed = allowed_backlog(&self.hosts.senders[tcp].sender, class);
        (backlog > allowed).then(|| wire.busy_until - allowed)
    }

    pub(super) fn sender_timer(&mut self, tcp: TcpId) {
        let now = self.clock.now;
        let host = &mut self.hosts.senders[tcp];
        if host.timer_at > now {
            return;
        }
        host.timer_at = Instant::MAX;
        if host.sender.next_timeout().is_some_and(|due| due <= now) {
            host.sender.handle_timeout(now);
        }
        self.poll_sender(tcp, self.hosts.flow_of_tcp[tcp]);
    }

    #[inline]
    fn arm_receiver_timer(&mut self, tcp: TcpId) {
        let host = &mut self.hosts.receivers[tcp];
        if let Some(due) = host.receiver.next_timeout()
            && due < host.timer_at
        {
            host.timer_at = due;
            self.set_receiver_timer(due, Target::Receiver(tcp));
        }
    }

    pub(super) fn receiver_timer(&mut self, tcp: TcpId) {
        let now = self.clock.now;
        let host = &mut self.hosts.receivers[tcp];
        if host.timer_at > now {
            return;
        }
        host.timer_at = Instant::MAX;
        let ecn = host.receiver.codepoint();
        let mut ack = None;
        if host.receiver.next_timeout().is_some_and(|due| due <= now) {
            ack = host.receiver.handle_timeout(now);
        }
        self.arm_receiver_timer(tcp);
        if let Some(ack) = ack {
            self.send_segment(self.hosts.flow_of_tcp[tcp], ack, ecn);
        }
    }

    /// A UDP source sends its next packet.
    pub(super) fn source_timer(&mut self, udp: UdpId) {
        let now = self.clock.now;
        let source = &mut self.hosts.sources[udp];
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
        self.set_timer(next, Target::Source(udp));
        let flow = self.hosts.flow_of_source[udp];
        let outrun = self
            .net
            .first_wire(flow)
            .is_some_and(|wire| wire.busy_until.since(now) > self.net.class_of(wire).packet_time() * LOCAL_QUEUE_PACKETS);
        if outrun {
            self.net.drop_at_host();
        } else {
            self.net.inject(now, flow, segment, ip_len, ecn);
        }
    }

    /// Makes a packet of a TCP segment and puts it on the first hop of its way.
    // Wholly inlined: a packet that is put together from small parts and read again as a whole at
    // once would defeat store forwarding.
    #[inline(always)]
    pub(super) fn send_segment(&mut self, flow: FlowId, segment: Segment, ecn: Ecn) {
        let ip_len = ip_len_of(&segment, self.net.routes[flow].header);
        self.net.inject(self.clock.now, flow, segment, ip_len, ecn);
    }
}

/// The IP length of a segment's packet, given the length of its usual headers.
#[inline(always)]
fn ip_len_of(segment: &Segment, header: u16) -> u16 {
    let header = u32::from(header);
    // The largest segment is checked against 64 KiB when the world is built.
    let options = if segment.flags.has(Flags::SYN) { handshake_options(header) } else { 0 };
    (u32::from(segment.data_len()) + header + options) as u16
}

/// The backlog on its own access link up to which a sender may send more.
///
/// Linux's small-queue rule: at most two packets, or a millisecond at the rate the connection is
/// sending at (its pacing rate; without one, twice the window per round trip in slow start, 1.2
/// times after it). Without it a window larger than the path would wait in the host's own queue,
/// where no host keeps it.
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

/// Bytes of options that a SYN carries beyond those of every segment: the segment size, SACK and
/// the window's scale, padded; SACK takes the place of the padding beside timestamps.
#[cold]
const fn handshake_options(header: u32) -> u32 {
    const PLAIN_HEADERS: u32 = 40;
    if header == PLAIN_HEADERS { 12 } else { 8 }
}
