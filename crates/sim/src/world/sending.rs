//! Senders and sources send, and timers fire.

use super::path::FlowEnd;
use super::state::World;
use crate::ids::{FlowId, TcpId, UdpId};
use crate::link::WireClass;
use crate::packet::{DsField, FlowLabel, SimPacket};
use crate::timers::Target;
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::hot;
use goodqueue_tcp::{Flags, Segment, Sender};

/// Packets that may wait at a UDP source's own access link; it drops the rest (Linux: txqueuelen
/// 1000).
const LOCAL_QUEUE_PACKETS: u64 = 1000;

impl World {
    /// Sets the timer of an end or a control event, not in the past.
    #[inline]
    pub(super) fn set_timer(&mut self, at: Instant, target: Target) {
        if self.ends.timers.set(at.max(self.clock.now), target) {
            self.net.set_host_timers(self.ends.timers.earliest());
        }
    }

    /// Sets a receiver's timer.
    pub(super) fn set_receiver_timer(&mut self, at: Instant, target: Target) {
        match &mut self.ends.late {
            // Its lane is scheduled when all that is due is taken.
            Some(late) => {
                let _ = late.timers.set(at.max(self.clock.now), target);
            }
            None => self.set_timer(at, target),
        }
    }

    /// Adds a flow to, or removes it from, the flows that could lose packets at the links on its
    /// way. Sessions' streams are counted instead of their flow.
    #[cold]
    pub(super) fn set_flow_active(&mut self, flow: FlowId, active: bool) {
        let facts = &mut self.ends.flows[flow];
        if facts.active != active && !matches!(facts.end, FlowEnd::Session(_)) {
            facts.active = active;
            self.net.count_active(flow, active);
        }
    }

    /// Sends what the sender may send now and its own access link takes, and sets its timer.
    #[inline(always)]
    pub(super) fn poll_sender(&mut self, tcp: TcpId, flow: FlowId) {
        let now = self.clock.now;
        if self.ends.senders[tcp].held_until <= now {
            self.poll_sender_granted(tcp, flow);
            let end = &self.ends.senders[tcp];
            if end.held_until <= now && hot::may_send(&end.sender) {
                self.poll_sender_rest(tcp, flow);
            }
        }
        let end = &mut self.ends.senders[tcp];
        let held_until = if end.held_until > now { end.held_until } else { Instant::MAX };
        let due = end.sender.next_timeout().map_or(held_until, |due| due.min(held_until));
        if due < end.timer_at {
            end.timer_at = due;
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
        let sender = &mut self.ends.senders[tcp].sender;
        let route = &net.routes[flow];
        let hop = net.path.hops[route.hops];
        let Some(wire) = hop.wire().filter(|_| !hop.joined) else { return };
        let wire = &mut net.path.wires[wire];
        let class = &mut net.path.classes[wire.class];
        let lane = &mut net.path.lanes[hop.lane];
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
                net.path.agenda.set(net.path.slots.lane(hop.lane), lane.due(at));
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
        let end = &mut self.ends.senders[tcp];
        hot::hold(&mut end.sender, self.clock.now);
        end.held_until = until;
    }

    /// Sends the segments that are not granted without checks.
    #[inline(never)]
    fn poll_sender_rest(&mut self, tcp: TcpId, flow: FlowId) {
        let now = self.clock.now;
        while let Some(out) = self.ends.senders[tcp].sender.poll_transmit(now) {
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
        let allowed = allowed_backlog(&self.ends.senders[tcp].sender, class);
        (backlog > allowed).then(|| wire.busy_until - allowed)
    }

    pub(super) fn sender_timer(&mut self, tcp: TcpId) {
        let now = self.clock.now;
        let end = &mut self.ends.senders[tcp];
        if end.timer_at > now {
            return;
        }
        end.timer_at = Instant::MAX;
        if end.sender.next_timeout().is_some_and(|due| due <= now) {
            end.sender.handle_timeout(now);
        }
        self.poll_sender(tcp, self.ends.flow_of_tcp[tcp]);
    }

    #[inline]
    pub(super) fn arm_receiver_timer(&mut self, tcp: TcpId) {
        let end = &mut self.ends.receivers[tcp];
        if let Some(due) = end.receiver.next_timeout()
            && due < end.timer_at
        {
            end.timer_at = due;
            self.set_receiver_timer(due, Target::Receiver(tcp));
        }
    }

    pub(super) fn receiver_timer(&mut self, tcp: TcpId) {
        let now = self.clock.now;
        let end = &mut self.ends.receivers[tcp];
        if end.timer_at > now {
            return;
        }
        end.timer_at = Instant::MAX;
        let ecn = end.receiver.codepoint();
        let mut ack = None;
        if end.receiver.next_timeout().is_some_and(|due| due <= now) {
            ack = end.receiver.handle_timeout(now);
        }
        self.arm_receiver_timer(tcp);
        if let Some(ack) = ack {
            self.send_segment(self.ends.flow_of_tcp[tcp], ack, ecn);
        }
    }

    /// A UDP source sends its next packet.
    pub(super) fn source_timer(&mut self, udp: UdpId) {
        let now = self.clock.now;
        let source = &mut self.ends.sources[udp];
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
        let flow = self.ends.flow_of_source[udp];
        let outrun = self
            .net
            .first_wire(flow)
            .is_some_and(|wire| wire.busy_until.since(now) > self.net.class_of(wire).packet_time() * LOCAL_QUEUE_PACKETS);
        if outrun {
            self.net.drop_at_end();
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
pub(super) fn ip_len_of(segment: &Segment, header: u16) -> u16 {
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
/// the window's scale, padded; SACK takes the place of the padding when timestamps are sent.
#[cold]
const fn handshake_options(header: u32) -> u32 {
    const PLAIN_HEADERS: u32 = 40;
    if header == PLAIN_HEADERS { 12 } else { 8 }
}
