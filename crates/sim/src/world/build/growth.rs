//! More flows in a world that runs.

use super::{Control, FUSED, FlowFacts, FlowSignals, MAX_INDEX, WIRE, measure};
use super::{Ground, HostKind, LinkSpec, Queues, Target, World, WorldError, WorldSpec, add_wire, fault, is_wire, note_feeders};
use crate::lane::Stop;
use crate::spec::FlowSpec;
use goodqueue_units::Instant;

impl World {
    /// Adds flows and the links of theirs that the world does not have. The links take the next numbers of the specification, and have no
    /// queue; the flows start at their times or, where these are past, now.
    pub(in crate::world) fn grow(
        &mut self,
        spec: &mut WorldSpec,
        ground: &mut Ground,
        links: Vec<LinkSpec>,
        flows: Vec<FlowSpec>,
    ) -> Result<(), WorldError> {
        self.check_growth(spec, &links, &flows)?;
        for link in links {
            let code = add_wire(&mut self.wire_classes, &mut self.wires, &mut ground.salt, &link)?;
            ground.codes.push(code);
            ground.feeders.push(super::Feeder::Nothing);
            spec.links.push(link);
        }
        for flow in flows {
            note_feeders(&mut ground.feeders, &flow);
            self.part_wires(&flow, ground);
            let number = self.routes.len() as u32;
            self.fill_up_to(number);
            self.tap.flows.push(FlowSignals::default());
            self.add_whole_flow(spec, ground, number, &flow)?;
            self.begin(number, &flow);
            spec.flows.push(flow);
        }
        self.agenda = self.agenda.grown(self.slots.lane(self.lanes.len() as u32));
        Ok(())
    }

    fn check_growth(&self, spec: &WorldSpec, links: &[LinkSpec], flows: &[FlowSpec]) -> Result<(), WorldError> {
        if let Some(link) = links.iter().find(|link| !is_wire(link)) {
            return fault(&link.name, "a link that is added to a running world has no queue");
        }
        let known = spec.links.len() + links.len();
        if flows.iter().any(|flow| flow.forward.iter().chain(&flow.reverse).any(|&link| link as usize >= known)) {
            return fault("world", "an added flow names a link that does not exist");
        }
        if self.routes.len() + flows.len() > MAX_INDEX as usize || self.controls.len() + 3 * flows.len() > MAX_INDEX as usize {
            return fault("world", format!("more than {MAX_INDEX} flows"));
        }
        Ok(())
    }

    /// Wires that only one element fed are not passed in advance any more once another feeds them too.
    fn part_wires(&mut self, flow: &FlowSpec, ground: &Ground) {
        for &link in flow.forward.iter().chain(&flow.reverse) {
            let code = ground.codes[link as usize];
            if code & WIRE != 0 && ground.feeders[link as usize] == super::Feeder::Several {
                for place in 1..self.hops.len() {
                    if self.hops[place].element == code | FUSED {
                        self.hops[place].element = code;
                        self.hops[place - 1].joined = false;
                    }
                }
                // Lanes that led past the wire lead to it now.
                self.lanes.iter_mut().for_each(|lane| lane.stop = Stop::Varied);
            }
        }
    }

    /// Numbers of flows that connections of sessions have: they stay empty in the list of flows.
    fn fill_up_to(&mut self, number: u32) {
        let empty = FlowFacts {
            group: 0,
            index: 0,
            kind: HostKind::Stream,
            slot: 0,
            start: Instant::ZERO,
            weight: 1.0,
            completed_at: None,
            active: false,
            at_warmup: measure::FlowReading::default(),
        };
        self.flows.resize(number as usize, empty);
    }

    fn begin(&mut self, number: u32, flow: &FlowSpec) {
        if let HostKind::Udp = self.flows[number as usize].kind
            && self.measuring
            && let Some(listener) = &mut self.sources[self.flows[number as usize].slot as usize].listener
        {
            listener.begin_at(0);
        }
        let events = [(Some(flow.start), Control::StartFlow(number)), (flow.stop, Control::StopFlow(number))];
        for (at, control) in events {
            if let Some(at) = at.filter(|at| *at <= self.end) {
                let index = self.add_control(control);
                self.set_timer(at, Target::Control(index));
            }
        }
    }

    /// Tells a new queue the weights of the flows there are.
    pub(in crate::world) fn weigh_all(&mut self, spec: &WorldSpec, ground: &Ground) {
        let numbers = (0..self.flows.len() as u32).filter(|&flow| self.flows[flow as usize].kind != HostKind::Stream);
        let queues: Vec<(u32, Queues)> =
            numbers.zip(&spec.flows).map(|(number, flow)| (number, Queues::of(flow, &ground.codes))).collect();
        queues.iter().for_each(|(number, queues)| self.weigh(*number, queues));
        self.weigh_streams();
    }
}
