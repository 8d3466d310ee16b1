//! Arrivals at a deferred tail-drop queue, whose departures are arithmetic: see [`ComputedFifo`].

use super::{Deferred, LINK, NEXT};
use crate::fifo::ComputedFifo;
use crate::lane::{Arrival, Lane};
use crate::probe::{Departed, sojourn_line};
use crate::sys::CROWD;
use crate::world::network::Network;
use crate::world::path::PathHalf;
use goodqueue_aqm::AnyQdisc;
use goodqueue_base::units::Instant;

impl Network {
    /// Prepares the deferred queue to be worked out on arrival if it can be: tail drop, and nothing
    /// that wants to see each event in the order of time.
    ///
    /// The wires behind the queue are crossed early then. Ends read what the wires of their class
    /// have carried, so all large packets must have one size.
    pub(super) fn enable_computed_departures(&mut self) {
        let link = &mut self.links[LINK];
        let AnyQdisc::TailDrop(queue) = &link.qdisc else { return };
        let is_plain = link.loss <= 0.0 && link.probe.is_plain() && self.recorder.log.is_none();
        if is_plain && self.large_packets_are_alike {
            link.fifo = Some(Box::new(ComputedFifo::new(queue.limit())));
        }
    }

    /// Processes the arrivals before `end`. Returns the number of events.
    #[inline(never)]
    pub(super) fn pass_computed(&mut self, fifo: &mut ComputedFifo, deferred: &Deferred, end: Instant) -> u64 {
        let Self { path, routes, links, recorder, .. } = self;
        let link = &mut links[LINK];
        let delay = link.delay;
        let (_, mut step) = link.step(recorder.at(end, LINK, link.probe.observed));
        // No packet that leaves the link enters the lane that leads to it.
        let mut arriving = std::mem::replace(&mut path.lanes[deferred.lane], Lane::absent());
        let crowded = routes.len() >= CROWD;
        let mut events = 0;
        loop {
            let mut passed = 0;
            for &Arrival { at: now, ref packet } in arriving.first_packets() {
                if now >= end {
                    break;
                }
                if crowded {
                    path.prefetch(routes, [1, 2, 3].map(|place| arriving.peek(passed + place)));
                }
                passed += 1;
                // At one instant a packet leaves before another arrives.
                events += 1 + fifo.leave_before(now + NEXT);
                if !fifo.admits(packet) {
                    fifo.drop(now, packet);
                    step.recorder.tick(now);
                    step.recorder.lose(packet);
                    continue;
                }
                let (flow, is_reverse) = (packet.flow.id(), packet.is_reverse());
                let route = &routes[flow];
                let line = sojourn_line(route.group.get(), is_reverse);
                let start = now.max(step.busy_until());
                let bytes = step.wire_bytes(packet);
                let sent_at = step.occupy(start, bytes);
                fifo.push(Departed {
                    arrived: now,
                    start,
                    end: sent_at,
                    number: packet.segment.number,
                    flow,
                    line: line as u32,
                    wire_bytes: bytes.get() as u32,
                    len: packet.ip_len,
                });
                path.leave_hop(packet, route.hop(PathHalf::of(is_reverse), packet.hop), sent_at + delay);
            }
            if !arriving.advance_by(passed) {
                break;
            }
        }
        events += fifo.leave_before(end);
        let (probe, recorder) = step.figures();
        fifo.measure_block(probe, recorder);
        path.lanes[deferred.lane] = arriving;
        events
    }
}
