//! TCP flows through a bottleneck against what theory says of them.

mod support;

use goodqueue_aqm::{Limit, math};
use goodqueue_base::units::{Duration, Instant, Rate};
use goodqueue_sim::{LinkSpec, Outcome, RateSpec};
use support::{bottleneck, bulk, dumbbell, loss, queue, run, utilization};

fn tail_drop(rate: Rate, one_way: Duration, packets: u64) -> LinkSpec {
    bottleneck(rate, one_way, queue("tail-drop", Limit::packets(packets)))
}

fn bulk_run(link: LinkSpec, cc: &'static str, flows: usize, seconds: u64) -> Outcome {
    run(&dumbbell(link, vec![bulk(cc); flows], Duration::secs(5), Duration::secs(10), Duration::secs(seconds)))
}

/// One Reno flow over a buffer smaller than a BDP: its window swings between half of and the whole
/// of BDP + buffer, which leaves the link idle for a computable share of the time. The closed form
/// knows no recovery, during which the window does not grow for a round trip of each cycle of some
/// sixty: utilization within 2 points of it.
#[test]
fn saw_tooth_of_one_reno_flow() {
    let outcome = bulk_run(tail_drop(Rate::mbit(10), Duration::ms(50), 30), "reno", 1, 1000);
    let bdp = 10e6 * 0.1004 / 12_000.0;
    let top = bdp + 30.0 + 1.0;
    let bottom = top / 2.0;
    // One packet per round trip: rounds below the BDP take one base RTT, rounds above it window /
    // BDP.
    let below = bdp - bottom;
    let idle = below * (1.0 - (bottom + bdp) / 2.0 / bdp);
    let above = (top - bdp) * (top + bdp) / 2.0 / bdp;
    let expected = 1.0 - idle / (below + above);
    let measured = utilization(&outcome);
    assert!((measured - expected).abs() < 0.02, "{measured} against {expected}");
}

fn mean_window(cc: &'static str, p: f64, one_way: Duration, seconds: u64) -> f64 {
    let mut link = tail_drop(Rate::gbit(1), one_way, 100_000);
    link.loss = p;
    let spec = dumbbell(link, vec![bulk(cc); 4], Duration::secs(1), Duration::secs(30), Duration::secs(seconds));
    let outcome = run(&spec);
    let segments: f64 = outcome.flows.iter().map(|f| f.delivered_bytes as f64 / 1448.0).sum();
    let rtt = 2.0 * one_way.as_secs_f64() + 4e-4;
    segments / 4.0 / seconds as f64 * rtt
}

/// Mean window = sqrt(3 / (2 p)) for periodic losses (Mathis 1997); independent losses move the
/// constant by up to 7 % (sqrt(2 / p) * gamma factors, Ott 1996). Within 12 %.
#[test]
fn square_root_law_of_reno() {
    for (p, seconds) in [(1e-3, 400), (2e-4, 1000)] {
        let measured = mean_window("reno", p, Duration::ms(25), seconds);
        let expected = math::sqrt(1.5 / p);
        assert!((measured / expected - 1.0).abs() < 0.12, "p {p}: {measured} against {expected}");
    }
}

/// RFC 9438 §5.1: mean window = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), for periodic
/// losses; within 20 % under independent ones.
#[test]
fn response_function_of_cubic() {
    let p = 1e-4;
    let measured = mean_window("cubic", p, Duration::ms(100), 1000);
    let factor = math::pow(0.4 * 3.7 / (4.0 * 0.3), 0.25);
    let expected = factor * math::pow(0.2 / p, 0.75);
    assert!((measured / expected - 1.0).abs() < 0.2, "p {p}: {measured} against {expected}");
}

/// Sixteen flows of either kind keep a 30-packet buffer full enough never to idle, and share the
/// link.
#[test]
fn many_flows_fill_the_link_and_share_it() {
    for cc in ["reno", "cubic"] {
        let outcome = bulk_run(tail_drop(Rate::mbit(10), Duration::ms(5), 30), cc, 16, 100);
        assert!(utilization(&outcome) > 0.999, "{cc}");
        let goodputs: Vec<f64> = outcome.flows.iter().map(|f| f.delivered_bytes as f64).collect();
        let sum: f64 = goodputs.iter().sum();
        let jain = sum * sum / (16.0 * goodputs.iter().map(|x| x * x).sum::<f64>());
        assert!(jain > 0.9, "{cc}: {jain}");
        assert!((0.02..0.2).contains(&loss(&outcome)), "{cc}: {}", loss(&outcome));
    }
}

#[test]
fn losses_synchronize_more_behind_tail_drop_than_behind_red() {
    let share = |kind: &str| {
        let link = bottleneck(Rate::mbit(20), Duration::ms(20), queue(kind, Limit::packets(80)));
        let spec = dumbbell(link, vec![bulk("reno"); 8], Duration::secs(2), Duration::secs(5), Duration::secs(30));
        let outcome = run(&spec);
        let link = &outcome.links[0];
        assert!(link.loss_events > Some(10), "{kind}: {:?} loss events", link.loss_events);
        let dropped: u64 = outcome.flows.iter().filter_map(|flow| flow.dropped_packets).sum();
        let runs: u64 = outcome.flows.iter().map(|flow| flow.loss_runs).sum();
        assert!(runs > 0 && runs <= dropped, "{kind}: {runs} runs of {dropped} losses");
        let bits: f64 = link.group_bits.iter().map(|(_, bits)| bits).sum();
        assert!((bits - link.sent_bits).abs() < 1.0, "one group sends everything");
        link.loss_synchronization.expect("losses")
    };
    let (together, apart) = (share("tail-drop"), share("ared"));
    assert!((0.125..=1.0).contains(&together) && (0.125..=1.0).contains(&apart), "{together} {apart}");
    assert!(together > apart, "tail drop {together:.3}, RED {apart:.3}");
}

#[test]
fn a_queue_is_judged_after_each_change_of_its_link_s_rate() {
    let second = |s: u64| Instant::ZERO + Duration::secs(s);
    let settled = |kind: &str| {
        let mut link = bottleneck(Rate::mbit(50), Duration::ms(20), queue(kind, Limit::packets(1000)));
        link.rate =
            RateSpec::Steps(vec![(Instant::ZERO, Rate::mbit(50)), (second(20), Rate::mbit(5)), (second(40), Rate::mbit(50))]);
        let spec = dumbbell(link, vec![bulk("cubic"); 4], Duration::secs(1), Duration::secs(10), Duration::secs(50));
        run(&spec).links[0].settling.expect("two changes")
    };
    let codel = settled("codel");
    assert_eq!(codel.changes, 2);
    assert!(codel.peak_sojourn_s > 0.05, "a tenfold drop of the rate makes a queue: {codel:?}");
    assert!(codel.sojourn_mean_s < 10.0 && codel.sojourn_max_s >= codel.sojourn_mean_s, "{codel:?}");
    let pfifo = settled("tail-drop");
    assert!(pfifo.peak_sojourn_s > codel.peak_sojourn_s, "{pfifo:?} against {codel:?}");
}
