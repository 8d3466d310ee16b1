//! Where packets come out of lanes.

use super::{FUSED, Hop, WIRE, World};
use crate::lane::Stop;

impl World {
    /// Tells all lanes where packets come out of them. For worlds whose packets all belong to a route of their own.
    pub(in crate::world) fn note_all_stops(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.stop = Stop::Unknown);
        for number in 0..self.routes.len() {
            for (first, len) in [self.routes[number].way(false), self.routes[number].way(true)] {
                self.note_stops(first as usize, usize::from(len));
            }
        }
    }

    /// Tells the lanes of `count` hops, which are one way of a route, where its packets come out of them.
    pub(super) fn note_stops(&mut self, first: usize, count: usize) {
        let mut stop = Stop::End;
        for place in (first..first + count).rev() {
            let Hop { element, lane, .. } = self.hops[place];
            // A wire that is passed with the element before it puts nothing into its lane, and packets do not stop at it.
            if element & FUSED != 0 {
                continue;
            }
            let lane = &mut self.lanes[lane as usize];
            lane.stop = lane.stop.or(stop);
            stop = if element & WIRE == 0 { Stop::Queue(element) } else { Stop::Varied };
        }
    }
}
