//! The elements between hosts and links: lanes, wires and the hops of routes.

use super::Slots;
use crate::agenda::Agenda;
use crate::ids::{FlowId, HopId, IdVec, LaneId, WireClassId, WireId};
use crate::lane::Lane;
use crate::link::{Wire, WireClass};
use crate::packet::SimPacket;
use crate::sys::prefetch;
use crate::world::path::{Hop, PathHalf, Route};
use goodqueue_base::units::Instant;

/// The wires and lanes that packets cross between hosts and links.
pub(in crate::world) struct WirePath<'n> {
    pub(super) agenda: &'n mut Agenda,
    pub(super) slots: Slots,
    pub(super) lanes: &'n mut IdVec<LaneId, Lane>,
    pub(super) hops: &'n IdVec<HopId, Hop>,
    pub(super) classes: &'n mut IdVec<WireClassId, WireClass>,
    pub(super) wires: &'n mut IdVec<WireId, Wire>,
}

impl WirePath<'_> {
    /// The time at which a packet that reaches `wire` at `arrival` leaves it.
    #[inline(always)]
    fn exit_time(&mut self, wire: WireId, arrival: Instant, ip_len: u16) -> Instant {
        let wire = &mut self.wires[wire];
        wire.exit_time(&mut self.classes[wire.class], arrival, ip_len)
    }

    /// Moves a packet that reaches the wire at `hop` at `arrival` across it and into the next lane.
    #[inline(always)]
    pub(in crate::world) fn cross_wire(&mut self, packet: &SimPacket, hop: HopId, arrival: Instant) {
        let exit = match self.hops[hop].wire() {
            Some(wire) => self.exit_time(wire, arrival, packet.ip_len),
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

    /// Does the work of [`prefetch`](Self::prefetch), for the packets that hosts send as soon as
    /// they hear the next packets of a lane: the route of the third, the first hop of the answer to
    /// the second, and the wire there of the answer to the first.
    #[inline(always)]
    pub(in crate::world) fn prefetch_answers(&self, routes: &IdVec<FlowId, Route>, upcoming: [Option<&SimPacket>; 3]) {
        prefetch_answers(routes, self.hops, self.wires, upcoming);
    }

    /// A packet reaches the far end of `hop` at `exit`. It crosses fused wires at once and then
    /// enters the lane.
    #[inline(always)]
    pub(super) fn leave_hop(&mut self, packet: &SimPacket, hop: HopId, exit: Instant) {
        let mut hops = self.hops.from(hop).iter();
        let Some(&Hop { lane, mut joined, .. }) = hops.next() else { return };
        let (mut exit, mut behind) = (exit, packet.hop + 1);
        while joined && let Some(hop) = hops.next() {
            if let Some(wire) = hop.wire() {
                exit = self.exit_time(wire, exit, packet.ip_len);
            }
            joined = hop.joined;
            behind += 1;
        }
        let ring = &mut self.lanes[lane];
        if ring.push(exit, behind, || *packet) {
            self.agenda.set(self.slots.lane(lane), ring.due(exit));
        }
    }
}

/// See [`WirePath::prefetch_answers`].
#[inline(always)]
pub(super) fn prefetch_answers(
    routes: &IdVec<FlowId, Route>,
    hops: &IdVec<HopId, Hop>,
    wires: &IdVec<WireId, Wire>,
    upcoming: [Option<&SimPacket>; 3],
) {
    // Flows without answers have no hop there.
    let hop = |packet: &SimPacket| hops.get(routes[packet.flow.id()].hop(PathHalf::of(!packet.is_reverse()), 0));
    let [first, second, third] = upcoming;
    if let Some(wire) = first.and_then(hop).and_then(|hop| hop.wire()) {
        prefetch(&wires[wire], 1);
    }
    if let Some(hop) = second.and_then(hop) {
        prefetch(hop, 1);
    }
    if let Some(packet) = third {
        prefetch(&routes[packet.flow.id()], 1);
    }
}
