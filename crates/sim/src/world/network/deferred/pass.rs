//! The events of the deferred queue, in one loop with all that does not change from packet to
//! packet outside of it.
//!
//! It does what `Network::enqueue`, `service_event` and `queue_timer_event` do at any link.

use super::{Deferred, LINK};
use crate::lane::Lane;
use crate::packet::SimPacket;
use crate::world::network::Network;
use crate::world::path::PathHalf;
use goodqueue_aqm::{AnyAqm, AnyQdisc, ManagedQueue, Qdisc};
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

/// The events of a deferred queue.
enum Event {
    /// The queue's own timer is due.
    Timer,
    /// The transmitter becomes free.
    Service,
    /// A packet arrives.
    Arrival,
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
        let Self { path, routes, links, recorder, wire_losses, .. } = self;
        let link = &mut links[LINK];
        let delay = link.delay;
        let recorder = recorder.at(end, LINK, link.probe.observed);
        let (queue, mut step) = link.step(recorder);
        let Some(queue) = K::of(queue) else { return (deferred, 0) };
        let has_timer = !queue.is_timeless();
        let Deferred { lane, by, mut timer_at, mut service_at } = deferred;
        // No packet that leaves the link enters the lane that leads to it.
        let mut arriving = std::mem::replace(&mut path.lanes[lane], Lane::absent());
        let mut events = 0;
        loop {
            // At one instant the timer comes first, and a packet leaves before another arrives.
            let arrival = arriving.first_at();
            let (now, event) = if timer_at <= service_at.min(arrival) {
                (timer_at, Event::Timer)
            } else if service_at <= arrival {
                (service_at, Event::Service)
            } else {
                (arrival, Event::Arrival)
            };
            if now >= end {
                break;
            }
            step.recorder.tick(now);
            events += 1;
            let serves = match event {
                Event::Timer => {
                    queue.handle_timer(now);
                    queue.view().packets > Packets::ZERO && wake(&mut service_at, now, step.busy_until())
                }
                Event::Service => true,
                Event::Arrival => {
                    step.arrive(now, arriving.first(), queue, Qdisc::view);
                    arriving.advance();
                    wake(&mut service_at, now, step.busy_until())
                }
            };
            if serves {
                service_at = Instant::MAX;
                // By reference: the packet is moved only once, into the lane.
                if let Some(departure) = &step.serve(now, queue, Qdisc::view) {
                    let packet = &departure.packet;
                    let (route, heading) = (&routes[packet.flow.id()], PathHalf::of(packet.is_reverse()));
                    let sent_at = step.depart(now, packet, departure.sojourn(now), route.group.get());
                    if step.service_follows(queue.view(), || timer_at != Instant::MAX, Instant::ZERO) {
                        service_at = sent_at;
                    }
                    if step.loses(packet) {
                        *wire_losses += 1;
                    } else {
                        path.leave_hop(packet, route.hop(heading, packet.hop), sent_at + delay);
                    }
                }
            }
            if has_timer {
                timer_at = queue.next_timer().map_or(Instant::MAX, |due| due.max(now));
            }
        }
        path.lanes[lane] = arriving;
        (Deferred { lane, by, timer_at, service_at }, events)
    }
}

/// Schedules service for when the transmitter is free, if none is scheduled. Returns whether that
/// is now.
#[inline(always)]
fn wake(service_at: &mut Instant, now: Instant, busy_until: Instant) -> bool {
    let sleeps = *service_at == Instant::MAX;
    if sleeps {
        *service_at = now.max(busy_until);
    }
    sleeps && *service_at == now
}
