//! The places at which packets come out of lanes.

use crate::ids::HopId;
use crate::lane::Stop;
use crate::world::network::Network;
use crate::world::path::{Element, PathHalf, hop_ids};

impl Network {
    /// Works out the stops of all lanes. For worlds whose packets all belong to a route of their
    /// own.
    pub(super) fn note_all_stops(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.stop = Stop::Unknown);
        for flow in self.routes.ids() {
            for heading in PathHalf::BOTH {
                let (first, count) = self.routes[flow].hops(heading);
                self.note_stops(first, usize::from(count));
            }
        }
    }

    /// Notes the stops of the lanes of `count` hops from `first` on, which are one direction of a
    /// route.
    pub(in crate::world) fn note_stops(&mut self, first: HopId, count: usize) {
        let mut stop = Stop::End;
        for hop in hop_ids(first, count).rev() {
            let hop = self.hops[hop];
            let next = match hop.element() {
                // Packets do not stop at a fused wire, and it puts nothing into its lane.
                Element::FusedWire(_) => continue,
                Element::Wire(_) => Stop::Varied,
                Element::Link(link) => Stop::Queue(link),
            };
            let lane = &mut self.lanes[hop.lane];
            lane.stop = lane.stop.or(stop);
            stop = next;
        }
    }
}
