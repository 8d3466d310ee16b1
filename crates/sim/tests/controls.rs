//! Every congestion control alone, in pairs, and in pairs of unequal round-trip time. The tables
//! are snapshots; what is known of them is asserted.

mod support;

use goodqueue_aqm::spec::{KindAndParams, Value};
use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_base::units::{Duration, Instant, Rate};
use goodqueue_sim::{LinkSpec, Outcome, QueueSpec, Recording, WorldSpec};
use goodqueue_tcp::kinds;
use std::fmt::Write;
use support::{bottleneck, bulk, dumbbell, loss, queue, run, utilization};

const MSS: f64 = 1448.0;

/// Whether the control needs marks from a shallow threshold.
fn is_scalable(cc: &str) -> bool {
    matches!(cc, "dctcp" | "prague")
}

/// A buffer for all, and for scalable controls a threshold from which every packet is marked.
fn link_for(cc: &str, rate: Rate, one_way: Duration, packets: u64) -> LinkSpec {
    let mut waiting = queue(if is_scalable(cc) { "codel" } else { "tail-drop" }, Limit::packets(packets));
    if is_scalable(cc)
        && let QueueSpec::Discipline { queue: KindAndParams { params, .. }, ecn, .. } = &mut waiting
    {
        // The control law of CoDel itself shall not act.
        params.push(("target", Value::Duration(Duration::ms(90))));
        params.push(("ce_threshold", Value::Duration(Duration::ms(2))));
        *ecn = EcnPolicy::Mark;
    }
    bottleneck(rate, one_way, waiting)
}

/// 20 Mbit/s, 40.4 ms, a buffer of one bandwidth-delay product: 67 packets.
fn world(cc: &'static str, flows: usize, warmup: u64, seconds: u64) -> WorldSpec {
    let link = link_for(cc, Rate::mbit(20), Duration::ms(20), 67);
    dumbbell(link, vec![bulk(cc); flows], Duration::ZERO, Duration::secs(warmup), Duration::secs(seconds))
}

fn goodputs_mbit(outcome: &Outcome, seconds: u64) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.delivered_bytes as f64 * 8e-6 / seconds as f64).collect()
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// The window of one flow in segments, twice per second, half a second to twenty.
#[test]
fn windows_of_one_flow() {
    let mut columns: Vec<Vec<u64>> = Vec::new();
    for spec in kinds() {
        let mut world = world(spec.kind, 1, 0, 20);
        world.recording = Recording { sample_every: Some(Duration::ms(500)), packets: false };
        let outcome = run(&world);
        let line = outcome.series.iter().find(|line| line.subject.starts_with("flow:")).expect("a sampled flow");
        let column = line.columns.iter().find(|column| column.name == "cwnd_bytes").expect("its window");
        columns.push(column.values.iter().map(|bytes| (bytes / MSS) as u64).collect());
    }
    let mut table = String::from("   s");
    for spec in kinds() {
        write!(table, " {:>9}", spec.kind).expect("writing to a string cannot fail");
    }
    for row in 1..columns[0].len() {
        write!(table, "\n{:4.1}", row as f64 * 0.5).expect("writing to a string cannot fail");
        for column in &columns {
            write!(table, " {:>9}", column[row]).expect("writing to a string cannot fail");
        }
    }
    insta::assert_snapshot!(table);
}

/// One flow; then two of one kind, the second ten seconds later, over the two minutes after the
/// first.
#[test]
fn alone_and_in_pairs() {
    let mut table = String::from("control    alone: utilization %  queue  loss %   pair: utilization %   Jain");
    for spec in kinds() {
        let alone = run(&world(spec.kind, 1, 20, 100));
        let mut pair = world(spec.kind, 2, 60, 120);
        pair.flows[1].start = Instant::ZERO + Duration::secs(10);
        let pair = run(&pair);
        let fairness = jain(&goodputs_mbit(&pair, 120));
        let line = (100.0 * utilization(&alone), alone.links[0].queue_packets, 100.0 * loss(&alone), 100.0 * utilization(&pair));
        write!(table, "\n{:9} {:20.2} {:7.2} {:7.3} {:21.2} {fairness:7.3}", spec.kind, line.0, line.1, line.2, line.3)
            .expect("writing to a string cannot fail");
        assert!(line.0 > 95.0, "{} leaves the link idle: {}", spec.kind, line.0);
        assert!(fairness > 0.9, "{}: {fairness}", spec.kind);
    }
    insta::assert_snapshot!(table);
}

/// Goodput of a flow with a short round trip over that of one with a long one, over the same
/// bottleneck.
fn ratio(cc: &'static str, rate: Rate, short_ms: u64, long_ms: u64, seconds: u64) -> f64 {
    let bdp = (rate.as_bit_s() as f64 * long_ms as f64 * 1e-3 / 12_000.0) as u64;
    let link = link_for(cc, rate, Duration::us(short_ms * 500 - 200), bdp.max(20));
    let mut world = dumbbell(link, vec![bulk(cc); 2], Duration::ZERO, Duration::secs(seconds / 3), Duration::secs(seconds));
    // The second flow's access links, there and back.
    let extra = Duration::us((long_ms - short_ms) * 500);
    for access in [6, 9] {
        world.links[access].delay += extra;
    }
    let shares = goodputs_mbit(&run(&world), seconds);
    shares[0] / shares[1]
}

/// Window controls favor the short round trip, by less than its inverse square (Lakshman and
/// Madhow 1997), since the queue is common to both; CUBIC and above all H-TCP, which scales its
/// growth, by less. BBR favors the long one, whose window is larger.
#[test]
fn pairs_of_unequal_round_trip_time() {
    let mut table = String::from("control    20 ms over 80 ms");
    let mut ratios = std::collections::BTreeMap::new();
    for spec in kinds() {
        let ratio = ratio(spec.kind, Rate::mbit(20), 20, 80, 150);
        write!(table, "\n{:9} {ratio:16.2}", spec.kind).expect("writing to a string cannot fail");
        ratios.insert(spec.kind, ratio);
    }
    assert!((1.0..16.0).contains(&ratios["reno"]) && ratios["cubic"] < ratios["reno"], "{table}");
    assert!((0.7..1.4).contains(&ratios["htcp"]), "{table}");
    assert!(ratios["bbr"] < 0.7 && ratios["bbr3"] < 0.7, "{table}");
    insta::assert_snapshot!(table);
}

/// Below 25 ms Prague shares as if all round trips were that long; DCTCP favors the short one.
#[test]
fn prague_does_not_mind_short_round_trips() {
    let ratio = |cc| ratio(cc, Rate::mbit(40), 6, 24, 60);
    assert!((0.8..1.25).contains(&ratio("prague")), "{}", ratio("prague"));
    assert!(ratio("dctcp") > 3.0, "{}", ratio("dctcp"));
}
