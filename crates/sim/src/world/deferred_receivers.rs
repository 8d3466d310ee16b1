//! Receivers that take their packets late.
//!
//! A receiver decides nothing but what it answers, and nobody hears of that before the answer has
//! traveled. Where one lane leads to all receivers, their packets stay in that lane for up to that
//! time and are then taken in one loop, in order and with their original times, which saves an
//! event-queue lookup per packet. The receivers' timers wait next to the lane. Everything due is
//! taken before answers cross a wire that is passed late itself, and before control events.

use super::flow_ends::{DeferredReceivers, FlowEnds, ReceiverEnd};
use super::network::deferred::longest;
use super::network::{Network, WirePath};
use super::path::{FlowEnd, PathHalf, Route};
use super::sending::ip_len_of;
use super::state::World;
use crate::ids::LaneId;
use crate::lane::{Arrival, Lane, LaneExit};
use crate::packet::{DsField, FlowLabel, SimPacket};
use crate::sys::{DEFERRING, prefetch};
use crate::timers::{Target, Timers};
use goodqueue_aqm::Packet;
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant};
use goodqueue_tcp::hot::{self, Routine};
use goodqueue_tcp::{Receiver, Segment};

/// Bytes that have to reach receivers while they are deferred, unless the queue is deferred, too.
/// With fewer, most packets are taken alone, which costs 8 % in dumbbells with a queue each way.
const MIN_BATCH: Bytes = Bytes::new(4_500);

impl World {
    /// Defers receivers if nobody can observe that. Call after the network's wires were deferred.
    pub(super) fn defer_receivers(&mut self) {
        if let Some((lane, by)) = self.net.receiver_lane() {
            let place = &mut self.net.path.lanes[lane];
            (place.exit, place.deferral) = (LaneExit::DeferredReceivers, by);
            self.ends.late = Some(DeferredReceivers { lane, timers: Timers::default() });
        }
    }

    /// Delivers to late receivers the packets that have reached them by `now`, and fires their
    /// timers. Returns the number of events.
    pub(super) fn receive_deferred(&mut self, now: Instant) -> u64 {
        let Some(DeferredReceivers { lane, .. }) = self.ends.late.as_ref().filter(|_| DEFERRING) else { return 0 };
        let lane = *lane;
        let present = self.clock.now;
        let mut events = 0;
        while let Some(late) = &mut self.ends.late {
            let (timer, arrival) = (late.timers.earliest(), self.net.path.lanes[lane].first_at());
            let at = timer.min(arrival);
            if at > now || at == Instant::MAX {
                if events > 0 {
                    self.net.set_alarm(lane, timer);
                }
                break;
            }
            self.clock.now = at;
            // At one instant timers come first.
            if timer <= arrival {
                events += 1;
                if let Some(Target::Receiver(tcp)) = late.timers.take() {
                    self.receiver_timer(tcp);
                }
                continue;
            }
            let taken = self.receive_segments(now);
            events += taken;
            if taken == 0 {
                events += 1;
                let packet = self.net.take_arrived(lane);
                self.deliver(packet);
            }
        }
        self.clock.now = present;
        events
    }

    /// Delivers to late receivers the segments that come before the next timer of a receiver.
    /// Returns their number.
    // Does inline what `deliver_to_receiver`, `send_segment` and `inject` do, with all that does
    // not change from segment to segment outside of the loop.
    #[inline(never)]
    fn receive_segments(&mut self, now: Instant) -> u64 {
        let FlowEnds { late, receivers, crowded, .. } = &mut self.ends;
        let Some(DeferredReceivers { lane, timers }) = late else { return 0 };
        // No answer enters the lane that leads to receivers.
        let mut arriving = std::mem::replace(&mut self.net.path.lanes[*lane], Lane::absent());
        let Network { path, routes, .. } = &mut self.net;
        let mut end = timers.earliest().min(now + Duration::ns(1));
        let (mut taken, mut answers) = (0, 0);
        loop {
            let mut passed = 0;
            for &Arrival { at, ref packet } in arriving.first_packets() {
                let route = &routes[packet.flow.id()];
                let FlowEnd::Tcp(tcp) = route.end else { break };
                if at >= end {
                    break;
                }
                if *crowded {
                    arriving.prefetch_packet(passed);
                    path.prefetch_answers(routes, [1, 2, 3].map(|place| arriving.peek(passed + place)));
                    if let Some(packet) = arriving.peek(passed + 2)
                        && let FlowEnd::Tcp(tcp) = routes[packet.flow.id()].end
                    {
                        prefetch(&receivers[tcp], ReceiverEnd::TOUCHED);
                    }
                }
                passed += 1;
                let receiver_end = &mut receivers[tcp];
                let routine = hot::handle_routine(&mut receiver_end.receiver, at, &packet.segment, packet.ecn());
                if let Routine::Acknowledged(segment) = routine {
                    // No timer runs after an acknowledgement.
                    answers += 1;
                    path.answer(at, packet.flow, route, (segment, receiver_end.receiver.codepoint()));
                    continue;
                }
                if routine == Routine::Unusual {
                    answers += path.answer_unusual(at, packet, route, &mut receiver_end.receiver);
                }
                if let Some(due) = receiver_end.receiver.next_timeout()
                    && due < receiver_end.timer_at
                {
                    receiver_end.timer_at = due;
                    end = end.min(due);
                    let _ = timers.set(due, Target::Receiver(tcp));
                }
            }
            taken += passed;
            if !arriving.advance_by(passed) {
                break;
            }
        }
        self.net.delivered += taken as u64;
        self.net.entered += answers;
        self.net.path.lanes[*lane] = arriving;
        taken as u64
    }

    /// Does the work of [`receive_deferred`](Self::receive_deferred), before a control event at
    /// `now`.
    pub(super) fn receive_deferred_before(&mut self, now: Instant) -> u64 {
        if now > Instant::ZERO { self.receive_deferred(now - Duration::ns(1)) } else { 0 }
    }
}

impl WirePath {
    /// Puts an acknowledgement of a flow on its way, which begins with a wire.
    #[inline(always)]
    fn answer(&mut self, now: Instant, flow: FlowLabel, route: &Route, (segment, ecn): (Segment, Ecn)) {
        let ip_len = ip_len_of(&segment, route.header);
        let ack = SimPacket { segment, flow, ip_len, ds: DsField::new(route.class, ecn), hop: 0 };
        self.cross_wire(&ack, route.hop(PathHalf::Reverse, 0), now);
    }

    /// Hands a receiver a segment that is not routine. Returns the number of answers.
    #[inline(never)]
    fn answer_unusual(&mut self, now: Instant, packet: &SimPacket, route: &Route, receiver: &mut Receiver) -> u64 {
        let answer = hot::handle_unusual(receiver, now, &packet.segment, packet.ecn());
        answer.map_or(0, |segment| {
            self.answer(now, packet.flow, route, (segment, receiver.codepoint()));
            1
        })
    }
}

/// A direction of a route from one lane to the next.
#[derive(Clone, Copy)]
struct RouteSegment {
    /// Begins with a wire, not a queue.
    by_wire: bool,
    /// Propagation delays of the wires up to the lane's end.
    delay: Duration,
    lane: LaneId,
}

impl Network {
    /// The parts of one direction of a route.
    fn stretches(&self, route: &Route, heading: PathHalf) -> Vec<RouteSegment> {
        let mut stretches = Vec::<RouteSegment>::new();
        let mut joined = false;
        for hop in route.hop_ids(heading).map(|hop| self.path.hops[hop]) {
            let delay = hop.wire().map_or(Duration::ZERO, |wire| self.class_of(&self.path.wires[wire]).delay);
            match stretches.last_mut().filter(|_| joined) {
                Some(stretch) => stretch.delay += delay,
                None => stretches.push(RouteSegment { by_wire: hop.wire().is_some(), delay, lane: hop.lane }),
            }
            joined = hop.joined;
        }
        stretches
    }

    /// The lane in which packets of a direction reach their end.
    fn last_lane(&self, route: &Route, heading: PathHalf) -> Option<LaneId> {
        self.stretches(route, heading).last().map(|stretch| stretch.lane)
    }

    /// The least time that an answer travels before anything else happens to it than waiting for a
    /// wire that is passed late.
    fn min_return_delay(&self, route: &Route) -> Duration {
        match self.stretches(route, PathHalf::Reverse).first() {
            None => Duration::MAX,
            Some(stretch) if stretch.by_wire => {
                let lane = &self.path.lanes[stretch.lane];
                stretch.delay + if lane.exit == LaneExit::DeferredWire { lane.deferral } else { Duration::ZERO }
            }
            Some(_) => Duration::ZERO,
        }
    }

    /// The one lane in which packets reach the sinks of flows, and the time for which nobody
    /// hears of what happens there.
    fn receiver_lane(&self) -> Option<(LaneId, Duration)> {
        let RateCursor::Constant { rate, .. } = self.links.as_slice().first()?.rate else { return None };
        let mut ways = self.routes.iter().map(|route| (self.last_lane(route, PathHalf::Forward), self.min_return_delay(route)));
        let (lane, first) = ways.next()?;
        let least = ways.try_fold(first, |least, (other, silence)| (other == lane).then(|| least.min(silence)))?;
        let senders = self.routes.iter().filter(|route| route.reverse > 0);
        let apart = senders.map(|route| self.last_lane(route, PathHalf::Reverse)).all(|other| other != lane);
        let lane = lane.filter(|&lane| apart && self.path.lanes[lane].exit == LaneExit::End)?;
        let by = longest(rate, least);
        let pays = self.is_queue_deferred() || by >= rate.transmission_time(MIN_BATCH);
        (pays && !by.is_zero() && self.large_packets_are_alike && !self.flow_control).then_some((lane, by))
    }
}
