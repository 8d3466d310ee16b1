//! Mean queues of CP-AQM under unresponsive load: 10 Mbit/s, packets of 1500 bytes plus 7 of
//! framing, a queue of 45 kB. The expected values come from an independent model of the law and
//! agree with figures 2(a) and 2(b) of Menth and Veith 2018.

use goodqueue_aqm::sched::kind;
use goodqueue_aqm::spec::{LinkFacts, Size, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Reason, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Ecn, Packets, Rate};
use goodqueue_testkit::{Load, Observed, ScriptedLink};

/// 15 Mbit/s on the wire.
const GAP: Duration = Duration::ns(803_733);

fn run(threshold: f64, c_max: f64, load: Load) -> Observed {
    let link = LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(5),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(7),
        limit: Limit::bytes(45_000),
    };
    let params = [("threshold", Value::Size(Size::Packets(threshold))), ("c_max", Value::Number(c_max))];
    let spec = kind("cp-aqm").expect("a known kind");
    let mut queue: AnyQdisc<SimplePacket> =
        AnyQdisc::build(spec, &params, &link, EcnPolicy::Drop, Rng::new(1)).expect("valid parameters");
    let scripted = ScriptedLink { rate: Rate::mbit(10), overhead: Bytes::new(7), packet: 1500, ecn: Ecn::NotEct, flows: 1, load };
    scripted.run(&mut queue, 5, Duration::secs(10), Duration::secs(200))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} ± {tolerance}");
}

/// Three arrivals per two departures lock in phase, and the phase decides within a third of a
/// packet what the mean is.
#[track_caller]
fn near_in_some_phase(found: f64, expected: f64) {
    near(found, expected - 1.0 / 6.0, 1.0 / 6.0 + 0.05);
}

#[test]
fn constant_load_settles_at_the_threshold_whatever_c_max() {
    for (threshold, expected) in [(0.0, 0.8), (5.0, 5.8), (10.0, 10.8), (20.0, 20.8)] {
        for c_max in [1.05, 1.2, 1.5, 2.0] {
            near_in_some_phase(run(threshold, c_max, Load::Constant(GAP)).mean_packets, expected);
        }
    }
}

#[test]
fn poisson_load_settles_the_higher_the_smaller_c_max() {
    let table = [
        (0.0, [3.7, 2.6, 2.0, 1.6]),
        (5.0, [10.7, 9.2, 8.3, 7.6]),
        (10.0, [15.3, 13.9, 13.0, 12.3]),
        (20.0, [24.6, 23.2, 22.3, 21.7]),
    ];
    for (threshold, expected) in table {
        for (c_max, expected) in [1.05, 1.2, 1.5, 2.0].into_iter().zip(expected) {
            near(run(threshold, c_max, Load::Poisson(GAP)).mean_packets, expected, 0.3);
        }
    }
}

#[test]
fn a_milder_overload_keeps_the_queue_longer() {
    near(run(10.0, 1.2, Load::Poisson(GAP.mul_f64(15.0 / 12.0))).mean_packets, 16.7, 0.4);
    near(run(10.0, 1.2, Load::Poisson(GAP.mul_f64(15.0 / 20.0))).mean_packets, 12.5, 0.3);
}

#[test]
fn without_a_rise_in_cost_it_is_a_tail_drop() {
    let constant = run(10.0, 1.0, Load::Constant(GAP));
    near_in_some_phase(constant.mean_packets, 29.8);
    let poisson = run(10.0, 1.0, Load::Poisson(GAP));
    near(poisson.mean_packets, 28.8, 0.2);
    for observed in [constant, poisson] {
        assert_eq!(observed.counters.dropped(Reason::Policer).packets, Packets::ZERO);
        assert!(observed.utilization > 0.9999);
    }
}
