//! The elements between ends and links: lanes, wires and the hops of routes.

use super::slots::Slots;
use crate::agenda::Agenda;
use crate::ids::{FlowId, HopId, IdVec, LaneId, WireClassId, WireId};
use crate::lane::Lane;
use crate::link::{Wire, WireClass};
use crate::packet::SimPacket;
use crate::sys::prefetch;
use crate::world::path::{Hop, PathHalf, Route};
use goodqueue_base::units::Instant;

/// The wires and lanes that packets cross between ends and links.
pub(in crate::world) struct WirePath {
    pub(in crate::world) agenda: Agenda,
    pub(in crate::world) slots: Slots,
    pub(in crate::world) lanes: IdVec<LaneId, Lane>,
    pub(in crate::world) hops: IdVec<HopId, Hop>,
    pub(in crate::world) classes: IdVec<WireClassId, WireClass>,
    pub(in crate::world) wires: IdVec<WireId, Wire>,
}

impl WirePath {
    /// Moves a packet that reaches the wire at `hop` at `arrival` across it and into the next lane.
    #[inline(always)]
    pub(in crate::world) fn cross_wire(&mut self, packet: &SimPacket, hop: HopId, arrival: Instant) {
        let exit = match self.hops[hop].wire() {
            Some(wire) => {
                let wire = &mut self.wires[wire];
                wire.exit_time(&mut self.classes[wire.class], arrival, packet.ip_len)
            }
            None => arrival,
        };
        self.leave_hop(packet, hop, exit);
    }

    /// Prefetches what the next packets need that leave hops of their routes: the route of the
    /// third packet, the hops of the second one, and the wire of the first.
    #[inline(always)]
    pub(super) fn prefetch(&self, routes: &IdVec<FlowId, Route>, upcoming: [Option<&SimPacket>; 3]) {
        let hops = |packet: &SimPacket| {
            let hop = routes[packet.flow.id()].hop(PathHalf::of(packet.is_reverse()), packet.hop);
            self.hops.from(hop)
        };
        let [first, second, third] = upcoming;
        if let Some([_, behind, ..]) = first.map(hops)
            && let Some(wire) = behind.wire()
        {
            prefetch(&self.wires[wire], 1);
        }
        if let Some([here, behind, ..]) = second.map(hops) {
            prefetch(here, 1);
            prefetch(behind, 1);
        }
        if let Some(packet) = third {
            prefetch(&routes[packet.flow.id()], 1);
        }
    }

    /// Does the work of [`prefetch`](Self::prefetch), for the packets that ends send as soon as
    /// they hear the next packets of a lane: the route of the third, the first hop of the answer to
    /// the second, and the wire there of the answer to the first.
    #[inline(always)]
    pub(in crate::world) fn prefetch_answers(&self, routes: &IdVec<FlowId, Route>, upcoming: [Option<&SimPacket>; 3]) {
        // Flows without answers have no hop there.
        let hop = |packet: &SimPacket| self.hops.get(routes[packet.flow.id()].hop(PathHalf::of(!packet.is_reverse()), 0));
        let [first, second, third] = upcoming;
        if let Some(wire) = first.and_then(hop).and_then(|hop| hop.wire()) {
            prefetch(&self.wires[wire], 1);
        }
        if let Some(hop) = second.and_then(hop) {
            prefetch(hop, 1);
        }
        if let Some(packet) = third {
            prefetch(&routes[packet.flow.id()], 1);
        }
    }

    /// A packet reaches the far end of `hop` at `exit`. It crosses fused wires at once and then
    /// enters the lane.
    #[inline(always)]
    pub(super) fn leave_hop(&mut self, packet: &SimPacket, hop: HopId, exit: Instant) {
        let Self { agenda, slots, lanes, hops, classes, wires } = self;
        let mut hops = hops.from(hop).iter();
        let Some(&Hop { lane, mut joined, .. }) = hops.next() else { return };
        let (mut exit, mut behind) = (exit, packet.hop + 1);
        while joined && let Some(hop) = hops.next() {
            if let Some(wire) = hop.wire() {
                let wire = &mut wires[wire];
                exit = wire.exit_time(&mut classes[wire.class], exit, packet.ip_len);
            }
            joined = hop.joined;
            behind += 1;
        }
        let ring = &mut lanes[lane];
        if ring.push(exit, behind, || *packet) {
            agenda.set(slots.lane(lane), ring.due(exit));
        }
    }
}
