//! Probes that real sockets send back through the live queue, calls that they listen to, and
//! transfers. Where the kernel allows no namespaces, each test reports it and ends.

use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, sched, spec::LinkFacts};
use goodqueue_base::units::{Bytes, Duration, Ecn, Framing, Instant, Rate};
use goodqueue_live::testbed::bench::Bench;
use goodqueue_live::testbed::experiment::{self, Arrivals, Direction, Experiment, Flow, Measured, Segments, Source, Timestamps};
use goodqueue_live::{Line, LivePacket, RateSpec};
use goodqueue_sim::call::Codec;
use goodqueue_sim::trace::ProbesOutcome;
use goodqueue_sim::{Content, Transfer};
use std::sync::atomic::AtomicBool;

const RATE: Rate = Rate::mbit(10);
const DELAY: Duration = Duration::ms(5);

fn flow(source: Source, way: Direction) -> Flow {
    Flow { source, way, start: Duration::ZERO, stop: None, dscp: 46 }
}

fn echo(way: Direction) -> Flow {
    flow(Source::Echo { interval: Duration::ms(10), packet_size: 84, ecn: Ecn::Ect0 }, way)
}

fn queue(limit: Limit) -> AnyQdisc<LivePacket> {
    let facts = LinkFacts { rate: Some(RATE), delay: DELAY, mtu: Bytes::new(1500), overhead: Bytes::ZERO, limit };
    let kind = sched::TAIL_DROP;
    AnyQdisc::build(kind, &[], &facts, EcnPolicy::Drop, Rng::new(1)).expect("a queue")
}

/// Runs for one second over 10 Mbit/s and 5 ms each way, behind queues of `packets` packets.
/// Returns `None`, and reports it, where this cannot be done.
fn run(flows: Vec<Flow>, packets: u64) -> Option<Measured> {
    run_for(Duration::secs(1), flows, packets)
}

fn run_for(duration: Duration, flows: Vec<Flow>, packets: u64) -> Option<Measured> {
    Bench::new().inspect_err(|reason| println!("skipped: {reason}")).ok()?;
    let line = Line { rate: RateSpec::Constant(RATE), delay: DELAY, framing: Framing::NONE };
    let limit = Limit::packets(packets);
    let experiment = Experiment {
        down: line.clone(),
        up: line,
        limits: (limit, limit),
        flows,
        ecn: false,
        timestamps: Timestamps::On,
        segments: Segments::Single,
        warmup: Duration::ms(200),
        duration,
        sample_every: None,
    };
    let measured = experiment::run(&experiment, (queue(limit), queue(limit)), &AtomicBool::new(false));
    Some(measured.expect("it runs").expect("to its end"))
}

fn probes(measured: &Measured, flow: usize) -> &ProbesOutcome {
    measured.flows[flow].probes.as_ref().expect("an echo's")
}

#[test]
fn probes_come_back_from_both_ends_with_their_marks() {
    let Some(measured) = run(vec![echo(Direction::Down), echo(Direction::Up)], 100) else { return };
    for flow in 0..2 {
        let outcome = probes(&measured, flow);
        assert!(outcome.answered > 0 && outcome.answered + outcome.lost <= outcome.sent, "{outcome:?}");
        assert_eq!(outcome.answered, outcome.rtt.len());
        // Twice 5 ms, and 84 bytes twice at 10 Mbit/s; three digits are known.
        let least = outcome.rtt.shortest().expect("answers");
        assert!(least >= Duration::us(10_120), "{least}");
        assert!(measured.flows[flow].rtt.is_empty(), "that is for TCP");
        // Answers to probes from before the measured part are no outcome of it.
        assert!(measured.flows[flow].delivered_bytes >= 84 * outcome.answered);
    }
    for half in [&measured.down, &measured.up] {
        // Probes of one flow and answers to those of the other.
        let marked = half.counters.arrived_ect.packets.get();
        assert!(marked >= probes(&measured, 0).answered.max(probes(&measured, 1).answered), "{marked}");
        assert_eq!(half.counters.dropped_total().packets.get(), 0);
    }
}

/// Half more than the line carries, at random times: periodic packets would meet each packet of a
/// call at the same state of the queue.
fn load(way: Direction) -> Flow {
    let (rate, rng) = (Rate::mbit(15), Rng::new(1));
    flow(Source::Udp { rate, arrivals: Arrivals::Poisson, rng, packet_size: 1500, ecn: Ecn::NotEct }, way)
}

#[test]
fn a_full_queue_loses_probes_and_delays_the_others() {
    let Some(measured) = run(vec![echo(Direction::Down), load(Direction::Down), load(Direction::Up)], 8) else { return };
    let outcome = probes(&measured, 0);
    assert!(outcome.lost > 0 && outcome.loss_runs > 0 && outcome.longest_loss_run > 0, "{outcome:?}");
    assert!(outcome.answered + outcome.lost <= outcome.sent, "{outcome:?}");
    assert!(measured.flows[1].probes.is_none());
}

fn call(content: Content, way: Direction) -> Flow {
    let (interval, packet_size, ecn) = (Duration::ms(20), 130, Ecn::NotEct);
    flow(Source::Call { content, interval, packet_size, ecn, propagation: DELAY }, way)
}

#[test]
fn a_call_on_a_free_line_is_heard_without_a_hole() {
    let flows = vec![call(Content::Voice(Codec::Opus), Direction::Down), call(Content::Game, Direction::Up)];
    let Some(measured) = run_for(Duration::secs(3), flows, 100) else { return };
    for flow in &measured.flows {
        let outcome = flow.call.as_ref().expect("a call's");
        // 150 packets, and those that this machine sends late or measures too long.
        assert!((100..=flow.sent_packets).contains(&outcome.received), "{outcome:?}");
        assert_eq!((outcome.lost, outcome.loss_runs), (0, 0), "{outcome:?}");
        assert!(outcome.delay_min >= Duration::us(5_104), "5 ms, and 130 bytes at 10 Mbit/s: {outcome:?}");
        assert!(flow.probes.is_none() && flow.rtt.is_empty());
    }
    let heard = measured.flows[0].call.as_ref().and_then(|call| call.heard.as_ref()).expect("speech is heard");
    assert!(heard.bursts.frames >= 50, "{heard:?}");
    assert!(measured.flows[1].call.as_ref().is_some_and(|game| game.heard.is_none()), "a game is no speech");
}

#[test]
fn a_full_queue_loses_packets_of_a_call() {
    let Some(measured) =
        run_for(Duration::secs(3), vec![call(Content::Voice(Codec::Pcmu), Direction::Down), load(Direction::Down)], 8)
    else {
        return;
    };
    let outcome = measured.flows[0].call.as_ref().expect("a call's");
    assert!(outcome.lost > 0 && outcome.loss_runs > 0 && outcome.longest_loss_run > 0, "{outcome:?}");
    assert!(outcome.received + outcome.lost <= measured.flows[0].sent_packets + 2, "{outcome:?}");
    let bad = outcome.heard.as_ref().expect("speech is heard").bursts.bad;
    assert!(bad > 0, "{outcome:?}");
}

#[test]
fn transfers_begin_at_their_times_and_complete() {
    // Measured from 0.2 s to 3.2 s, both about a second away from transfers that must be measured.
    let list = [(0, 20_000), (1_300, 20_000), (1_300, 20_000), (2_000, 20_000), (3_199, 10_000_000)]
        .map(|(ms, size)| Transfer { at: Duration::ms(ms), size: Bytes::new(size) });
    let transfers = flow(Source::Transfers { control: "cubic".to_owned(), list: list.into() }, Direction::Up);
    let Some(measured) = run_for(Duration::secs(3), vec![transfers], 100) else { return };
    let carried = &measured.flows[0].transfers;
    for place in 1..4 {
        let transfer = carried.iter().find(|one| one.place == place).expect("it began in the measured part");
        let planned = list[place as usize];
        assert!(transfer.began >= Instant::ZERO + planned.at && transfer.size == planned.size, "{transfer:?}");
        // Two round trips of 10 ms, and 20 kB at 10 Mbit/s.
        let took = transfer.took.expect("it ends");
        assert!(took >= Duration::ms(36), "{took}");
    }
    // The last begins when the run ends or not at all.
    assert!(carried.iter().all(|one| one.place != 4 || one.took.is_none()), "{carried:?}");
    assert!(measured.flows[0].delivered_bytes >= 60_000 && measured.flows[0].sent_packets >= 42);
    assert!(measured.flows[0].rtt.len() >= 3);
}
