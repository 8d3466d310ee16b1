//! Construction of a world from a specification: routes, lanes, queues, ends, first events.

mod elements;
mod flows;
mod growth;

use super::error::{WorldError, WorldFault, fault};
use super::figures::Figures;
use super::flow_ends::{Control, FlowEnds};
use super::network::Network;
use super::outside_flow::Content;
use super::path::Element;
use super::state::{Clock, World};
use crate::ids::{IdVec, LaneId, LinkId, WireClassId};
use crate::link::SMALL;
use crate::losses::{FlowSignals, LossEvents};
use crate::probe::EventRecorder;
use crate::session::MAX_OPEN;
use crate::spec::{FlowSpec, SizeLaw, SourceSpec, WorldSpec};
use crate::sys::CROWD;
use crate::timers::{MAX_INDEX, Target};
use elements::Elements;
use goodqueue_base::line::RateSpec;
use goodqueue_base::units::{Duration, Instant, Rng};
use std::collections::BTreeMap;

pub(super) use elements::discipline;
pub(super) use flows::{ideal, session_rng};

/// Random streams of a world; each kind starts at its own number so that adding one never shifts
/// another.
const QUEUE_STREAM: u64 = 1 << 32;
const LOSS_STREAM: u64 = 2 << 32;
const SOURCE_STREAM: u64 = 3 << 32;
const JITTER_STREAM: u64 = 4 << 32;

/// The location of the ends of TCP connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TcpEnds {
    Simulated,
    Outside,
    /// The ends of flows of these groups are outside, where they exchange datagrams of any kind;
    /// all others are simulated.
    Foreign(Vec<u32>),
}

impl TcpEnds {
    /// Returns the network's knowledge of the packets of a flow of this group if its ends are
    /// outside; `None` if they are simulated.
    fn of(&self, group: u32) -> Option<Content> {
        match self {
            Self::Simulated => None,
            Self::Outside => Some(Content::Segments),
            Self::Foreign(groups) => groups.contains(&group).then_some(Content::Datagrams),
        }
    }
}

/// The results of building a world that later additions to it need.
pub(super) struct BuildState {
    /// The element of each link of the specification. Whether a wire is fused depends on the route.
    pub(super) elements: Vec<Element>,
    feeders: Vec<Feeder>,
    lanes: BTreeMap<LaneKey, LaneId>,
    salt: Rng,
    /// Connections that each session may have open.
    most_open: u32,
    ends: TcpEnds,
}

/// Builds the world of a specification.
pub(super) fn world(spec: &WorldSpec, ends: TcpEnds) -> Result<(World, BuildState), WorldError> {
    let end = Instant::ZERO + spec.warmup + spec.duration;
    if spec.flows.len() > MAX_INDEX as usize || spec.links.len() > MAX_INDEX as usize {
        return fault("world", WorldFault::TooMany { parts: "flows or links", most: MAX_INDEX });
    }
    if spec.groups.len() > usize::from(u16::MAX) {
        return fault("world", WorldFault::TooMany { parts: "groups", most: u16::MAX.into() });
    }
    for flow in &spec.flows {
        if let Some(&unknown) = flow.forward.iter().chain(&flow.reverse).find(|&&link| link as usize >= spec.links.len()) {
            return fault("world", WorldFault::NoLink(unknown));
        }
    }
    let Elements { elements, classes, wires, links, observed, salt } = Elements::new(spec, end)?;
    let gaps = shortest_round_trips(spec, &elements, links.len());
    let losses = gaps.pairs().map(|(link, gap)| LossEvents::new(link, *gap)).collect();
    let mut recorder = EventRecorder::new(losses, observed, spec.recording.packets.then(Vec::new));
    recorder.flows.resize(spec.flows.len(), FlowSignals::default());
    let mut world = World {
        clock: Clock { now: Instant::ZERO, end, warmup: spec.warmup, events: 0 },
        net: Network::new(links, wires, classes, recorder),
        ends: FlowEnds::new(spec.flows.len() >= CROWD),
        figures: Figures::new(&spec.groups, spec.recording),
    };
    world.net.connect_flow_control(spec, &elements);
    world.net.large_packets_are_alike = large_packets_are_alike(spec);
    let feeders = feeders(spec);
    let mut state = BuildState { elements, feeders, lanes: BTreeMap::new(), salt, most_open: most_open(spec), ends };
    for flow in &spec.flows {
        world.add_flow(spec, &mut state, flow)?;
    }
    world.net.grow_agenda();
    world.check_end()?;
    world.set_first_events(spec, &state);
    Ok((world, state))
}

impl World {
    /// The more links and lanes there are, the shorter is the time that the agenda can tell apart.
    /// Deferred wires will add lanes, at most as many as there are.
    fn check_end(&self) -> Result<(), WorldError> {
        let latest = self.net.path.agenda.horizon();
        if self.clock.end > latest {
            return fault("world", WorldFault::TooLong { end: self.clock.end, latest });
        }
        Ok(())
    }
}

/// Whether all packets of flows have one size, apart from those that are [small](SMALL).
fn large_packets_are_alike(spec: &WorldSpec) -> bool {
    let mut sizes = spec.flows.iter().map(|flow| match flow.source {
        SourceSpec::Tcp { ref sender, header, .. } => Some(sender.mss + header),
        SourceSpec::Poisson { sizes: SizeLaw::Exponential, .. } | SourceSpec::Frames { .. } | SourceSpec::Session { .. } => None,
        ref udp => udp.datagrams().map(|datagrams| datagrams.packet_size),
    });
    let mut large = None;
    sizes.all(|size| size.is_some_and(|size| size.get() < u64::from(SMALL) || *large.get_or_insert(size) == size))
}

/// Returns, for each link with a queue, the shortest propagation delay there and back of the flows
/// that cross it.
fn shortest_round_trips(spec: &WorldSpec, elements: &[Element], links: usize) -> IdVec<LinkId, Duration> {
    let mut shortest = IdVec::filled(Duration::MAX, links);
    for flow in &spec.flows {
        let delay = spec.delay(&flow.forward) + spec.delay(&flow.reverse);
        for link in flow.forward.iter().filter_map(|&link| elements[link as usize].link()) {
            shortest[link] = shortest[link].min(delay);
        }
    }
    shortest
}

/// The source of the packets of a link of the specification.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    Nothing,
    /// One other link only.
    One(u32),
    /// Hosts, or several links.
    Several,
}

fn feeders(spec: &WorldSpec) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nothing; spec.links.len()];
    spec.flows.iter().for_each(|flow| note_feeders(&mut feeders, flow));
    feeders
}

fn note_feeders(feeders: &mut [Feeder], flow: &FlowSpec) {
    for route in [&flow.forward, &flow.reverse] {
        for (place, &link) in route.iter().enumerate() {
            let by = if place == 0 { Feeder::Several } else { Feeder::One(route[place - 1]) };
            let known = &mut feeders[link as usize];
            *known = if *known == Feeder::Nothing || *known == by { by } else { Feeder::Several };
        }
    }
}

/// The common origin of packets in one lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LaneOrigin {
    Link(LinkId),
    /// All wires of a class.
    Wires(WireClassId),
}

/// Packets in one lane have the same origin and travel equally long.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LaneKey {
    origin: LaneOrigin,
    delay: Duration,
}

impl Network {
    /// Connects each link with flow control to the links with queues that lead to it.
    fn connect_flow_control(&mut self, spec: &WorldSpec, elements: &[Element]) {
        for pair in spec.flows.iter().flat_map(|flow| flow.forward.windows(2).chain(flow.reverse.windows(2))) {
            let [before, after] = [pair[0], pair[1]].map(|link| elements[link as usize].link());
            if let (Some(before), Some(after)) = (before, after)
                && let Some(control) = &mut self.links[after].flow_control
                && !control.feeders.contains(&before)
            {
                control.feeders.push(before);
            }
        }
    }
}

impl World {
    fn set_first_events(&mut self, spec: &WorldSpec, state: &BuildState) {
        // Measuring begins before anything else that happens at the same instant.
        self.add_event(Instant::ZERO + spec.warmup, Control::BeginMeasuring);
        for (link, element) in spec.links.iter().zip(&state.elements) {
            if let (RateSpec::Steps(steps), Some(number)) = (&link.rate, element.link()) {
                for &(when, rate) in steps.iter().skip(1) {
                    self.add_event(when, Control::RateStep(number, rate));
                }
            }
        }
        for (flow, facts) in self.ends.flows.ids().zip(&spec.flows) {
            self.add_event(facts.start, Control::StartFlow(flow));
            if let Some(stop) = facts.stop {
                self.add_event(stop, Control::StopFlow(flow));
            }
        }
        if let Some(period) = spec.recording.sample_every.filter(|period| !period.is_zero()) {
            self.prepare_series(period);
            self.add_event(Instant::ZERO + period, Control::Sample);
        } else {
            self.figures.recording.sample_every = None;
        }
        for link in self.net.links.ids() {
            self.net.arm_queue_timer(self.clock.now, link);
        }
    }

    /// Adds a control event, which happens if it is due by the end.
    fn add_event(&mut self, at: Instant, control: Control) {
        let control = self.ends.controls.push(control);
        if at <= self.clock.end {
            self.set_timer(at, Target::Control(control));
        }
    }
}

/// Connections that each session may have open at once, so that all their ends and timers can be
/// told apart.
fn most_open(spec: &WorldSpec) -> u32 {
    let sessions = spec.flows.iter().filter(|flow| matches!(flow.source, SourceSpec::Session { .. })).count() as u32;
    // Two ends per connection, and two events besides each flow's own.
    let room = MAX_INDEX.saturating_sub(4 * spec.flows.len() as u32) / 2;
    (room / sessions.max(1)).min(MAX_OPEN)
}
