//! From one point of a plan to a simulated world.
//!
//! A flow's packets go from its host over an access link, the links of its group's path, and an
//! access link to the other host; and the same on the way back. With one link that is a dumbbell.
//! Access links belong to one flow each and never drop; directions of links that the file gives a
//! queue are what results report; others are FIFOs without limit that only delay.

use crate::scenario::limits::MAX_JITTER;
use crate::scenario::plan::{AccessEnds, Direction, Link, Part, Point, Queue, Scenario, Step, Traffic};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Rng};
use goodqueue_sim::{FlowSpec, LinkId, LinkSpec, QueueSpec, RateSpec, Recording, SharedHost, WorldSpec};
use std::ops::Range;

/// The world of one replication of a point, with the seed [`seed_of`].
///
/// Nothing is recorded besides the summary figures; set [`WorldSpec::recording`] for more.
#[must_use]
pub fn world(point: &Point, replication: u32) -> WorldSpec {
    of_copies(&point.plan, seed_of(&point.plan, replication), &(0..u32::MAX))
}

/// The number of worlds that a point consists of and that share nothing: the copies of its links,
/// where all of them have as many.
#[must_use]
pub fn separate_worlds(plan: &Scenario) -> u32 {
    let copies = plan.links[0].count;
    let is_separate =
        plan.links.iter().all(|link| link.count == copies) && plan.traffic.iter().all(|traffic| traffic.copies == copies);
    if is_separate { copies } else { 1 }
}

/// One of the [`separate_worlds`] of a point. They have random streams of their own; where there is
/// one, it is that of [`world`].
#[must_use]
pub fn separate_world(point: &Point, replication: u32, number: u32) -> WorldSpec {
    if separate_worlds(&point.plan) == 1 {
        return world(point, replication);
    }
    let seed = seed_of(&point.plan, replication);
    of_copies(&point.plan, Rng::stream(seed ^ COPY_STREAM, u64::from(number)).next_u64(), &(number..number + 1))
}

/// The world of some of the copies that links stand for.
fn of_copies(plan: &Scenario, seed: u64, copies: &Range<u32>) -> WorldSpec {
    let mut world = WorldSpec {
        links: links(plan, copies),
        flows: Vec::new(),
        groups: plan.traffic.iter().map(|traffic| traffic.name.clone()).collect(),
        warmup: plan.warmup,
        duration: plan.duration,
        seed,
        recording: Recording::default(),
    };
    let first = first_links(plan, copies);
    for (group, traffic) in plan.traffic.iter().enumerate() {
        let each = flows_of_a_copy(traffic);
        for index in copies.start * each..copies.end.saturating_mul(each).min(traffic.flows) {
            add_parts(&mut world, plan, &first, group, index, traffic.flows, Start::Drawn);
        }
    }
    world
}

/// Returns `count` more flows of a group, for a world that was built from `plan` and has come to
/// `now`: the content of [`goodqueue_sim::Change::Flows`]. They begin as far apart as the plan has
/// it for the group, the first of them now. Where a flow of the group has several parts each is a
/// flow of its own.
#[must_use]
pub fn more_flows(plan: &Scenario, world: &WorldSpec, group: usize, count: u32, now: Instant) -> (Vec<LinkSpec>, Vec<FlowSpec>) {
    let mut grown = world.clone();
    let first = first_links(plan, &(0..u32::MAX));
    for _ in 0..count {
        let there = grown.flows.iter().filter(|flow| flow.group == group as u32).map(|flow| flow.index + 1).max().unwrap_or(0);
        add_parts(&mut grown, plan, &first, group, there, 1, Start::From(now));
    }
    (grown.links.split_off(world.links.len()), grown.flows.split_off(world.flows.len()))
}

/// Flows of one number and those after it are behind one router, so that a copy has flows in a row.
fn flows_of_a_copy(traffic: &Traffic) -> u32 {
    (traffic.flows / traffic.copies).max(1)
}

/// All that a flow of a group does; its parts are `apart` in number.
fn add_parts(world: &mut WorldSpec, plan: &Scenario, first: &[LinkId], group: usize, index: u32, apart: u32, start: Start) {
    let traffic = &plan.traffic[group];
    let copy = index / flows_of_a_copy(traffic) % traffic.copies;
    for (number, part) in (0..).zip(traffic.parts()) {
        add_flow(
            world,
            plan,
            traffic,
            &FlowPlacement { group: group as u32, index: index + number * apart, drawn: index, start, part, copy, first },
        );
    }
}

/// Both directions of each link come first among the world's links, in the order of the plan. Of
/// several that a link stands for, the others count with the first.
fn links(plan: &Scenario, copies: &Range<u32>) -> Vec<LinkSpec> {
    let mut links = Vec::new();
    for link in &plan.links {
        let first = links.len() as LinkId;
        for copy in 0..copies_of(link, copies).len() {
            let of_copy = |(way, heading)| LinkSpec { counts_with: (copy > 0).then_some(first + way), ..one_way(link, heading) };
            links.extend([(0, Direction::Down), (1, Direction::Up)].map(of_copy));
        }
    }
    links
}

/// Those of the copies that a link stands for.
fn copies_of(link: &Link, copies: &Range<u32>) -> Range<u32> {
    copies.start..copies.end.min(link.count)
}

/// The number that the first copy of each link of the plan has in a world, or would have if it were
/// there.
fn first_links(plan: &Scenario, copies: &Range<u32>) -> Vec<LinkId> {
    let of_link = |next: &mut LinkId, link: &Link| {
        let here = copies_of(link, copies);
        Some(std::mem::replace(next, *next + 2 * here.len() as LinkId).wrapping_sub(2 * here.start))
    };
    plan.links.iter().scan(0, of_link).collect()
}

/// A plan's queue as the simulator takes it.
#[must_use]
pub fn discipline(queue: &Queue) -> QueueSpec {
    if let Queue { own: Some(kind), ecn, limit, .. } = queue {
        return QueueSpec::Own { kind: kind.clone(), ecn: *ecn, limit: *limit };
    }
    QueueSpec::Discipline { queue: queue.chosen.clone(), ecn: queue.ecn, limit: queue.limit }
}

fn one_way(link: &Link, heading: Direction) -> LinkSpec {
    let direction = link.direction(heading);
    let queue = match &direction.queue {
        None => QueueSpec::Unlimited,
        Some(queue) => discipline(queue),
    };
    LinkSpec {
        name: link.name_of(heading),
        rate: direction.rate.clone(),
        delay: direction.delay,
        jitter: Duration::ZERO,
        framing: link.framing,
        mtu: link.mtu,
        queue,
        loss: direction.loss,
        burst: direction.burst,
        flow_control: direction.flow_control,
        observed: direction.queue.is_some(),
        counts_with: None,
    }
}

/// The random streams of the flows of one replication, which all hosts draw from: a flow starts at
/// the same time on each.
#[derive(Clone, Copy, Debug)]
pub struct FlowStreams {
    seed: u64,
}

/// Numbers of random streams by purpose, unlike those that the simulator splits from the same seed.
const COPY_STREAM: u64 = 0x434F_5059 << 32;
const START_STREAM: u64 = 0x5354_4152 << 32;
const RTT_STREAM: u64 = 0x5254_5400 << 32;
const GAP_STREAM: u64 = 0x4741_5053 << 32;

impl FlowStreams {
    /// The streams of a replication whose world has this seed ([`seed_of`]).
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// One purpose of one flow, by group and number within it, so that another flow elsewhere
    /// shifts nothing.
    const fn stream(self, purpose: u64, group: u32, index: u32) -> Rng {
        Rng::stream(self.seed ^ purpose, (group as u64) << 32 | index as u64)
    }

    /// The draw of a flow's start.
    #[must_use]
    pub const fn start(self, group: u32, index: u32) -> Rng {
        self.stream(START_STREAM, group, index)
    }

    /// The draw of the additional round-trip time of the host that a flow is behind.
    #[must_use]
    pub const fn rtt_extra(self, group: u32, behind: u32) -> Rng {
        self.stream(RTT_STREAM, group, behind)
    }

    /// The gaps between a flow's packets, on hosts outside of the simulator.
    #[must_use]
    pub const fn gaps(self, group: u32, index: u32) -> Rng {
        self.stream(GAP_STREAM, group, index)
    }
}

/// The root of all randomness of one replication.
///
/// It follows from the plan's seed and the replication alone, so that points of a sweep see common
/// random numbers: differences between algorithms are not differences between draws.
#[must_use]
pub fn seed_of(plan: &Scenario, replication: u32) -> u64 {
    Rng::stream(plan.seed, u64::from(replication)).next_u64()
}

/// One flow of a group: those of one part come before those of the next.
struct FlowPlacement<'a> {
    group: u32,
    index: u32,
    /// All parts of a flow draw as this number.
    drawn: u32,
    start: Start,
    part: &'a Part,
    /// The one that it crosses of the links that one of the plan stands for.
    copy: u32,
    /// The number of the first of them, for each link of the plan.
    first: &'a [LinkId],
}

impl FlowPlacement<'_> {
    fn link(&self, plan: &Scenario, step: Step) -> LinkId {
        let copy = if plan.links[step.link].count > 1 { self.copy } else { 0 };
        self.first[step.link].wrapping_add(2 * copy) + LinkId::from(step.heading == Direction::Up)
    }
}

/// When a flow starts.
#[derive(Clone, Copy)]
enum Start {
    /// As the plan has it.
    Drawn,
    /// As far from then as the plan has it from the group's earliest start.
    From(Instant),
}

fn add_flow(world: &mut WorldSpec, plan: &Scenario, traffic: &Traffic, placement: &FlowPlacement<'_>) {
    let &FlowPlacement { group, index, drawn, part: Part { source, path, heading }, .. } = placement;
    let streams = FlowStreams::new(world.seed);
    // All parts are between the same two hosts and begin together.
    let planned = traffic.start.draw(&mut streams.start(group, drawn));
    let start = match placement.start {
        Start::Drawn => Instant::ZERO + planned,
        Start::From(now) => now + planned.saturating_sub(traffic.start.earliest()),
    };
    let behind = drawn / traffic.rtt_shared_by;
    let extra = traffic.rtt_extra.draw(&mut streams.rtt_extra(group, behind));
    // The sender's access link carries the flow's extra delay, half of it each way.
    let half = extra.div(2);
    let name = |part: &str| format!("{}[{index}].{part}", traffic.name);
    let both_ends = plan.access.ends == AccessEnds::Both;
    let mut wire = |part: &str, extra: Duration| {
        world.links.push(access_wire(plan, traffic, name(part), extra));
        world.links.len() as LinkId - 1
    };
    let mut forward = vec![wire("sender", half)];
    forward.extend(path.forward.iter().map(|step| placement.link(plan, *step)));
    if both_ends {
        forward.push(wire("to-receiver", Duration::ZERO));
    }
    let mut reverse = Vec::new();
    // Others have nothing to send back.
    if source.is_answered() {
        if both_ends {
            reverse.push(wire("receiver", Duration::ZERO));
        }
        reverse.extend(path.reverse.iter().map(|step| placement.link(plan, *step)));
        reverse.push(wire("to-sender", extra.saturating_sub(half)));
    }
    world.flows.push(FlowSpec {
        group,
        index,
        forward,
        reverse,
        start,
        stop: traffic.stop,
        class: traffic.class,
        weight: traffic.weight,
        leaf: traffic.leaf.clone(),
        // The shared host is at the lower end of the line, wherever that is on this flow's way.
        shared_host: traffic.host.map(|host| match heading {
            Direction::Down => SharedHost::Sink(host),
            Direction::Up => SharedHost::Source(host),
        }),
        source: source.clone(),
    });
}

/// Hosts hand packets to their link with a jitter, so that sources of equal rate do not lock into
/// phase with each other and with the bottleneck.
fn access_wire(plan: &Scenario, traffic: &Traffic, name: String, extra: Duration) -> LinkSpec {
    let one_packet = plan.access.rate.transmission_time(traffic.mtu);
    LinkSpec {
        name,
        rate: RateSpec::Constant(plan.access.rate),
        delay: plan.access.delay + extra,
        jitter: plan.access.jitter.unwrap_or_else(|| one_packet.min(MAX_JITTER)),
        framing: Framing::NONE,
        mtu: traffic.mtu,
        queue: QueueSpec::Unlimited,
        loss: 0.0,
        burst: Bytes::ZERO,
        flow_control: None,
        observed: false,
        counts_with: None,
    }
}

#[cfg(test)]
mod tests;
