//! Worlds that are looked at and changed while they run: looking changes nothing, and changes have
//! the same effect whatever the steps.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_aqm::spec::{KindAndParams, Value};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use goodqueue_sim::{Change, FlowSpec, LinkSpec, OpenWorld, Outcome, PacketLog, QueueSpec, SessionSpec, SourceSpec, WorldSpec};
use support::{access, bottleneck, bulk, dumbbell, queue, run};

fn world(kind: &str) -> WorldSpec {
    let link = bottleneck(Rate::mbit(10), Duration::ms(10), queue(kind, Limit::packets(100)));
    dumbbell(link, vec![bulk("cubic"); 4], Duration::secs(1), Duration::secs(2), Duration::secs(8))
}

/// The world with transfers whose connections take numbers of flows as they come.
fn with_sessions() -> WorldSpec {
    let mut spec = world("fq-codel");
    let SourceSpec::Tcp { sender, receiver, header } = bulk("cubic") else { panic!("bulk is TCP") };
    let model = SessionSpec::Short {
        size: Bytes::new(100_000),
        interval: Duration::ms(300),
        arrivals: goodqueue_sim::Arrivals::Periodic,
        connections: 1,
    };
    spec.flows[3].source = SourceSpec::Session { model, sender, receiver, header };
    spec
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::ms(ms)
}

/// Runs in steps of `step`, with each change at its time.
fn stepped(spec: WorldSpec, step: Duration, changes: &[(Instant, Change)]) -> Outcome {
    let mut world = OpenWorld::new(spec).expect("a good specification");
    let mut changes = changes.iter().peekable();
    while world.now() < world.end() {
        let stop = changes.peek().map_or(Instant::MAX, |change| change.0).min(world.now() + step);
        while !world.run_until(stop, 1000) {}
        world.look(64);
        while let Some((_, change)) = changes.next_if(|change| change.0 <= world.now()) {
            world.change(change.clone()).expect("a good change");
        }
    }
    world.finish()
}

fn more_flows(spec: &WorldSpec, count: u32, start: Instant) -> Change {
    let mut links: Vec<LinkSpec> = Vec::new();
    let mut flows: Vec<FlowSpec> = Vec::new();
    for more in 0..count {
        let first = (spec.links.len() + links.len()) as u32;
        links.extend(["out", "in", "back out", "back in"].map(access));
        let index = spec.flows.len() as u32 + more;
        let (forward, reverse) = (vec![first, 0, first + 1], vec![first + 2, 1, first + 3]);
        flows.push(FlowSpec { index, forward, reverse, start, ..spec.flows[0].clone() });
    }
    Change::Flows { links, flows }
}

#[test]
fn watched_world_keeps_its_fingerprint() {
    for spec in [world("codel"), world("red"), with_sessions()] {
        let plain = run(&spec);
        for step in [Duration::us(700), Duration::ms(16), Duration::secs(100)] {
            let watched = stepped(spec.clone(), step, &[]);
            assert_eq!(watched.fingerprint, plain.fingerprint);
            assert!(watched.complete);
            assert_eq!(watched.links[0].counters, plain.links[0].counters);
        }
    }
}

#[test]
fn changes_have_the_same_effect_whatever_the_steps() {
    let spec = with_sessions();
    let target = QueueSpec::Discipline {
        queue: KindAndParams::new(
            goodqueue_aqm::sched::kind("fq-codel").expect("known kind"),
            vec![("target", Value::Duration(Duration::ms(20)))],
        ),
        ecn: goodqueue_aqm::EcnPolicy::Drop,
        limit: Limit::packets(100),
    };
    let link = || "bottleneck".to_owned();
    let changes = [
        (at(2500), Change::Rate { link: link(), rate: Rate::mbit(5) }),
        (at(4000), more_flows(&spec, 3, at(4100))),
        (at(5000), Change::Queue { link: link(), queue: target }),
        (at(6000), Change::Rate { link: link(), rate: Rate::mbit(20) }),
    ];
    let fine = stepped(spec.clone(), Duration::us(900), &changes);
    let coarse = stepped(spec.clone(), Duration::secs(1), &changes);
    assert_eq!(fine.fingerprint, coarse.fingerprint);
    assert_eq!(fine.flows.len(), 7);
    let late: Vec<u64> = fine.flows[4..].iter().map(|flow| flow.delivered_bytes).collect();
    assert!(late.iter().all(|bytes| *bytes > 100_000), "the added flows deliver: {late:?}");
    assert_ne!(fine.fingerprint, run(&spec).fingerprint);
}

#[test]
fn a_link_that_went_down_goes_on() {
    let link = || "bottleneck".to_owned();
    let down = (at(3000), Change::Rate { link: link(), rate: Rate::ZERO });
    let stays = stepped(world("codel"), Duration::ms(50), std::slice::from_ref(&down));
    let comes =
        stepped(world("codel"), Duration::ms(50), &[down, (at(5000), Change::Rate { link: link(), rate: Rate::mbit(10) })]);
    assert!(stays.links[0].sent_bits < 1.1e7, "about one second of ten Mbit/s: {}", stays.links[0].sent_bits);
    assert!(comes.links[0].sent_bits > 3.5e7, "{}", comes.links[0].sent_bits);
    assert!((comes.links[0].capacity_bits - 6e7).abs() < 1.0, "{}", comes.links[0].capacity_bits);
}

#[test]
fn halving_the_rate_is_what_a_step_in_the_specification_is() {
    let rate = |world: &mut OpenWorld| {
        world.run_until(at(8000), u64::MAX);
        world.look(0);
        world.run_until(at(9000), u64::MAX);
        let view = world.look(0);
        view.links[0].interval.sent.bits() as f64 / view.span.as_secs_f64()
    };
    let mut world = OpenWorld::new(world("tail-drop")).expect("a good specification");
    world.run_until(at(4000), u64::MAX);
    world.change(Change::Rate { link: "bottleneck".into(), rate: Rate::mbit(5) }).expect("a good change");
    let sent = rate(&mut world);
    assert!((4.9e6..5.1e6).contains(&sent), "{sent}");
}

#[test]
fn what_cannot_be_changed_is_refused_and_changes_nothing() {
    let spec = world("codel");
    let plain = run(&spec).fingerprint;
    let mut world = OpenWorld::new(spec.clone()).expect("a good specification");
    world.run_until(at(1000), u64::MAX);
    let wrong = [
        Change::Rate { link: "nowhere".into(), rate: Rate::mbit(1) },
        Change::Rate { link: "out".into(), rate: Rate::mbit(1) },
        Change::Queue { link: "bottleneck".into(), queue: QueueSpec::Unlimited },
        Change::Flows { links: vec![spec.links[0].clone()], flows: Vec::new() },
    ];
    for change in wrong {
        let refused = world.change(change).expect_err("refused").to_string();
        assert!(refused.contains(':'), "{refused}");
    }
    world.run_until(Instant::MAX, u64::MAX);
    assert_eq!(world.finish().fingerprint, plain);
}

#[test]
fn a_run_that_is_ended_early_says_so_and_has_its_figures() {
    let mut world = OpenWorld::new(world("codel")).expect("a good specification");
    world.run_until(at(5000), u64::MAX);
    let outcome = world.finish();
    assert!(!outcome.complete);
    assert!(outcome.links[0].counters.departed.packets.get() > 1000);
}

#[test]
fn packets_are_kept_from_when_it_is_asked_for() {
    let mut world = OpenWorld::new(world("tail-drop")).expect("a good specification");
    world.run_until(at(3000), u64::MAX);
    assert!(world.take_packets().is_empty());
    world.keep_packets(PacketLog::Keep);
    world.run_until(at(3100), u64::MAX);
    let seen = world.take_packets();
    assert!(seen.len() > 100 && seen.iter().all(|event| event.at > at(3000)), "{}", seen.len());
    assert!(world.take_packets().is_empty());
    world.keep_packets(PacketLog::Discard);
    world.run_until(at(3200), u64::MAX);
    assert!(world.take_packets().is_empty());
}
