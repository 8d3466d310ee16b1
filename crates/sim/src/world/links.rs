//! Packets moving through lanes, wires and links.

use super::{ELEMENT, Hop, HostKind, ReceiverHost, Route, SenderHost, WIRE, World};
use crate::lane::Stop;
use crate::link::Link;
use crate::packet::SimPacket;
use crate::probe::{sojourn_line, wire_bytes};
use crate::rate::RateProcess;
use crate::sys::fetch_ahead;
use goodqueue_aqm::{AnyQdisc, Departure, NoSink, Qdisc, QueueView};
use goodqueue_trace::TimeCounts;
use goodqueue_units::{Bytes, Instant, Packets, Rate};

impl Link {
    pub(super) fn qdisc_set_rate(&mut self, now: Instant, rate: Rate) {
        self.qdisc.set_link_rate(now, Some(rate));
    }

    /// Counts a packet whose transmission starts now and ends at `end`.
    #[inline(always)]
    fn started(&mut self, now: Instant, departure: &Departure<SimPacket>, group: u16, end: Instant) {
        let size = wire_bytes(&departure.packet, self.overhead).get();
        let line = sojourn_line(group, departure.packet.is_reverse());
        self.probe.departed(now, line, departure.sojourn(now), end, size);
    }

    /// Does nothing wait any more, when this waited before a packet was taken?
    #[inline(always)]
    fn is_empty_after(&self, before: QueueView) -> bool {
        match self.qdisc {
            AnyQdisc::TailDrop(_) => before.packets <= Packets::new(1),
            _ => self.waiting().packets == Packets::ZERO,
        }
    }
}

impl World {
    /// The first packet of a lane has reached the lane's end.
    #[inline(always)]
    pub(super) fn lane_head(&mut self, lane: u32) {
        match self.lanes[lane as usize].stop {
            Stop::End => {
                let packet = self.take_first(lane);
                if self.crowded {
                    self.fetch_next_hosts(lane);
                }
                self.deliver(packet);
            }
            Stop::Queue(link) => {
                let packet = self.take_first(lane);
                self.enqueue(link, packet);
            }
            Stop::Varied | Stop::Unknown => {
                let packet = self.take_first(lane);
                self.arrive(&packet);
            }
            Stop::LateQueue => self.work_off(),
            Stop::LateWire => self.pass_late(lane),
        }
    }

    /// Has what the next packets' hosts need for them brought into the cache: of the second one its host, and of the first one, whose host has come
    /// meanwhile, what that points to.
    #[inline(always)]
    fn fetch_next_hosts(&self, lane: u32) {
        let lane = &self.lanes[lane as usize];
        lane.fetch_ahead();
        if let Some(packet) = lane.peek(0)
            && packet.is_reverse()
            && let Some(slot) = self.tcp_slot(packet)
        {
            self.senders[slot].sender.records().into_iter().for_each(|record| fetch_ahead(record, 1));
        }
        if let Some(packet) = lane.peek(1)
            && let Some(slot) = self.tcp_slot(packet)
        {
            if packet.is_reverse() {
                fetch_ahead(&self.senders[slot], SenderHost::TOUCHED);
            } else {
                fetch_ahead(&self.receivers[slot], ReceiverHost::TOUCHED);
            }
        }
    }

    /// The place of a packet's hosts among those of TCP.
    #[inline(always)]
    fn tcp_slot(&self, packet: &SimPacket) -> Option<usize> {
        let Route { kind, slot, .. } = self.routes[packet.flow.index()];
        matches!(kind, HostKind::Tcp | HostKind::Stream).then_some(slot as usize)
    }

    /// Takes the first packet from a lane.
    #[inline(always)]
    pub(super) fn take_first(&mut self, lane: u32) -> SimPacket {
        let (packet, next) = self.lanes[lane as usize].pop();
        self.agenda.set(self.slots.lane(lane), next);
        packet
    }

    /// `packet` is where its hop count says: at a link, at a wire that others feed too, or at its end.
    #[inline]
    pub(super) fn arrive(&mut self, packet: &SimPacket) {
        let (base, len) = self.routes[packet.flow.index()].way(packet.is_reverse());
        if packet.hop == len {
            self.deliver(*packet);
            return;
        }
        let place = base + u32::from(packet.hop);
        let element = self.hops[place as usize].element;
        if element & WIRE == 0 {
            self.enqueue(element, *packet);
        } else {
            self.pass_wire(packet, place, self.now);
        }
    }

    /// `packet` is at a wire, which is `place` of the hops, at `from`.
    #[inline(always)]
    pub(super) fn pass_wire(&mut self, packet: &SimPacket, place: u32, from: Instant) {
        let at = self.pass(self.hops[place as usize].element, from, packet.ip_len);
        self.go_on(packet, place, at);
    }

    /// When a packet that arrives at a wire at `arrival` reaches its far end.
    #[inline(always)]
    fn pass(&mut self, element: u32, arrival: Instant, ip_len: u16) -> Instant {
        let wire = &mut self.wires[(element & ELEMENT) as usize];
        let class = &mut self.wire_classes[usize::from(wire.class)];
        wire.pass(class, arrival, ip_len)
    }

    /// `packet` reaches the far end of its hop, which is `place` of the hops, at `at`. Wires that only this one feeds are passed at once; then
    /// the packet enters the lane.
    #[inline(always)]
    fn go_on(&mut self, packet: &SimPacket, place: u32, at: Instant) {
        let Hop { lane, mut joined, .. } = self.hops[place as usize];
        let (mut at, mut place, mut hop) = (at, place as usize, packet.hop + 1);
        while joined {
            place += 1;
            let next = self.hops[place];
            at = self.pass(next.element, at, packet.ip_len);
            joined = next.joined;
            hop += 1;
        }
        let ring = &mut self.lanes[lane as usize];
        if ring.push(at, *packet, hop) {
            self.agenda.set(self.slots.lane(lane), at + ring.lag);
        }
    }

    /// `packet` has left link `index`'s transmitter at `end`, unless the wire loses it.
    #[inline(always)]
    fn send_off(&mut self, index: u32, packet: &SimPacket, end: Instant) {
        let link = &self.links[index as usize];
        let at = end + link.delay;
        if link.loss > 0.0 && self.loses(index, packet) {
            return;
        }
        let place = self.routes[packet.flow.index()].place(packet.is_reverse(), packet.hop);
        self.go_on(packet, place, at);
    }

    /// Does the wire behind link `index` lose this packet?
    #[inline(never)]
    fn loses(&mut self, index: u32, packet: &SimPacket) -> bool {
        let link = &mut self.links[index as usize];
        let lost = link.rng.fires(link.loss);
        if lost {
            self.wire_losses += 1;
            self.tap.forget(packet);
        }
        lost
    }

    /// A packet arrives at a link's queue.
    // Apart and by value, so that a host's packet for a wire needs no memory of its own.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, index: u32, packet: SimPacket) {
        self.enqueue_here(index, packet);
    }

    /// The same where it happens most often.
    #[inline(always)]
    pub(super) fn enqueue_here(&mut self, index: u32, packet: SimPacket) {
        let now = self.now;
        let link = &mut self.links[index as usize];
        let tap = &mut self.tap;
        tap.aim(now, index, link.probe.observed);
        if link.idle_unsaid {
            link.idle_unsaid = false;
            if link.busy_until <= now {
                let none = link.qdisc.dequeue(link.busy_until, &mut NoSink);
                debug_assert!(none.is_none(), "the queue was empty");
            }
        }
        link.probe.integral.advance(now, link.waiting());
        tap.enqueued(&packet);
        link.enqueue(now, packet, tap);
        if self.flow_control {
            self.silence_feeders(index);
        }
        if self.agenda.is_free(self.slots.service(index)) {
            self.wake(index);
            if self.flow_control {
                self.release_feeders(index);
            }
        }
        self.arm_queue_timer(index);
    }

    /// Sees to it that a link without a pending service event serves what waits.
    #[inline]
    fn wake(&mut self, index: u32) {
        let now = self.now;
        let link = &mut self.links[index as usize];
        if self.flow_control && link.silenced_by > 0 && link.transit.is_none() {
            return;
        }
        if let RateProcess::Trace(cursor) = &mut link.rate {
            let at = cursor.next_after(now).0;
            self.agenda.set(self.slots.service(index), at);
        } else if link.busy_until <= now {
            self.serve_at_once(index);
        } else {
            self.agenda.set(self.slots.service(index), link.busy_until);
        }
    }

    /// A link's service event.
    #[inline(always)]
    pub(super) fn service(&mut self, index: u32) {
        if matches!(self.links[index as usize].rate, RateProcess::Trace(_)) {
            self.agenda.set(self.slots.service(index), Instant::MAX);
            self.serve_opportunity(index);
        } else {
            self.serve(index);
        }
        self.arm_queue_timer(index);
        if self.flow_control {
            self.release_feeders(index);
        }
    }

    /// If the queue of a link is as full as it may be, links that lead there take no further packet.
    #[cold]
    fn silence_feeders(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        let Some(pressure) = link.pressure.as_mut().filter(|pressure| !pressure.on && pressure.is_due(link.qdisc.view())) else {
            return;
        };
        pressure.on = true;
        for feeder in pressure.feeders.clone() {
            self.links[feeder as usize].silenced_by += 1;
        }
    }

    /// If there is room again, links that were silenced may go on.
    #[cold]
    fn release_feeders(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        let Some(pressure) = link.pressure.as_mut().filter(|pressure| pressure.on && !pressure.is_due(link.qdisc.view())) else {
            return;
        };
        pressure.on = false;
        for feeder in pressure.feeders.clone() {
            let waiting = &mut self.links[feeder as usize];
            waiting.silenced_by -= 1;
            let wakes = waiting.silenced_by == 0 && waiting.qdisc.view().packets > Packets::ZERO;
            if wakes && self.agenda.at(self.slots.service(feeder)) == Instant::MAX {
                self.wake(feeder);
                self.arm_queue_timer(feeder);
                self.release_feeders(feeder);
            }
        }
    }

    /// The same as [`serve`](Self::serve) for a packet that need not wait.
    #[inline(never)]
    fn serve_at_once(&mut self, index: u32) {
        self.serve(index);
    }

    /// The transmitter is free: takes the next packet and starts sending it.
    #[inline(always)]
    fn serve(&mut self, index: u32) {
        let now = self.now;
        let link = &mut self.links[index as usize];
        if self.flow_control && link.silenced_by > 0 {
            self.agenda.set(self.slots.service(index), Instant::MAX);
            return;
        }
        let tap = &mut self.tap;
        tap.aim(now, index, link.probe.observed);
        link.idle_unsaid = false;
        let service = self.slots.service(index);
        let waiting = link.waiting();
        link.probe.integral.advance(now, waiting);
        let departure = link.dequeue(now, tap);
        // Looked at where it lies: a packet is moved once, into the lane.
        let Some(departure) = &departure else {
            self.agenda.set(service, Instant::MAX);
            return;
        };
        let packet = &departure.packet;
        let end = link.rate.end_of(now, wire_bytes(packet, link.overhead));
        link.busy_until = end;
        link.started(now, departure, self.routes[packet.flow.index()].group, end);
        tap.departed(packet, departure.sojourn(now));
        // A queue with a timer must hear of idleness in order of time; others are told before their next arrival.
        let empty = link.is_empty_after(waiting);
        if end == Instant::MAX {
            // The link stays down for ever: the packet is stuck in the transmitter.
            link.transit = Some((*packet, Bytes::ZERO));
            self.agenda.set(service, Instant::MAX);
            return;
        }
        link.idle_unsaid = empty;
        let told_in_time = !empty || !self.agenda.is_free(self.slots.queue_timer(index));
        self.agenda.set(service, if told_in_time { end } else { Instant::MAX });
        self.send_off(index, packet, end);
    }

    /// A packet whose transmission would never have ended goes on at the rate there is now.
    pub(super) fn unstick(&mut self, index: u32) {
        let now = self.now;
        let link = &mut self.links[index as usize];
        let Some((packet, _)) = link.transit.take() else { return };
        let end = link.rate.end_of(now, wire_bytes(&packet, link.overhead));
        link.busy_until = end;
        if end == Instant::MAX {
            link.transit = Some((packet, Bytes::ZERO));
            return;
        }
        self.agenda.set(self.slots.service(index), end);
        self.send_off(index, &packet, end);
    }

    /// A delivery opportunity of a recorded link: sends as many bytes as it carries; what is not used is lost.
    fn serve_opportunity(&mut self, index: u32) {
        let now = self.now;
        let mut budget = {
            let RateProcess::Trace(cursor) = &mut self.links[index as usize].rate else { return };
            cursor.take_at(now)
        };
        loop {
            let link = &mut self.links[index as usize];
            let tap = &mut self.tap;
            tap.aim(now, index, link.probe.observed);
            let (packet, left) = match link.transit.take() {
                Some(partly) => partly,
                None => {
                    if budget.is_zero() || link.silenced_by > 0 {
                        break;
                    }
                    link.probe.integral.advance(now, link.qdisc.view());
                    let Some(departure) = link.qdisc.dequeue(now, tap) else { break };
                    let size = wire_bytes(&departure.packet, link.overhead);
                    link.started(now, &departure, self.routes[departure.packet.flow.index()].group, now);
                    tap.departed(&departure.packet, departure.sojourn(now));
                    (departure.packet, size)
                }
            };
            let sent = left.min(budget);
            budget -= sent;
            if sent < left {
                link.transit = Some((packet, left - sent));
                break;
            }
            self.send_off(index, &packet, now);
        }
        let link = &self.links[index as usize];
        if link.transit.is_some() || link.qdisc.view().packets > Packets::ZERO {
            self.wake(index);
        }
    }

    /// Keeps the event of a queue's own timer where the queue wants it.
    #[inline(always)]
    pub(super) fn arm_queue_timer(&mut self, index: u32) {
        if !self.links[index as usize].qdisc.is_timeless() {
            self.ask_queue_timer(index);
        }
    }

    #[inline(never)]
    fn ask_queue_timer(&mut self, index: u32) {
        let slot = self.slots.queue_timer(index);
        match self.links[index as usize].next_timer() {
            Some(due) => self.agenda.set(slot, due.max(self.now)),
            None if self.agenda.is_free(slot) => {}
            None => self.agenda.set(slot, Instant::MAX),
        }
    }

    /// A queue's timer event.
    pub(super) fn queue_timer(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        link.qdisc.handle_timer(self.now);
        // A shaper may have packets ready that it held back before.
        if self.agenda.at(self.slots.service(index)) == Instant::MAX && link.qdisc.view().packets > Packets::ZERO {
            self.wake(index);
        }
        self.arm_queue_timer(index);
        if self.flow_control {
            self.release_feeders(index);
        }
    }

    /// A UDP packet has arrived in the measured part.
    #[inline]
    fn measure_datagram(&mut self, slot: u32, packet: &SimPacket) {
        let group = usize::from(self.routes[packet.flow.index()].group);
        let sent = packet.segment.timestamp;
        self.group_delay[group].get_or_insert_with(TimeCounts::new).add(self.now.since(sent));
        if let Some(listener) = &mut self.sources[slot as usize].listener {
            listener.hear(self.now, packet.segment.number, sent);
        }
    }

    /// A packet has reached its end.
    #[inline(always)]
    fn deliver(&mut self, packet: SimPacket) {
        self.ended += 1;
        let Route { kind, slot, .. } = self.routes[packet.flow.index()];
        if kind == HostKind::Tcp {
            if packet.is_reverse() {
                self.sender_receives(slot, &packet);
            } else {
                self.receiver_receives(slot, packet);
            }
            return;
        }
        self.deliver_elsewhere(kind, slot, packet);
    }

    /// A packet has reached an end that is not that of a plain TCP flow.
    #[inline(never)]
    fn deliver_elsewhere(&mut self, kind: HostKind, slot: u32, mut packet: SimPacket) {
        if kind == HostKind::Udp {
            let source = &mut self.sources[slot as usize];
            source.delivered += 1;
            source.delivered_bytes += Bytes::new(u64::from(packet.ip_len)).get();
            if self.measuring {
                self.measure_datagram(slot, &packet);
            }
            return;
        }
        if kind == HostKind::Echo {
            self.echo_takes(slot, &packet);
            return;
        }
        if kind == HostKind::Stream && !self.stream_takes(slot, &mut packet) {
            return;
        }
        if kind == HostKind::Outside {
            self.outside_takes(slot, &packet);
            return;
        }
        if packet.is_reverse() {
            self.sender_receives(slot, &packet);
        } else {
            self.receiver_receives(slot, packet);
        }
        if kind == HostKind::Stream {
            self.stream_has_taken(slot, &packet);
        }
    }
}
