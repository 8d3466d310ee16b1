//! Addition of flows to a running world.

use super::elements::{add_wire, is_wire};
use super::{BuildState, Feeder, note_feeders};
use crate::ids::{FlowId, GroupId, HopId, Id, TcpId};
use crate::lane::LaneExit;
use crate::losses::FlowSignals;
use crate::spec::{FlowSpec, LinkSpec, WorldSpec};
use crate::timers::MAX_INDEX;
use crate::world::error::{WorldError, WorldFault, fault};
use crate::world::flow_ends::{Control, Flow};
use crate::world::path::{Element, FlowEnd, PathHalf};
use crate::world::session_ends::PlaceInQueues;
use crate::world::state::World;
use goodqueue_base::units::Instant;

impl World {
    /// Adds flows, and those of their links that the world does not have.
    ///
    /// The links take the next numbers of the specification, and have no queue; the flows start at
    /// their times or, where these are past, now.
    pub(in crate::world) fn add_flows(
        &mut self,
        spec: &mut WorldSpec,
        state: &mut BuildState,
        links: Vec<LinkSpec>,
        flows: Vec<FlowSpec>,
    ) -> Result<(), WorldError> {
        self.check_growth(spec, &links, &flows)?;
        for link in links {
            let wire = add_wire(&mut self.net.path.classes, &mut self.net.path.wires, &mut state.salt, &link)?;
            state.elements.push(Element::Wire(wire));
            state.feeders.push(Feeder::Nothing);
            spec.links.push(link);
        }
        for flow in flows {
            note_feeders(&mut state.feeders, &flow);
            self.unfuse_wires(&flow, state);
            let number = self.net.routes.next_id();
            self.pad_flows(number);
            self.net.recorder.flows.push(FlowSignals::default());
            self.add_flow(spec, state, &flow)?;
            self.schedule_flow(number, &flow);
            spec.flows.push(flow);
        }
        self.net.grow_agenda();
        self.check_end()
    }

    fn check_growth(&self, spec: &WorldSpec, links: &[LinkSpec], flows: &[FlowSpec]) -> Result<(), WorldError> {
        if let Some(link) = links.iter().find(|link| !is_wire(link)) {
            return fault(&link.name, WorldFault::LateQueue);
        }
        let known = spec.links.len() + links.len();
        let mut named = flows.iter().flat_map(|flow| flow.forward.iter().chain(&flow.reverse));
        if let Some(&unknown) = named.find(|&&link| link as usize >= known) {
            return fault("world", WorldFault::NoLink(unknown));
        }
        let (routes, controls) = (self.net.routes.len(), self.ends.controls.len());
        if routes + flows.len() > MAX_INDEX as usize || controls + 3 * flows.len() > MAX_INDEX as usize {
            return fault("world", WorldFault::TooMany { parts: "flows", most: MAX_INDEX });
        }
        Ok(())
    }

    /// Unfuses the wires on a new flow's route that several elements feed from now on.
    fn unfuse_wires(&mut self, flow: &FlowSpec, state: &BuildState) {
        for &link in flow.forward.iter().chain(&flow.reverse) {
            let Some(wire) = state.elements[link as usize].wire() else { continue };
            if state.feeders[link as usize] == Feeder::Several {
                for place in 1..self.net.path.hops.len() {
                    if self.net.path.hops[HopId::at(place)].element() == Element::FusedWire(wire) {
                        self.net.path.hops[HopId::at(place)].set_element(Element::Wire(wire));
                        self.net.path.hops[HopId::at(place - 1)].joined = false;
                    }
                }
                // Lanes that led past the wire lead to it now.
                self.net.path.lanes.iter_mut().for_each(|lane| lane.exit = LaneExit::PerPacket);
            }
        }
    }

    /// Fills the list of flows up to `number`: sessions' connections have taken the numbers
    /// between, and are not listed.
    fn pad_flows(&mut self, number: FlowId) {
        let unlisted = Flow::new(GroupId::new(0), 0, FlowEnd::Stream(TcpId::new(0)), Instant::ZERO, 1.0);
        self.ends.flows.resize(number.index(), unlisted);
    }

    fn schedule_flow(&mut self, number: FlowId, flow: &FlowSpec) {
        if let FlowEnd::Udp(udp) = self.ends.flows[number].end
            && self.figures.measuring
            && let Some(listener) = &mut self.ends.sources[udp].listener
        {
            listener.begin_at(0);
        }
        let events = [(Some(flow.start), Control::StartFlow(number)), (flow.stop, Control::StopFlow(number))];
        for (at, control) in events {
            if let Some(at) = at.filter(|at| *at <= self.clock.end) {
                self.add_event(at, control);
            }
        }
    }

    /// Tells a new queue the places of all flows.
    pub(in crate::world) fn place_all(&mut self, spec: &WorldSpec, state: &BuildState) {
        let listed: Vec<FlowId> =
            self.ends.flows.pairs().filter(|(_, flow)| flow.end.is_listed()).map(|(number, _)| number).collect();
        for (number, flow) in listed.into_iter().zip(&spec.flows) {
            PlaceInQueues::of(flow, &state.elements).announce(&mut self.net.links, number, PathHalf::Forward);
        }
        self.place_streams();
    }
}
