//! TCP flows through a bottleneck against what theory says of them.

mod support;

use goodqueue_aqm::{Limit, math};
use goodqueue_sim::{LinkSpec, Outcome};
use goodqueue_units::{Duration, Rate};
use support::{bottleneck, bulk, dumbbell, loss, queue, run, utilization};

fn tail_drop(rate: Rate, one_way: Duration, packets: u64) -> LinkSpec {
    bottleneck(rate, one_way, queue("tail-drop", Limit::packets(packets)))
}

fn bulk_run(link: LinkSpec, cc: &'static str, flows: usize, seconds: u64) -> Outcome {
    run(&dumbbell(link, vec![bulk(cc); flows], Duration::secs(5), Duration::secs(10), Duration::secs(seconds)))
}

/// One Reno flow over a buffer smaller than a BDP: its window swings between half of and the whole of BDP + buffer, which
/// leaves the link idle for a computable share of the time. The closed form knows no recovery, during which the window does not
/// grow for a round trip of each cycle of some sixty: utilisation within 2 points of it.
#[test]
fn saw_tooth_of_one_reno_flow() {
    let outcome = bulk_run(tail_drop(Rate::mbit(10), Duration::ms(50), 30), "reno", 1, 1000);
    let bdp = 10e6 * 0.1004 / 12_000.0;
    let top = bdp + 30.0 + 1.0;
    let bottom = top / 2.0;
    // One packet a round trip: rounds below the BDP take one base RTT, rounds above it window / BDP.
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

/// Mean window = sqrt(3 / (2 p)) for periodic losses (Mathis 1997); independent losses move the constant by up to 7 %
/// (sqrt(2 / p) * gamma factors, Ott 1996). Within 12 %.
#[test]
fn square_root_law_of_reno() {
    for (p, seconds) in [(1e-3, 400), (2e-4, 1000)] {
        let measured = mean_window("reno", p, Duration::ms(25), seconds);
        let expected = math::sqrt(1.5 / p);
        assert!((measured / expected - 1.0).abs() < 0.12, "p {p}: {measured} against {expected}");
    }
}

/// RFC 9438 §5.1: mean window = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), for periodic losses; within 20 %
/// under independent ones.
#[test]
fn response_function_of_cubic() {
    let p = 1e-4;
    let measured = mean_window("cubic", p, Duration::ms(100), 1000);
    let factor = math::pow(0.4 * 3.7 / (4.0 * 0.3), 0.25);
    let expected = factor * math::pow(0.2 / p, 0.75);
    assert!((measured / expected - 1.0).abs() < 0.2, "p {p}: {measured} against {expected}");
}

/// Sixteen flows of either kind keep a 30-packet buffer full enough never to idle, and share the link.
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
