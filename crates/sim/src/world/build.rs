//! From a specification to a world: routes, lanes, queues, hosts, first events.

mod growth;
mod stops;

use super::outside::OutsideFlow;
use super::sessions::{Place, Queues};
use super::{Control, FUSED, FlowFacts, Hop, HostKind, ReceiverHost, Route, SenderHost, Slots, WIRE, World, WorldError, measure};
use crate::agenda::Agenda;
use crate::call::Listener;
use crate::completions::{Completions, Ideal};
use crate::lane::Lane;
use crate::link::{Link, Pressure, Wire, WireClass};
use crate::losses::{FlowSignals, LossEvents};
use crate::packet::{HostMark, SimPacket};
use crate::probe::{LinkProbe, Tap};
use crate::rate::RateProcess;
use crate::session::{MOST_OPEN, Session};
use crate::settle::SettleProbe;
use crate::spec::{FlowSpec, LinkId, LinkSpec, QueueSpec, RateSpec, SourceSpec, WorldSpec};
use crate::timers::{MAX_INDEX, Target, Timers};
use crate::traffic::{SMALLEST_PACKET, UdpSource};
use goodqueue_aqm::spec::{Chosen, Default as ParamDefault, KindSpec, LinkFacts, ParamError, Value};
use goodqueue_aqm::{AnyQdisc, Limit};
use goodqueue_tcp::{Data, Receiver, Sender};
use goodqueue_trace::TimeCounts;
use goodqueue_units::{Bytes, Duration, Instant, Rate, Rng};
use std::collections::BTreeMap;

/// Flows whose state together is more than the nearest caches hold.
const CROWD: usize = 256;
/// Random streams of a world; each kind starts at its own number so that adding one never shifts another.
const QUEUE_STREAM: u64 = 1 << 32;
const LOSS_STREAM: u64 = 2 << 32;
const SOURCE_STREAM: u64 = 3 << 32;
const JITTER_STREAM: u64 = 4 << 32;

/// A probe carries something.
const LEAST_ECHO: Bytes = Bytes::new(SMALLEST_PACKET as u64 + 1);

pub(super) fn fault<T>(subject: impl Into<String>, message: impl Into<String>) -> Result<T, WorldError> {
    Err(WorldError { subject: subject.into(), message: message.into() })
}

/// Where the ends of TCP connections are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Simulated,
    Outside,
}

/// What was found out while a world was built, for those who add to it later.
pub(super) struct Ground {
    /// Wire or link number of each link of the specification, tagged with [`WIRE`].
    pub(super) codes: Vec<u32>,
    feeders: Vec<Feeder>,
    lanes: BTreeMap<LaneKey, u32>,
    salt: Rng,
    /// Connections that each session may have open.
    most_open: u32,
    ends: Ends,
}

/// The world of a specification, and what it stands on.
pub(super) fn world(spec: &WorldSpec, ends: Ends) -> Result<(World, Ground), WorldError> {
    let end = Instant::ZERO + spec.warmup + spec.duration;
    if spec.flows.len() > MAX_INDEX as usize || spec.links.len() > MAX_INDEX as usize {
        return fault("world", format!("more than {MAX_INDEX} flows or links"));
    }
    if spec.groups.len() > usize::from(u16::MAX) {
        return fault("world", format!("more than {} groups", u16::MAX));
    }
    for flow in &spec.flows {
        if let Some(&unknown) = flow.forward.iter().chain(&flow.reverse).find(|&&link| link as usize >= spec.links.len()) {
            return fault("world", format!("link number {unknown} does not exist"));
        }
    }
    let Elements { codes, classes, wires, links, salt } = Elements::new(spec, end)?;
    let losses = shortest_round_trips(spec, &codes, links.len()).zip(0..).map(|(gap, link)| LossEvents::new(link, gap)).collect();
    let mut world = World {
        now: Instant::ZERO,
        end,
        warmup: spec.warmup,
        agenda: Agenda::new(0),
        slots: Slots::new(links.len()),
        timers: Timers::new(),
        handled: 0,
        launched: 0,
        ended: 0,
        wire_losses: 0,
        lanes: Vec::new(),
        hops: Vec::new(),
        routes: Vec::new(),
        wire_classes: classes,
        wires,
        lag: None,
        crowded: spec.flows.len() >= CROWD,
        flow_control: links.iter().any(|link| link.pressure.is_some()),
        links,
        senders: Vec::new(),
        receivers: Vec::new(),
        sources: Vec::new(),
        flows: Vec::new(),
        outside: Vec::new(),
        arrived: Vec::new(),
        sessions: Vec::new(),
        channels: Vec::new(),
        streams: Vec::new(),
        stream_of_slot: Vec::new(),
        actions: Vec::new(),
        limited: Vec::new(),
        completions: spec.groups.iter().map(|_| Completions::default()).collect(),
        group_names: spec.groups.clone(),
        flow_of_slot: Vec::new(),
        flow_of_source: Vec::new(),
        group_of_sender: Vec::new(),
        group_delay: vec![None; spec.groups.len()],
        group_rtt: spec.groups.iter().map(|_| TimeCounts::new()).collect(),
        controls: Vec::new(),
        tap: Tap {
            now: Instant::ZERO,
            link: 0,
            observed: None,
            flows: vec![FlowSignals::default(); spec.flows.len()],
            losses,
            fingerprint: 0,
            log: spec.recording.packets.then(Vec::new),
            lost: None,
        },
        measuring: false,
        recording: spec.recording,
        series: Vec::new(),
        sampled: measure::SampledFlows::default(),
    };
    world.let_feeders_hear(spec, &codes);
    let (feeders, most_open) = (feeders(spec), most_open(spec));
    let mut ground = Ground { codes, feeders, lanes: BTreeMap::new(), salt, most_open, ends };
    for (number, flow) in spec.flows.iter().enumerate() {
        world.add_whole_flow(spec, &mut ground, number as u32, flow)?;
    }
    world.agenda = Agenda::new(world.slots.lane(world.lanes.len() as u32));
    world.first_events(spec);
    Ok((world, ground))
}

/// Links of a specification sorted into wires and links with queues.
struct Elements {
    /// Wire or link number of each link of the specification, tagged with [`WIRE`].
    codes: Vec<u32>,
    classes: Vec<WireClass>,
    wires: Vec<Wire>,
    links: Vec<Link>,
    /// Where wires have their salt from.
    salt: Rng,
}

impl Elements {
    fn new(spec: &WorldSpec, end: Instant) -> Result<Self, WorldError> {
        let salt = Rng::stream(spec.seed, JITTER_STREAM);
        let mut all = Self { codes: Vec::new(), classes: Vec::new(), wires: Vec::new(), links: Vec::new(), salt };
        let mut observed = 0;
        for (number, link) in spec.links.iter().enumerate() {
            let code = if is_wire(link) {
                add_wire(&mut all.classes, &mut all.wires, &mut all.salt, link)?
            } else {
                let seen = link.observed.then_some(observed);
                observed += u32::from(link.observed);
                all.links.push(queued_link(spec, number, link, seen, end)?);
                all.links.len() as u32 - 1
            };
            all.codes.push(code);
        }
        Ok(all)
    }
}

/// Adds a link without queue; gives its number, tagged with [`WIRE`].
fn add_wire(classes: &mut Vec<WireClass>, wires: &mut Vec<Wire>, salt: &mut Rng, link: &LinkSpec) -> Result<u32, WorldError> {
    let RateSpec::Constant(rate) = link.rate else {
        return fault(&link.name, "a link without queue needs a constant rate");
    };
    if rate.is_zero() {
        return fault(&link.name, "a link without queue needs a rate above zero");
    }
    let class = WireClass::new(rate, link.delay, link.overhead, link.jitter);
    // Hosts are mostly alike and neighbours in the list, so the search starts at the latest class. A class that has sent
    // something remembers that, and is found all the same.
    let index = classes.iter().rposition(|known| known.is_like(&class)).unwrap_or_else(|| {
        classes.push(class);
        classes.len() - 1
    });
    let Ok(index) = u16::try_from(index) else {
        return fault(&link.name, "more than 65536 different access links");
    };
    wires.push(Wire::new(index, salt.next_u64() as u16));
    Ok((wires.len() as u32 - 1) | WIRE)
}

fn queued_link(spec: &WorldSpec, number: usize, link: &LinkSpec, seen: Option<u32>, end: Instant) -> Result<Link, WorldError> {
    if !link.jitter.is_zero() {
        return fault(&link.name, "only a link without queue, loss and observer may have jitter");
    }
    let rate = RateProcess::new(&link.rate, link.burst);
    if let RateSpec::Trace(trace) = &link.rate {
        let ordered = trace.opportunities.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let inside = trace.opportunities.first().is_some_and(|o| !o.0.is_zero())
            && trace.opportunities.last().is_some_and(|o| o.0 <= trace.period);
        if !ordered || !inside || trace.opportunities.iter().any(|o| o.1.is_zero()) {
            return fault(&link.name, "a trace needs opportunities of at least one byte, rising in time within its period");
        }
    }
    let stream = Rng::stream(spec.seed, QUEUE_STREAM + number as u64);
    let (qdisc, target) = discipline(link, rate.known_rate(Instant::ZERO), stream)?;
    let mut probe = LinkProbe::new(link.name.clone(), seen, Instant::ZERO + spec.warmup, end);
    probe.line_bytes = vec![0; 2 * spec.groups.len()];
    if let (RateSpec::Steps(steps), Some(_)) = (&link.rate, seen)
        && steps.len() > 1
    {
        probe.extras().settle = Some(SettleProbe::new(steps.iter().skip(1).map(|step| step.0).collect(), target));
    }
    Ok(Link {
        qdisc,
        rate,
        delay: link.delay,
        overhead: link.overhead,
        busy_until: Instant::ZERO,
        idle_unsaid: false,
        transit: None,
        loss: link.loss,
        silenced_by: 0,
        pressure: link.flow_control.map(|most| Box::new(Pressure { most, feeders: Vec::new(), on: false })),
        rng: Rng::stream(spec.seed, LOSS_STREAM + number as u64),
        probe,
    })
}

/// What waits in front of a link's transmitter, and the delay it aims at.
pub(super) fn discipline(
    link: &LinkSpec,
    rate: Rate,
    stream: Rng,
) -> Result<(AnyQdisc<SimPacket>, Option<Duration>), WorldError> {
    let facts = |limit| LinkFacts { rate: Some(rate), delay: link.delay, mtu: link.mtu, overhead: link.overhead, limit };
    let refuse = |error: ParamError| WorldError { subject: link.name.clone(), message: error.to_string() };
    let (kind, params, of, ecn, limit) = match &link.queue {
        QueueSpec::Discipline { kind, params, of, ecn, limit } => (*kind, params.as_slice(), of.as_ref(), *ecn, *limit),
        QueueSpec::Unlimited => {
            let Some(tail_drop) = goodqueue_aqm::sched::kind("tail-drop") else {
                return fault(&link.name, "tail-drop is not built in");
            };
            (tail_drop, &[][..], None, goodqueue_aqm::EcnPolicy::Drop, Limit::NONE)
        }
        QueueSpec::Own { kind, ecn, limit } => {
            let queue = AnyQdisc::build_own(&**kind, &facts(*limit), *ecn, stream).map_err(refuse)?;
            return Ok((queue, None));
        }
    };
    let queue = AnyQdisc::build_over(kind, params, of, &facts(limit), ecn, stream).map_err(refuse)?;
    Ok((queue, target(kind, params, of)))
}

/// The delay that a queue's algorithm, or the one it puts to work, aims at.
fn target(kind: &KindSpec, params: &[(&'static str, Value)], of: Option<&Chosen>) -> Option<Duration> {
    if let Some(of) = of {
        return target(of.kind, &of.params, of.of.as_deref());
    }
    let given = params.iter().find(|(name, _)| *name == "target").map(|(_, value)| *value);
    let default = || match kind.params.iter().find(|param| param.name == "target")?.default {
        ParamDefault::Value(value) => Some(value),
        ParamDefault::Auto(_) => None,
    };
    match given.or_else(default)? {
        Value::Duration(target) => Some(target),
        _ => None,
    }
}

/// For each link with a queue, the shortest propagation delay there and back of the flows that cross it.
fn shortest_round_trips(spec: &WorldSpec, codes: &[u32], links: usize) -> impl Iterator<Item = Duration> + use<> {
    let mut shortest = vec![Duration::MAX; links];
    for flow in &spec.flows {
        let route = || flow.forward.iter().chain(&flow.reverse);
        let delay = route().fold(Duration::ZERO, |sum, &link| sum + spec.links[link as usize].delay);
        for code in flow.forward.iter().map(|&link| codes[link as usize]).filter(|code| code & WIRE == 0) {
            shortest[code as usize] = shortest[code as usize].min(delay);
        }
    }
    shortest.into_iter()
}

/// What feeds each link of the specification.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    Nothing,
    /// This one link only.
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

/// Packets in one lane come from the same link, or from wires of one class, and travel equally long.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LaneKey {
    origin: u32,
    delay: Duration,
}

impl World {
    /// Connects each link with flow control to the links with queues that lead to it.
    fn let_feeders_hear(&mut self, spec: &WorldSpec, codes: &[u32]) {
        for pair in spec.flows.iter().flat_map(|flow| flow.forward.windows(2).chain(flow.reverse.windows(2))) {
            let (before, after) = (codes[pair[0] as usize], codes[pair[1] as usize]);
            if before & WIRE == 0
                && after & WIRE == 0
                && let Some(pressure) = &mut self.links[after as usize].pressure
                && !pressure.feeders.contains(&before)
            {
                pressure.feeders.push(before);
            }
        }
    }

    /// Adds a flow with its route, its weight and its session. Nothing starts it.
    fn add_whole_flow(&mut self, spec: &WorldSpec, ground: &mut Ground, number: u32, flow: &FlowSpec) -> Result<(), WorldError> {
        self.add_flow(spec, number, flow, ground.ends)?;
        self.add_route(spec, flow, &ground.codes, &ground.feeders, &mut ground.lanes);
        let queues = Queues::of(flow, &ground.codes);
        self.weigh(number, &queues);
        self.add_session_of(spec, number, flow, queues, ground.most_open)?;
        if limited(&flow.source)
            && let Some(ideal) = ideal(spec, flow)
        {
            self.limited.push((number, ideal));
        }
        Ok(())
    }

    fn add_flow(&mut self, spec: &WorldSpec, number: u32, flow: &FlowSpec, ends: Ends) -> Result<(), WorldError> {
        let name = || format!("{}[{}]", spec.groups.get(flow.group as usize).map_or("?", String::as_str), flow.index);
        if flow.group as usize >= spec.groups.len() {
            return fault(name(), "its group does not exist");
        }
        if !(flow.weight > 0.0 && flow.weight.is_finite()) {
            return fault(name(), format!("its weight, {}, is not above zero", flow.weight));
        }
        let rng = Rng::stream(spec.seed, SOURCE_STREAM + u64::from(number));
        if flow.source.is_answered() && flow.reverse.is_empty() {
            return fault(name(), "a flow whose sink answers needs a way back");
        }
        if let SourceSpec::Echo { packet_size, .. } = flow.source
            && !(LEAST_ECHO..=Bytes::new(u64::from(u16::MAX))).contains(&packet_size)
        {
            return fault(name(), format!("probes of {packet_size}: allowed {LEAST_ECHO} to 65535 B"));
        }
        if let Some((sender, _, header)) = flow.source.tcp()
            && sender.mss + header > Bytes::new(u64::from(u16::MAX))
        {
            return fault(name(), format!("segments of {} and {} of headers exceed 65535 B", sender.mss, header));
        }
        let (kind, slot, header) = if let (Ends::Outside, Some((sender, _, header))) = (ends, flow.source.tcp()) {
            let size = match (&flow.source, sender.data) {
                (SourceSpec::Session { .. }, _) => return fault(name(), "the ends of sessions cannot be outside"),
                (_, Data::Bytes(size)) => Some(size.get()),
                _ => None,
            };
            self.outside.push(OutsideFlow::new(size));
            (HostKind::Outside, self.outside.len() as u32 - 1, header.get() as u16)
        } else if let SourceSpec::Session { header, .. } = &flow.source {
            // The session itself follows when its ways are known.
            (HostKind::Session, 0, header.get() as u16)
        } else if let SourceSpec::Tcp { sender, receiver, header } = &flow.source {
            let built = Sender::new(sender, rng).map_err(|e| WorldError { subject: name(), message: e.to_string() })?;
            self.senders.push(SenderHost { sender: built, timer_at: Instant::MAX, held_until: Instant::ZERO, rtt_samples: 0 });
            self.receivers.push(ReceiverHost { receiver: Receiver::new(receiver), timer_at: Instant::MAX });
            self.flow_of_slot.push(number);
            self.group_of_sender.push(flow.group);
            (HostKind::Tcp, self.senders.len() as u32 - 1, header.get() as u16)
        } else {
            if let Some(mut source) = UdpSource::new(&flow.source, rng) {
                source.listener = listener(spec, flow);
                self.sources.push(source);
            }
            self.flow_of_source.push(number);
            let kind = if matches!(flow.source, SourceSpec::Echo { .. }) { HostKind::Echo } else { HostKind::Udp };
            (kind, self.sources.len() as u32 - 1, 0)
        };
        self.flows.push(FlowFacts {
            group: flow.group,
            index: flow.index,
            kind,
            slot,
            start: flow.start,
            weight: flow.weight,
            completed_at: None,
            active: false,
            at_warmup: measure::FlowReading::default(),
        });
        let (forward, reverse) = (u8::try_from(flow.forward.len()), u8::try_from(flow.reverse.len()));
        let (Ok(forward @ 1..), Ok(reverse)) = (forward, reverse) else {
            return fault(name(), "a route needs 1 to 255 links");
        };
        self.routes.push(Route {
            hops: self.hops.len() as u32,
            slot,
            header,
            class: flow.class,
            host: HostMark::of(flow.shared_host),
            group: flow.group as u16,
            forward,
            reverse,
            kind,
        });
        Ok(())
    }

    fn add_route(
        &mut self,
        spec: &WorldSpec,
        flow: &FlowSpec,
        codes: &[u32],
        feeders: &[Feeder],
        lanes: &mut BTreeMap<LaneKey, u32>,
    ) {
        for route in [&flow.forward, &flow.reverse] {
            for (place, &link) in route.iter().enumerate() {
                let code = codes[link as usize];
                let fused = place > 0 && code & WIRE != 0 && feeders[link as usize] == Feeder::One(route[place - 1]);
                let chain = route[place + 1..]
                    .iter()
                    .take_while(|&&next| codes[next as usize] & WIRE != 0 && matches!(feeders[next as usize], Feeder::One(_)));
                let delay =
                    spec.links[link as usize].delay + chain.fold(Duration::ZERO, |sum, &l| sum + spec.links[l as usize].delay);
                let origin = if code & WIRE == 0 { code } else { u32::from(self.wires[(code & !WIRE) as usize].class) | WIRE };
                let next_lane = lanes.len() as u32;
                let lane = *lanes.entry(LaneKey { origin, delay }).or_insert(next_lane);
                if lane == next_lane {
                    self.lanes.push(Lane::new());
                }
                if fused && let Some(before) = self.hops.last_mut() {
                    before.joined = true;
                }
                self.hops.push(Hop { element: code | if fused { FUSED } else { 0 }, lane, joined: false });
            }
            self.note_stops(self.hops.len() - route.len(), route.len());
        }
    }

    /// The session of a flow that has one. Its requests take the flow's way back, and their acknowledgements its way there.
    fn add_session_of(
        &mut self,
        spec: &WorldSpec,
        number: u32,
        flow: &FlowSpec,
        queues: Queues,
        most_open: u32,
    ) -> Result<(), WorldError> {
        let SourceSpec::Session { model, sender, receiver, .. } = &flow.source else { return Ok(()) };
        if Session::fixed_channels(model) > most_open {
            let message = format!("more connections than one of so many sessions may have open, {most_open}");
            return fault(&spec.groups[flow.group as usize], message);
        }
        let data = self.routes[number as usize];
        let (there, back) = (data.way(false), data.way(true));
        let request = Route {
            hops: self.hops.len() as u32,
            forward: data.reverse,
            reverse: data.forward,
            host: data.host.turned(),
            ..data
        };
        for (first, len) in [back, there] {
            self.hops.extend_from_within(first as usize..first as usize + usize::from(len));
        }
        // A flow with settings of TCP has a path with a rate.
        let Some(ideal) = ideal(spec, flow) else { return Ok(()) };
        self.add_session(
            Session::new(model, most_open),
            session_rng(spec.seed, number),
            number,
            (sender, receiver),
            Place { ways: [data, request], queues, ideal },
        )
    }

    fn first_events(&mut self, spec: &WorldSpec) {
        let mut at = Vec::new();
        // Measuring begins before anything else that happens at the same instant.
        at.push((Instant::ZERO + spec.warmup, Control::BeginMeasuring));
        for (number, link) in spec.links.iter().enumerate() {
            if let RateSpec::Steps(steps) = &link.rate {
                let index = spec.links[..number].iter().filter(|l| !is_wire(l)).count() as u32;
                at.extend(steps.iter().skip(1).map(|&(when, rate)| (when, Control::RateStep(index, rate))));
            }
        }
        for (flow, facts) in spec.flows.iter().enumerate() {
            at.push((facts.start, Control::StartFlow(flow as u32)));
            if let Some(stop) = facts.stop {
                at.push((stop, Control::StopFlow(flow as u32)));
            }
        }
        if let Some(period) = spec.recording.sample_every.filter(|period| !period.is_zero()) {
            self.prepare_series();
            at.push((Instant::ZERO + period, Control::Sample));
        } else {
            self.recording.sample_every = None;
        }
        for (when, control) in at {
            let index = self.add_control(control);
            if when <= self.end {
                self.set_timer(when, Target::Control(index));
            }
        }
        for index in 0..self.links.len() as u32 {
            self.arm_queue_timer(index);
        }
    }
}

/// The random numbers of a session, and the root of those of its connections.
pub(super) fn session_rng(seed: u64, flow: u32) -> (Rng, u64) {
    let mut rng = Rng::stream(seed, SOURCE_STREAM + u64::from(flow));
    let connections = rng.next_u64();
    (rng, connections)
}

impl Queues {
    /// Those on a flow's ways; none when its weight is that of all.
    fn of(flow: &FlowSpec, codes: &[u32]) -> Self {
        let queued = |way: &[LinkId]| -> Vec<u32> {
            let codes = way.iter().map(|link| codes[*link as usize]);
            codes.filter(|code| code & WIRE == 0 && flow.weight != 1.0).collect()
        };
        Self { weight: flow.weight, there: queued(&flow.forward), back: queued(&flow.reverse) }
    }
}

/// Who listens to a call.
fn listener(spec: &WorldSpec, flow: &FlowSpec) -> Option<Box<Listener>> {
    let SourceSpec::Call { content, interval, .. } = flow.source else { return None };
    let base = flow.forward.iter().fold(Duration::ZERO, |sum, link| sum + spec.links[*link as usize].delay);
    Some(Box::new(Listener::new(content, interval, base)))
}

/// Connections that each session may have open at once, so that all their ends and timers can be told apart.
fn most_open(spec: &WorldSpec) -> u32 {
    let sessions = spec.flows.iter().filter(|flow| matches!(flow.source, SourceSpec::Session { .. })).count() as u32;
    // Two ends a connection, and two events beside each flow's own.
    let room = MAX_INDEX.saturating_sub(4 * spec.flows.len() as u32) / 2;
    (room / sessions.max(1)).min(MOST_OPEN)
}

/// Does it end, so that it has a time to be complete in?
fn limited(source: &SourceSpec) -> bool {
    matches!(source, SourceSpec::Tcp { sender, .. } if matches!(sender.data, Data::Bytes(_)))
}

/// What a TCP flow's path allows at best; `None` for UDP.
fn ideal(spec: &WorldSpec, flow: &FlowSpec) -> Option<Ideal> {
    let (sender, _, header) = flow.source.tcp()?;
    let link = |number: &LinkId| &spec.links[*number as usize];
    let rate = |link: &LinkSpec| RateProcess::new(&link.rate, link.burst).known_rate(Instant::ZERO);
    let narrowest = flow.forward.iter().map(link).min_by_key(|link| rate(link))?;
    Some(Ideal {
        base_rtt: flow.forward.iter().chain(&flow.reverse).map(link).fold(Duration::ZERO, |sum, link| sum + link.delay),
        narrowest: rate(narrowest),
        mss: sender.mss.get(),
        extra: (header + narrowest.overhead).get(),
    })
}

fn is_wire(link: &LinkSpec) -> bool {
    matches!((&link.queue, &link.rate), (QueueSpec::Unlimited, RateSpec::Constant(_)))
        && !link.observed
        && link.loss == 0.0
        && link.flow_control.is_none()
        && link.burst.is_zero()
}
