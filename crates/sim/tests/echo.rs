//! Probes that the far end sends back: their round-trip times and losses against what follows by
//! hand.

mod support;

use goodqueue_aqm::spec::{KindAndParams, Value};
use goodqueue_aqm::{EcnPolicy, Limit, sched};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_sim::{Continue, FlowSpec, LinkSpec, OpenWorld, Outcome, OutsideWorld, QueueSpec, SourceSpec, World, WorldSpec};
use support::{bulk, queue, run};

const SIZE: Bytes = Bytes::new(84);
/// Round-trip time over the empty line: twice 20 ms, and twice 84 bytes at 10 Mbit/s.
const EMPTY: Duration = Duration::ns(40_134_400);

fn echo(interval: Duration) -> SourceSpec {
    SourceSpec::Echo { interval, packet_size: SIZE, ecn: Ecn::NotEct }
}

/// Ten full packets within 72 microseconds, from `at` on.
fn burst(at: Instant, forward: u32, back: u32) -> FlowSpec {
    let source = SourceSpec::Cbr { rate: Rate::mbit(1500), packet_size: Bytes::new(1500), ecn: Ecn::NotEct };
    FlowSpec { group: 1, start: at, stop: Some(at + Duration::us(75)), ..FlowSpec::new(vec![forward], vec![back], source) }
}

/// 10 Mbit/s and 20 ms each way, behind a queue of this kind in both directions, with a probe each
/// `interval` from `start` on.
fn line(kind: QueueSpec, start: Instant, interval: Duration, others: Vec<FlowSpec>, duration: Duration) -> WorldSpec {
    let link = LinkSpec::wire("line", Rate::mbit(10), Duration::ms(20)).behind(kind.clone());
    let mut flows = vec![FlowSpec { start, ..FlowSpec::new(vec![0], vec![1], echo(interval)) }];
    flows.extend(others);
    let mut spec = WorldSpec { duration, groups: vec!["echo".into(), "others".into()], ..WorldSpec::line(link, flows) };
    (spec.links[1].queue, spec.links[1].observed) = (kind, true);
    spec
}

fn tail_drop(packets: u64) -> QueueSpec {
    queue("tail-drop", Limit::packets(packets))
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::us(us)
}

/// Counts the round trips that took exactly this long, as far as buckets tell.
fn took(outcome: &Outcome, rtt: Duration) -> u64 {
    let mut buckets = outcome.groups[0].rtt.buckets();
    buckets.find(|bucket| (bucket.shortest..=bucket.longest).contains(&rtt)).map_or(0, |bucket| bucket.count)
}

#[test]
fn probe_over_an_empty_line_takes_propagation_and_transmission() {
    let outcome = run(&line(tail_drop(100), at(0), Duration::ms(100), Vec::new(), Duration::secs(10)));
    let flow = &outcome.flows[0];
    // One at each end of ten seconds; the last one is on its way.
    assert_eq!((flow.sent_packets, flow.dropped_packets, flow.delivered_bytes), (101, Some(0), 100 * SIZE.get()));
    assert!(flow.is_probe);
    assert_eq!((outcome.groups[0].rtt.len(), took(&outcome, EMPTY)), (100, 100));
    assert!(outcome.groups[0].one_way_delay.is_empty() && outcome.groups[0].calls.is_empty());
}

#[test]
fn a_queue_adds_what_it_holds() {
    // The last of ten packets of 1.2 ms is sent at 12 ms, and the probe has come at 1 ms. The next
    // one, a second later, meets nothing.
    let outcome = run(&line(tail_drop(100), at(1000), Duration::secs(1), vec![burst(at(0), 0, 1)], Duration::ms(1500)));
    assert_eq!(outcome.flows[1].sent_packets, 10);
    assert_eq!(outcome.groups[0].rtt.len(), 2);
    assert_eq!((took(&outcome, EMPTY + Duration::ms(11)), took(&outcome, EMPTY)), (1, 1));
    // It is the return direction's delay, too.
    let back = burst(at(20_000), 1, 0);
    let outcome = run(&line(tail_drop(100), at(1000), Duration::secs(1), vec![back], Duration::ms(1500)));
    // The probe is there at 21.0672 ms, and the line is free at 32 ms.
    assert_eq!((took(&outcome, EMPTY + Duration::ns(10_932_800)), took(&outcome, EMPTY)), (1, 1));
}

#[test]
fn losses_of_both_directions_count_and_packets_in_flight_do_not() {
    // A queue of five is full when the first probe comes, and full again the other way when the
    // answer to the second one does.
    let bursts = vec![burst(at(0), 0, 1), burst(at(1_020_500), 1, 0)];
    let outcome = run(&line(tail_drop(5), at(1000), Duration::secs(1), bursts, Duration::us(4_010_000)));
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.dropped_packets), (5, Some(2)), "the fifth is on its way");
    assert_eq!((flow.loss_runs, flow.longest_loss_run), (1, 2));
    assert_eq!((outcome.groups[0].rtt.len(), flow.delivered_bytes), (2, 2 * SIZE.get()));
}

#[test]
fn lossy_wires_lose_the_share_that_chance_says() {
    let mut spec = line(tail_drop(100), at(0), Duration::ms(10), Vec::new(), Duration::secs(200));
    spec.links.iter_mut().for_each(|link| link.loss = 0.1);
    let flow = &run(&spec).flows[0];
    // One in ten there, one in ten of the others back: 19 %, with a standard deviation of 0.28
    // points in 20,000.
    let lost = flow.dropped_packets.unwrap_or(0) as f64 / flow.sent_packets as f64;
    assert!((lost - 0.19).abs() < 0.01, "{lost}");
}

#[test]
fn a_line_that_is_down_answers_nothing() {
    let mut spec = line(tail_drop(1000), at(0), Duration::ms(100), Vec::new(), Duration::secs(30));
    spec.links[0].rate = goodqueue_sim::RateSpec::Steps(vec![(Instant::ZERO, Rate::ZERO)]);
    let flow = &run(&spec).flows[0];
    // Those of the last ten seconds may still come.
    assert_eq!((flow.sent_packets, flow.dropped_packets), (301, Some(200)));
}

#[test]
fn only_probes_of_the_measured_part_count() {
    let mut spec = line(tail_drop(100), at(0), Duration::ms(100), Vec::new(), Duration::secs(1));
    // The probe of 2.0 s leaves in the measured part, that of 1.9 s is answered before.
    spec.warmup = Duration::secs(2);
    let outcome = run(&spec);
    assert_eq!((outcome.flows[0].sent_packets, outcome.groups[0].rtt.len()), (11, 10));
    // That of 1.98 s is answered in it, but left before; that of 2.98 s is on its way.
    spec.flows[0].start = at(80_000);
    let outcome = run(&spec);
    assert_eq!((outcome.flows[0].sent_packets, outcome.groups[0].rtt.len()), (10, 9));
    assert_eq!(outcome.flows[0].delivered_bytes, 10 * SIZE.get());
}

/// A probe alongside four TCP connections over access links, with and without a queue on the way
/// back.
fn beside_tcp(kind: &str, back: Option<&str>) -> WorldSpec {
    let link = support::bottleneck(Rate::mbit(10), Duration::ms(10), queue(kind, Limit::packets(100)));
    let mut sources = vec![bulk("cubic"); 4];
    sources.push(echo(Duration::ms(20)));
    let mut spec = support::dumbbell(link, sources, Duration::secs(1), Duration::secs(2), Duration::secs(8));
    if let Some(back) = back {
        (spec.links[1].queue, spec.links[1].observed) = (queue(back, Limit::packets(100)), true);
    }
    spec
}

#[test]
fn a_run_is_the_same_again_and_in_any_steps() {
    for (kind, back) in [("tail-drop", None), ("codel", None), ("fq-codel", Some("tail-drop"))] {
        let spec = beside_tcp(kind, back);
        let plain = run(&spec);
        let mut watched = OpenWorld::new(spec.clone()).expect("a good specification");
        let mut latest = None;
        while watched.now() < watched.end() {
            watched.run_until(watched.now() + Duration::us(700), 1000);
            latest = watched.look(64).flows[4].rtt;
        }
        assert!(latest.is_some_and(|rtt| rtt > Duration::us(20_400)), "{latest:?}");
        for other in [run(&spec), watched.finish()] {
            assert_eq!(other.fingerprint, plain.fingerprint, "{kind}");
            assert_eq!(other.groups[0].rtt, plain.groups[0].rtt, "{kind}");
            let counts = |outcome: &Outcome| (outcome.flows[4].sent_packets, outcome.flows[4].dropped_packets);
            assert_eq!(counts(&other), counts(&plain), "{kind}");
        }
    }
}

#[test]
fn worlds_with_hosts_outside_have_the_same_probes() {
    let spec = line(tail_drop(5), at(1000), Duration::ms(300), vec![burst(at(0), 0, 1)], Duration::secs(2));
    let mut world = OutsideWorld::new(&spec).expect("a good specification");
    while world.step() {}
    let outside = world.finish(Continue::Yes);
    let inside = run(&spec);
    assert_eq!((outside.fingerprint, &outside.groups[0].rtt), (inside.fingerprint, &inside.groups[0].rtt));
    assert_eq!(outside.flows[0].dropped_packets, Some(1));
}

#[test]
fn a_queue_of_its_own_keeps_a_probe_from_waiting_behind_others() {
    let p95 = |kind| {
        let mut spec = beside_tcp(kind, None);
        spec.groups.push("echo".into());
        spec.flows[4].group = 1;
        run(&spec).groups[1].rtt.quantile(0.95).expect("probes").as_secs_f64() * 1e3
    };
    let (shared, own) = (p95("tail-drop"), p95("fq-codel"));
    // Twice 10.2 ms of propagation; at most the rest of a packet of 1.2 ms, and those of a new
    // flow's first rounds, are before it.
    assert!((20.4..24.0).contains(&own), "{own} ms");
    // A hundred packets take 120 ms.
    assert!((100.0..145.0).contains(&shared), "{shared} ms");
}

#[test]
fn other_groups_do_not_count_probes() {
    let load = || {
        let source = SourceSpec::Cbr { rate: Rate::mbit(5), packet_size: Bytes::new(1000), ecn: Ecn::NotEct };
        FlowSpec { group: 1, start: at(500), ..FlowSpec::new(vec![0], vec![1], source) }
    };
    let figures = |outcome: &Outcome, flow: usize| {
        let (of, group) = (&outcome.flows[flow], &outcome.groups[1]);
        let counts = [Some(of.delivered_bytes), Some(of.sent_packets), of.dropped_packets, of.marked_packets, Some(of.loss_runs)];
        (counts, group.rtt.len(), group.sojourn.len(), group.one_way_delay.len())
    };
    let both = line(tail_drop(100), at(0), Duration::ms(7), vec![load()], Duration::secs(10));
    let mut alone = both.clone();
    alone.flows.remove(0);
    assert_eq!(figures(&run(&both), 1), figures(&run(&alone), 0));
}

#[test]
fn probes_carry_their_codepoint_both_ways() {
    let mut spec = line(tail_drop(100), at(0), Duration::ms(100), Vec::new(), Duration::secs(1));
    spec.flows[0].source = SourceSpec::Echo { interval: Duration::ms(100), packet_size: SIZE, ecn: Ecn::Ect1 };
    let outcome = run(&spec);
    let ect = |link: usize| outcome.links[link].counters.arrived_ect.packets.get();
    assert_eq!((ect(0), ect(1)), (11, 10));
}

#[test]
fn no_queue_takes_an_answer_for_an_acknowledgement() {
    // One answer a millisecond for a line that takes six: a filter of acknowledgements would thin
    // them out, and drop nothing else.
    let mut spec = line(tail_drop(1000), at(0), Duration::ms(1), Vec::new(), Duration::secs(2));
    spec.flows[0].stop = Some(at(100_000));
    spec.links[1].rate = goodqueue_sim::RateSpec::Constant(Rate::kbit(100));
    spec.links[1].queue = QueueSpec::Discipline {
        queue: KindAndParams::new(sched::kind("cake").expect("known kind"), vec![("ack_filter", Value::Choice("aggressive"))]),
        ecn: EcnPolicy::Drop,
        limit: Limit::packets(1000),
    };
    let outcome = run(&spec);
    assert_eq!(outcome.links[1].counters.dropped_total().packets.get(), 0);
    assert_eq!(outcome.groups[0].rtt.len(), 100);
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let spec = line(tail_drop(100), at(0), Duration::ms(100), Vec::new(), Duration::secs(1));
    let fault = |change: &dyn Fn(&mut FlowSpec)| {
        let mut spec = spec.clone();
        change(&mut spec.flows[0]);
        World::new(&spec).err().expect("a fault").to_string()
    };
    let one_way = fault(&|flow| flow.reverse.clear());
    assert_eq!(one_way, "echo[0]: a flow whose sink answers needs a way back");
    let empty = fault(&|flow| {
        flow.source = SourceSpec::Echo { interval: Duration::ms(1), packet_size: Bytes::new(28), ecn: Ecn::NotEct };
    });
    assert_eq!(empty, "echo[0]: probes of 28 B: allowed 29 B to 65535 B");
}
