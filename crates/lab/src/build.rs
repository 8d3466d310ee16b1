//! From one point of a plan to a simulated world.
//!
//! The topology is a dumbbell: host, access link, bottleneck, access link, host, and the same on the way back. Access links
//! belong to one flow each and never drop; the bottleneck is what results report. The return direction is reported when the
//! file gives it a queue or data flows that way; otherwise it is a FIFO without limit that only delays.

use crate::plan::{AccessEnds, Direction, Heading, MOST_JITTER, Point, Scenario, Traffic};
use goodqueue_sim::{FlowSpec, LinkId, LinkSpec, QueueSpec, RateSpec, Recording, SourceSpec, WorldSpec};
use goodqueue_units::{Bytes, Duration, Instant, Rng};

/// The world of one replication of a point.
///
/// Its seed follows from the plan's seed and the replication alone, so that points of a sweep see common random numbers:
/// differences between algorithms are not differences between draws. Nothing is recorded beside the summary figures; set
/// [`WorldSpec::recording`] for more.
#[must_use]
pub fn world(point: &Point, replication: u32) -> WorldSpec {
    let plan = &point.plan;
    let seed = Rng::stream(plan.seed, u64::from(replication)).next_u64();
    let link = |name: String, direction: &Direction| bottleneck(plan, name, direction);
    let mut world = WorldSpec {
        links: vec![link(plan.link.name.clone(), &plan.link.down), link(format!("{}.up", plan.link.name), &plan.link.up)],
        flows: Vec::new(),
        groups: plan.traffic.iter().map(|traffic| traffic.name.clone()).collect(),
        warmup: plan.warmup,
        duration: plan.duration,
        seed,
        recording: Recording::default(),
    };
    for (group, traffic) in plan.traffic.iter().enumerate() {
        for index in 0..traffic.flows {
            add_flow(&mut world, plan, traffic, group as u32, index);
        }
    }
    world
}

const DOWN: LinkId = 0;
const UP: LinkId = 1;

fn bottleneck(plan: &Scenario, name: String, direction: &Direction) -> LinkSpec {
    let queue = match &direction.queue {
        None => QueueSpec::Unlimited,
        Some(queue) => QueueSpec::Discipline {
            kind: queue.kind,
            params: queue.params.clone(),
            of: queue.of.clone(),
            ecn: queue.ecn,
            limit: queue.limit,
        },
    };
    LinkSpec {
        name,
        rate: direction.rate.clone(),
        delay: direction.delay,
        jitter: Duration::ZERO,
        overhead: plan.link.overhead,
        mtu: plan.link.mtu,
        queue,
        loss: direction.loss,
        observed: direction.queue.is_some(),
    }
}

/// Random streams of a flow's own settings; the numbers are unlike those that the simulator splits from the same seed.
const START_STREAM: u64 = 0x5354_4152 << 32;
const RTT_STREAM: u64 = 0x5254_5400 << 32;

/// The draw of one flow, by group and number within it, so that another flow elsewhere shifts nothing.
fn stream(seed: u64, kind: u64, group: u32, index: u32) -> Rng {
    Rng::stream(seed ^ kind, u64::from(group) << 32 | u64::from(index))
}

fn add_flow(world: &mut WorldSpec, plan: &Scenario, traffic: &Traffic, group: u32, index: u32) {
    let start = traffic.start.draw(&mut stream(world.seed, START_STREAM, group, index));
    let extra = traffic.rtt_extra.draw(&mut stream(world.seed, RTT_STREAM, group, index));
    // The sender's access link carries the flow's extra delay, half of it each way.
    let half = extra.div(2);
    let name = |part: &str| format!("{}[{index}].{part}", traffic.name);
    let (there, back) = match traffic.heading {
        Heading::Down => (DOWN, UP),
        Heading::Up => (UP, DOWN),
    };
    let both_ends = plan.access.ends == AccessEnds::Both;
    let mut wire = |part: &str, extra: Duration| {
        world.links.push(access_wire(plan, name(part), extra));
        world.links.len() as LinkId - 1
    };
    let mut forward = vec![wire("sender", half), there];
    if both_ends {
        forward.push(wire("to-receiver", Duration::ZERO));
    }
    let mut reverse = Vec::new();
    // Only TCP has anything to send back.
    if matches!(traffic.source, SourceSpec::Tcp { .. }) {
        if both_ends {
            reverse.push(wire("receiver", Duration::ZERO));
        }
        reverse.push(back);
        reverse.push(wire("to-sender", extra.saturating_sub(half)));
    }
    world.flows.push(FlowSpec {
        group,
        index,
        forward,
        reverse,
        start: Instant::ZERO + start,
        stop: traffic.stop,
        class: traffic.class,
        source: traffic.source.clone(),
    });
}

/// Hosts hand packets to their link with a jitter, so that sources of equal rate do not lock into phase with each other and
/// with the bottleneck.
fn access_wire(plan: &Scenario, name: String, extra: Duration) -> LinkSpec {
    let one_packet = plan.access.rate.transmission_time(plan.link.mtu);
    LinkSpec {
        name,
        rate: RateSpec::Constant(plan.access.rate),
        delay: plan.access.delay + extra,
        jitter: plan.access.jitter.unwrap_or_else(|| one_packet.min(MOST_JITTER)),
        overhead: Bytes::ZERO,
        mtu: plan.link.mtu,
        queue: QueueSpec::Unlimited,
        loss: 0.0,
        observed: false,
    }
}

#[cfg(test)]
mod tests;
