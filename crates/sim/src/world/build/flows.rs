//! Flows of a specification: their ends, routes, lanes, places in queues and sessions.

use super::{BuildState, Feeder, LaneKey, LaneOrigin, SOURCE_STREAM};
use crate::call::Listener;
use crate::completions::{Ideal, Narrow};
use crate::ids::{FlowId, GroupId, Id};
use crate::lane::Lane;
use crate::losses::{FlowSignals, Numbering};
use crate::packet::HostMark;
use crate::session::Session;
use crate::spec::{FlowSpec, LinkId as SpecLink, SourceSpec, WorldSpec};
use crate::traffic::{MIN_PACKET, UdpSource};
use crate::world::error::{WorldError, WorldFault, fault};
use crate::world::flow_ends::Flow;
use crate::world::network::Network;
use crate::world::outside_flow::{Content, OutsideFlow};
use crate::world::path::{Element, FlowEnd, Hop, PathHalf, Route};
use crate::world::session_ends::{PlaceInQueues, SessionPath};
use crate::world::state::World;
use goodqueue_base::line::{RateCursor, RateSpec};
use goodqueue_base::units::{Bytes, Duration, Rate, Rng};
use goodqueue_tcp::{Data, Receiver, Sender};

/// A probe has a payload.
const MIN_ECHO: Bytes = Bytes::new(MIN_PACKET as u64 + 1);

impl World {
    /// Adds a flow with its route, its place in queues and its session. Nothing starts it.
    pub(super) fn add_flow(&mut self, spec: &WorldSpec, state: &mut BuildState, flow: &FlowSpec) -> Result<(), WorldError> {
        let number = self.ends.flows.next_id();
        check(spec, flow)?;
        let (end, header) = self.add_end(spec, number, flow, state.ends.of(flow.group))?;
        let group = GroupId::at(flow.group as usize);
        self.ends.flows.push(Flow::new(group, flow.index, end, flow.start, flow.weight));
        let (forward, reverse) = (u8::try_from(flow.forward.len()), u8::try_from(flow.reverse.len()));
        let (Ok(forward @ 1..), Ok(reverse)) = (forward, reverse) else {
            return fault(spec.name_of(flow), WorldFault::Route);
        };
        self.net.routes.push(Route {
            hops: self.net.path.hops.next_id(),
            end,
            header,
            class: flow.class,
            mark: HostMark::of(flow.shared_host),
            group,
            forward,
            reverse,
        });
        self.net.add_hops(spec, flow, state);
        let place = PlaceInQueues::of(flow, &state.elements);
        place.announce(&mut self.net.links, number, PathHalf::Forward);
        self.add_session_of(spec, number, flow, place, state.most_open)?;
        if is_limited(&flow.source)
            && let Some(ideal) = ideal(spec, flow)
        {
            self.figures.limited.push((number, ideal));
        }
        Ok(())
    }

    /// Adds the ends of a flow. Returns them and the bytes of their headers. A session follows
    /// when its routes are known.
    fn add_end(
        &mut self,
        spec: &WorldSpec,
        number: FlowId,
        flow: &FlowSpec,
        outside: Option<Content>,
    ) -> Result<(FlowEnd, u16), WorldError> {
        let hosts = &mut self.ends;
        let rng = Rng::stream(spec.seed, SOURCE_STREAM + u64::from(number.get()));
        if let (Some(content), Some((sender, _, header))) = (outside, flow.source.tcp()) {
            let size = match (&flow.source, sender.data) {
                (SourceSpec::Session { .. }, _) => return fault(spec.name_of(flow), WorldFault::SessionOutside),
                (_, Data::Bytes(size)) => Some(size.get()),
                _ => None,
            };
            self.net.recorder.flows[number] = FlowSignals::with_tickets(content.numbering());
            return Ok((FlowEnd::Outside(hosts.outside.push(OutsideFlow::new(content, size))), header.get() as u16));
        }
        Ok(match &flow.source {
            SourceSpec::Session { header, .. } => (FlowEnd::Session(hosts.sessions.next_id()), header.get() as u16),
            SourceSpec::Tcp { sender, receiver, header } => {
                let sender = Sender::new(sender, rng).map_err(|e| WorldError { subject: spec.name_of(flow), fault: e.into() })?;
                let group = GroupId::at(flow.group as usize);
                let tcp = hosts.add_connection(sender, Receiver::new(receiver), number, group);
                (FlowEnd::Tcp(tcp), header.get() as u16)
            }
            udp => {
                if let Some(mut source) = UdpSource::new(udp, rng) {
                    source.listener = listener(spec, flow);
                    hosts.sources.push(source);
                }
                self.net.recorder.flows[number] = FlowSignals::new(Numbering::Packets);
                let source = hosts.flow_of_source.push(number);
                (if matches!(udp, SourceSpec::Echo { .. }) { FlowEnd::Echo(source) } else { FlowEnd::Udp(source) }, 0)
            }
        })
    }

    /// Adds the session of a flow that has one. Its requests take the flow's reverse route, and
    /// their acknowledgements the forward route.
    fn add_session_of(
        &mut self,
        spec: &WorldSpec,
        number: FlowId,
        flow: &FlowSpec,
        place: PlaceInQueues,
        most_open: u32,
    ) -> Result<(), WorldError> {
        let SourceSpec::Session { model, sender, receiver, .. } = &flow.source else { return Ok(()) };
        if Session::fixed_channels(model) > most_open {
            let too_many = WorldFault::TooMany { parts: "connections for one of so many sessions", most: most_open };
            return fault(&spec.groups[flow.group as usize], too_many);
        }
        let data = self.net.routes[number];
        let request = Route {
            hops: self.net.path.hops.next_id(),
            forward: data.reverse,
            reverse: data.forward,
            mark: data.mark.turned(),
            ..data
        };
        for heading in [PathHalf::Reverse, PathHalf::Forward] {
            let (first, count) = data.hops(heading);
            self.net.path.hops.repeat(first, usize::from(count));
        }
        // A flow with settings of TCP has a path with a rate.
        let Some(ideal) = ideal(spec, flow) else { return Ok(()) };
        self.add_session(
            Session::new(model, most_open),
            session_rng(spec.seed, number),
            number,
            (sender, receiver),
            SessionPath { routes: [data, request], place, ideal },
        )
    }
}

fn check(spec: &WorldSpec, flow: &FlowSpec) -> Result<(), WorldError> {
    let name = || spec.name_of(flow);
    if flow.group as usize >= spec.groups.len() {
        return fault(name(), WorldFault::NoGroup);
    }
    if !(flow.weight > 0.0 && flow.weight.is_finite()) {
        return fault(name(), WorldFault::Weight(flow.weight));
    }
    if flow.source.is_answered() && flow.reverse.is_empty() {
        return fault(name(), WorldFault::NoWayBack);
    }
    if let SourceSpec::Echo { packet_size, .. } = flow.source
        && !(MIN_ECHO..=Bytes::new(u64::from(u16::MAX))).contains(&packet_size)
    {
        return fault(name(), WorldFault::ProbeSize { size: packet_size, least: MIN_ECHO });
    }
    if let Some((sender, _, header)) = flow.source.tcp()
        && sender.mss + header > Bytes::new(u64::from(u16::MAX))
    {
        return fault(name(), WorldFault::SegmentSize { mss: sender.mss, header });
    }
    Ok(())
}

impl Network {
    /// Adds the hops of a flow, and lanes for them.
    fn add_hops(&mut self, spec: &WorldSpec, flow: &FlowSpec, state: &mut BuildState) {
        let delay = |link: SpecLink| spec.links[link as usize].delay;
        for route in [&flow.forward, &flow.reverse] {
            let first = self.path.hops.next_id();
            for (place, &link) in route.iter().enumerate() {
                let element = match state.elements[link as usize] {
                    Element::Wire(wire) if place > 0 && state.feeders[link as usize] == Feeder::One(route[place - 1]) => {
                        Element::FusedWire(wire)
                    }
                    element => element,
                };
                let is_fused_wire = |link: SpecLink| {
                    state.elements[link as usize].wire().is_some() && matches!(state.feeders[link as usize], Feeder::One(_))
                };
                let chain = route[place + 1..].iter().take_while(|&&next| is_fused_wire(next));
                let delay = delay(link) + chain.fold(Duration::ZERO, |sum, &link| sum + delay(link));
                let origin = match element {
                    Element::Link(link) => LaneOrigin::Link(link),
                    Element::Wire(wire) | Element::FusedWire(wire) => LaneOrigin::Wires(self.path.wires[wire].class),
                };
                let lane = *state.lanes.entry(LaneKey { origin, delay }).or_insert_with(|| self.path.lanes.push(Lane::new()));
                if let (Element::FusedWire(_), Some(before)) = (element, self.path.hops.last_mut()) {
                    before.joined = true;
                }
                self.path.hops.push(Hop::new(element, lane));
            }
            self.note_lane_exits(first, route.len());
        }
    }
}

/// The random numbers of a session, and the root of those of its connections.
pub(in crate::world) fn session_rng(seed: u64, flow: FlowId) -> (Rng, u64) {
    let mut rng = Rng::stream(seed, SOURCE_STREAM + u64::from(flow.get()));
    let connections = rng.next_u64();
    (rng, connections)
}

impl PlaceInQueues {
    /// The place of a flow, with the queues on its route that must be told.
    pub(super) fn of(flow: &FlowSpec, elements: &[Element]) -> Self {
        let queued = |route: &[SpecLink]| {
            let links = route.iter().filter_map(|link| elements[*link as usize].link());
            links.filter(|_| flow.weight != 1.0 || flow.leaf.is_some()).collect()
        };
        Self { weight: flow.weight, leaf: flow.leaf.clone(), forward: queued(&flow.forward), reverse: queued(&flow.reverse) }
    }
}

/// The listener of a call.
fn listener(spec: &WorldSpec, flow: &FlowSpec) -> Option<Box<Listener>> {
    let SourceSpec::Call { content, interval, .. } = flow.source else { return None };
    Some(Box::new(Listener::new(content, interval, spec.delay(&flow.forward))))
}

/// Whether a source ends by itself, so that it has a completion time.
fn is_limited(source: &SourceSpec) -> bool {
    matches!(source, SourceSpec::Tcp { sender, .. } if matches!(sender.data, Data::Bytes(_)))
}

/// The least time that a TCP flow's path allows; `None` for UDP.
///
/// Rates that somebody changes while the world runs are not known to it.
pub(in crate::world) fn ideal(spec: &WorldSpec, flow: &FlowSpec) -> Option<Ideal> {
    let (sender, _, header) = flow.source.tcp()?;
    let base_rtt = spec.delay(&flow.forward) + spec.delay(&flow.reverse);
    // Data that somebody asks for leaves when the request has arrived.
    let asked = matches!(&flow.source, SourceSpec::Session { model, .. } if Session::is_asked(model));
    let first = if asked { spec.delay(&flow.reverse) } else { Duration::ZERO };
    let (mut narrow, mut steady) = (Vec::new(), None::<(Rate, Narrow)>);
    for (place, number) in flow.forward.iter().enumerate() {
        let link = &spec.links[*number as usize];
        let rate = RateCursor::with_burst(&link.rate, link.burst);
        let known = link.rate.nominal();
        let here = Narrow {
            rate,
            extra: (header + link.framing.added(link.mtu)).get(),
            lead: first + spec.delay(&flow.forward[..place]),
        };
        if matches!(link.rate, RateSpec::Steps(_)) {
            narrow.push(here);
        } else if steady.as_ref().is_none_or(|(least, _)| known < *least) {
            steady = Some((known, here));
        }
    }
    narrow.extend(steady.map(|(_, link)| link));
    Some(Ideal { base_rtt, mss: sender.mss.get(), narrow: narrow.into() })
}
