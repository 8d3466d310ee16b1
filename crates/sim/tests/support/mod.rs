//! Worlds for tests, in a few words.
#![allow(dead_code, reason = "each test file uses its part")]

use goodqueue_aqm::{Limit, sched};
use goodqueue_base::units::{Duration, Instant, Rate};
use goodqueue_sim::{Continue, FlowSpec, LinkSpec, Outcome, QueueSpec, Recording, SourceSpec, World, WorldSpec};

/// A queue of `kind` with its defaults.
pub fn queue(kind: &str, limit: Limit) -> QueueSpec {
    QueueSpec::plain(sched::kind(kind).expect("known kind"), limit)
}

/// An access link that is never the subject.
pub fn access(name: &str) -> LinkSpec {
    LinkSpec { jitter: Duration::us(12), ..LinkSpec::wire(name, Rate::gbit(1), Duration::us(100)) }
}

/// The bottleneck.
pub fn bottleneck(rate: Rate, delay: Duration, queue: QueueSpec) -> LinkSpec {
    LinkSpec::wire("bottleneck", rate, delay).behind(queue)
}

/// Every source behind its own access link, one bottleneck, the same delay back. Flows start spread
/// over `spread`.
pub fn dumbbell(link: LinkSpec, sources: Vec<SourceSpec>, spread: Duration, warmup: Duration, duration: Duration) -> WorldSpec {
    let mut back = link.clone();
    back.name = "return".into();
    back.observed = false;
    back.loss = 0.0;
    back.queue = queue("tail-drop", Limit::NONE);
    let mut links = vec![link, back];
    let count = sources.len() as u64;
    let mut flows = Vec::new();
    for (i, source) in sources.into_iter().enumerate() {
        let first = links.len() as u32;
        links.extend(["out", "in", "back out", "back in"].map(access));
        flows.push(FlowSpec {
            index: i as u32,
            start: Instant::from_nanos(spread.as_nanos() * i as u64 / count),
            ..FlowSpec::new(vec![first, 0, first + 1], vec![first + 2, 1, first + 3], source)
        });
    }
    WorldSpec { links, flows, groups: vec!["test".into()], warmup, duration, seed: 1, recording: Recording::default() }
}

/// Runs to the end.
pub fn run(spec: &WorldSpec) -> Outcome {
    World::new(spec).expect("a valid world").run(&mut |_| Continue::Yes)
}

/// Utilization of the first observed link.
pub fn utilization(outcome: &Outcome) -> f64 {
    outcome.links[0].sent_bits / outcome.links[0].capacity_bits
}

/// Dropped over arrived at the first observed link.
pub fn loss(outcome: &Outcome) -> f64 {
    let counters = &outcome.links[0].counters;
    counters.dropped_total().packets.get() as f64 / counters.arrived.packets.get().max(1) as f64
}

/// A TCP bulk flow under `cc`, Linux defaults.
pub fn bulk(cc: &'static str) -> SourceSpec {
    SourceSpec::bulk(cc)
}
