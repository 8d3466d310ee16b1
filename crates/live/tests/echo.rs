//! Probes that real sockets send back through the live queue. Where the kernel allows no
//! namespaces, each test reports it and ends.

use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, sched, spec::LinkFacts};
use goodqueue_base::units::{Bytes, Duration, Ecn, Framing, Rate};
use goodqueue_live::testbed::bench::Bench;
use goodqueue_live::testbed::experiment::{self, Arrivals, Direction, Experiment, Flow, Measured, Segments, Source, Timestamps};
use goodqueue_live::{Line, LivePacket, RateSpec};
use goodqueue_sim::trace::ProbesOutcome;
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
        duration: Duration::secs(1),
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
        // Twice 5 ms, and 84 bytes twice at 10 Mbit/s; the histogram knows three digits.
        let least = outcome.rtt.histogram().min();
        assert!(least >= 10_120_000, "{least} ns");
        assert!(measured.flows[flow].rtt.is_empty(), "that is for TCP");
        // The two counts are not taken at one instant.
        assert!(measured.flows[flow].delivered_bytes >= 84 * (outcome.answered - 1));
    }
    for half in [&measured.down, &measured.up] {
        // Probes of one flow and answers to those of the other.
        let marked = half.counters.arrived_ect.packets.get();
        assert!(marked >= probes(&measured, 0).answered.max(probes(&measured, 1).answered), "{marked}");
        assert_eq!(half.counters.dropped_total().packets.get(), 0);
    }
}

#[test]
fn a_full_queue_loses_probes_and_delays_the_others() {
    let load = |way| {
        let (rate, rng) = (Rate::mbit(15), Rng::new(1));
        flow(Source::Udp { rate, arrivals: Arrivals::Periodic, rng, packet_size: 1500, ecn: Ecn::NotEct }, way)
    };
    let Some(measured) = run(vec![echo(Direction::Down), load(Direction::Down), load(Direction::Up)], 8) else { return };
    let outcome = probes(&measured, 0);
    assert!(outcome.lost > 0 && outcome.loss_runs > 0 && outcome.longest_loss_run > 0, "{outcome:?}");
    assert!(outcome.answered + outcome.lost <= outcome.sent, "{outcome:?}");
    assert!(measured.flows[1].probes.is_none());
}
