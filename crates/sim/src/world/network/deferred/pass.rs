//! The events of the deferred queue, in one loop with all that does not change from packet to
//! packet outside of it.
//!
//! It does what `Network::enqueue`, `service_event` and `queue_timer_event` do at any link.

use super::{Deferred, LINK};
use crate::lane::Lane;
use crate::link::Link;
use crate::packet::SimPacket;
use crate::probe::{sojourn_line, wire_bytes};
use crate::world::network::{Network, WirePath};
use crate::world::path::PathHalf;
use goodqueue_aqm::{AnyAqm, AnyQdisc, ManagedQueue, NoSink, Qdisc};
use goodqueue_base::units::{Instant, Packets};

/// The queues that the loop is compiled for.
trait Kind {
    type Queue: Qdisc<SimPacket>;
    fn of(queue: &mut AnyQdisc<SimPacket>) -> Option<&mut Self::Queue>;
}

/// One queue under one algorithm, which is what most links have.
struct Managed;

impl Kind for Managed {
    type Queue = ManagedQueue<SimPacket, AnyAqm>;
    #[inline(always)]
    fn of(queue: &mut AnyQdisc<SimPacket>) -> Option<&mut Self::Queue> {
        if let AnyQdisc::Managed(queue) = queue { Some(queue) } else { None }
    }
}

struct Any;

impl Kind for Any {
    type Queue = AnyQdisc<SimPacket>;
    #[inline(always)]
    fn of(queue: &mut AnyQdisc<SimPacket>) -> Option<&mut Self::Queue> {
        Some(queue)
    }
}

impl Network {
    /// Processes the events before `end`. Returns what is left to do and their number.
    pub(super) fn pass_deferred(&mut self, deferred: Deferred, end: Instant) -> (Deferred, u64) {
        if matches!(self.links[LINK].qdisc, AnyQdisc::Managed(_)) {
            self.pass::<Managed>(deferred, end)
        } else {
            self.pass::<Any>(deferred, end)
        }
    }

    #[inline(never)]
    fn pass<K: Kind>(&mut self, deferred: Deferred, end: Instant) -> (Deferred, u64) {
        let Self { agenda, slots, lanes, hops, routes, classes, wires, links, recorder, wire_losses, .. } = self;
        let Link { qdisc, rate, delay, framing, busy_until, idle_notice_pending, loss, rng, probe, .. } = &mut links[LINK];
        let Some(queue) = K::of(qdisc) else { return (deferred, 0) };
        let has_timer = !queue.is_timeless();
        let Deferred { lane, by, mut timer_at, mut service_at } = deferred;
        // No packet that leaves the link enters the lane that leads to it.
        let mut arriving = std::mem::replace(&mut lanes[lane], Lane::absent());
        let mut ways = WirePath { agenda, slots: *slots, lanes, hops, classes, wires };
        let recorder = recorder.at(end, LINK, probe.observed);
        let mut now;
        let mut events = 0;
        loop {
            // At one instant the timer comes first, and a packet leaves before another arrives.
            let arrival = arriving.first_at();
            let serves = if timer_at <= service_at.min(arrival) {
                now = timer_at;
                if now >= end {
                    break;
                }
                recorder.tick(now);
                queue.handle_timer(now);
                let released = service_at == Instant::MAX && queue.view().packets > Packets::ZERO;
                if released {
                    service_at = now.max(*busy_until);
                }
                released && service_at == now
            } else if service_at <= arrival {
                now = service_at;
                if now >= end {
                    break;
                }
                recorder.tick(now);
                true
            } else {
                now = arrival;
                if now >= end {
                    break;
                }
                recorder.tick(now);
                if std::mem::take(idle_notice_pending) && *busy_until <= now {
                    let none = queue.dequeue(*busy_until, &mut NoSink);
                    debug_assert!(none.is_none(), "the queue was empty");
                }
                let packet = arriving.first();
                probe.integral.advance(now, queue.view());
                recorder.enqueued(packet);
                queue.enqueue(now, *packet, recorder);
                arriving.advance();
                let idle = service_at == Instant::MAX;
                if idle {
                    service_at = now.max(*busy_until);
                }
                idle && service_at == now
            };
            events += 1;
            if serves {
                service_at = Instant::MAX;
                probe.integral.advance(now, queue.view());
                // By reference: the packet is moved only once, into the lane.
                if let Some(departure) = &queue.dequeue(now, recorder) {
                    let packet = &departure.packet;
                    let bytes = wire_bytes(packet, *framing);
                    let sent_at = rate.end_of(now, bytes);
                    *busy_until = sent_at;
                    let (route, heading) = (&routes[packet.flow.id()], PathHalf::of(packet.is_reverse()));
                    let line = sojourn_line(route.group.get(), packet.is_reverse());
                    probe.departed(now, line, departure.sojourn(now), bytes.get());
                    probe.transmitted(sent_at, line, bytes.get());
                    recorder.departed(packet, departure.sojourn(now));
                    // A queue with a timer must hear of idleness in order of time; others are told
                    // before their next arrival.
                    let ran_empty = queue.view().packets == Packets::ZERO;
                    *idle_notice_pending = ran_empty;
                    if !ran_empty || timer_at != Instant::MAX {
                        service_at = sent_at;
                    }
                    if *loss > 0.0 && rng.fires(*loss) {
                        *wire_losses += 1;
                        recorder.record_loss(packet);
                    } else {
                        ways.leave_hop(packet, route.hop(heading, packet.hop), sent_at + *delay);
                    }
                } else {
                    *idle_notice_pending = false;
                }
            }
            if has_timer {
                timer_at = queue.next_timer().map_or(Instant::MAX, |due| due.max(now));
            }
        }
        ways.lanes[lane] = arriving;
        (Deferred { lane, by, timer_at, service_at }, events)
    }
}
