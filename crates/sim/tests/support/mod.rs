//! Worlds for tests, in a few words.
#![allow(dead_code, reason = "each test file uses its part")]

use goodqueue_aqm::{EcnPolicy, Limit, sched};
use goodqueue_sim::{Continue, FlowSpec, LinkSpec, Outcome, QueueSpec, RateSpec, Recording, SourceSpec, World, WorldSpec};
use goodqueue_units::{Bytes, Class, Duration, Instant, Rate};

/// A queue of `kind` with its defaults.
pub fn queue(kind: &str, limit: Limit) -> QueueSpec {
    QueueSpec::Discipline {
        kind: sched::kind(kind).expect("known kind"),
        params: Vec::new(),
        of: None,
        ecn: EcnPolicy::Drop,
        limit,
    }
}

/// An access link that is never the subject.
pub fn access(name: &str) -> LinkSpec {
    LinkSpec {
        name: name.into(),
        rate: RateSpec::Constant(Rate::gbit(1)),
        delay: Duration::us(100),
        jitter: Duration::us(12),
        overhead: Bytes::ZERO,
        mtu: Bytes::new(1500),
        queue: QueueSpec::Unlimited,
        loss: 0.0,
        burst: Bytes::ZERO,
        flow_control: None,
        observed: false,
    }
}

/// The bottleneck.
pub fn bottleneck(rate: Rate, delay: Duration, queue: QueueSpec) -> LinkSpec {
    LinkSpec {
        name: "bottleneck".into(),
        rate: RateSpec::Constant(rate),
        delay,
        jitter: Duration::ZERO,
        overhead: Bytes::ZERO,
        mtu: Bytes::new(1500),
        queue,
        loss: 0.0,
        burst: Bytes::ZERO,
        flow_control: None,
        observed: true,
    }
}

/// Every source behind its own access link, one bottleneck, the same delay back. Flows start spread over `spread`.
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
            group: 0,
            index: i as u32,
            forward: vec![first, 0, first + 1],
            reverse: vec![first + 2, 1, first + 3],
            start: Instant::from_nanos(spread.as_nanos() * i as u64 / count),
            stop: None,
            class: Class::DEFAULT,
            weight: 1.0,
            shared_host: None,
            source,
        });
    }
    WorldSpec { links, flows, groups: vec!["test".into()], warmup, duration, seed: 1, recording: Recording::default() }
}

/// Runs to the end.
pub fn run(spec: &WorldSpec) -> Outcome {
    World::new(spec).expect("a valid world").run(&mut |_| Continue::Yes)
}

/// Utilisation of the first observed link.
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
    use goodqueue_tcp::{CcConfig, ReceiverConfig, SenderConfig};
    SourceSpec::Tcp {
        sender: SenderConfig { cc: CcConfig { kind: cc, params: Vec::new() }, ..SenderConfig::default() },
        receiver: ReceiverConfig::default(),
        header: Bytes::new(52),
    }
}
