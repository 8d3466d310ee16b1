//! The places at which packets come out of lanes.

use crate::ids::HopId;
use crate::lane::LaneExit;
use crate::world::network::Network;
use crate::world::path::{Element, PathHalf, hop_ids};

impl Network {
    /// Works out the exits of all lanes. For worlds whose packets all belong to a route of their
    /// own.
    pub(super) fn note_all_lane_exits(&mut self) {
        self.path.lanes.iter_mut().for_each(|lane| lane.exit = LaneExit::Unknown);
        for flow in self.routes.ids() {
            for heading in PathHalf::BOTH {
                let (first, count) = self.routes[flow].hops(heading);
                self.note_lane_exits(first, usize::from(count));
            }
        }
    }

    /// Notes the exits of the lanes of `count` hops from `first` on, which are one direction of a
    /// route.
    pub(in crate::world) fn note_lane_exits(&mut self, first: HopId, count: usize) {
        let mut exit = LaneExit::End;
        for hop in hop_ids(first, count).rev() {
            let hop = self.path.hops[hop];
            let next = match hop.element() {
                // Packets do not stop at a fused wire, and it puts nothing into its lane.
                Element::FusedWire(_) => continue,
                Element::Wire(_) => LaneExit::PerPacket,
                Element::Link(link) => LaneExit::Queue(link),
            };
            let lane = &mut self.path.lanes[hop.lane];
            lane.exit = lane.exit.or(exit);
            exit = next;
        }
    }
}
