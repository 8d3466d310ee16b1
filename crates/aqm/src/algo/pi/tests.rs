use super::*;
use crate::spec::Value;
use goodqueue_base::units::{Packets, Rng};

fn queue(packets: u64) -> QueueView {
    QueueView { packets: Packets::new(packets), backlog: Bytes::new(1500 * packets) }
}

fn started(params: PiParams) -> Pi {
    let mut pi = Pi::new(params, Some(Rate::mbit(10)));
    pi.tick.start(Instant::ZERO, &mut Rng::new(1));
    pi
}

/// Takes the next sample with `packets` waiting.
fn sample(pi: &mut Pi, packets: u64) {
    let now = pi.next_update().expect("running");
    let mut rng = Rng::new(1);
    pi.on_update(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, None, queue(packets));
}

#[track_caller]
fn near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
}

#[test]
fn steady_excess_raises_the_probability_by_the_gain_difference() {
    let mut pi = started(PiParams::default());
    pi.q_old = 150.0;
    sample(&mut pi, 150);
    near(pi.p, 6.0e-6, 1e-9);
}

#[test]
fn the_probability_stays_between_zero_and_one() {
    let mut pi = started(PiParams { tuning: Tuning::Fixed(Gains { a: 1.0, b: 0.5 }), ..PiParams::default() });
    sample(&mut pi, 1000);
    near(pi.p, 1.0, 0.0);
    sample(&mut pi, 1);
    assert_eq!(pi.p, 0.0);
}

#[test]
fn samples_rest_while_they_would_change_nothing() {
    let mut pi = started(PiParams::default());
    sample(&mut pi, 60);
    sample(&mut pi, 0);
    assert_eq!((pi.p, pi.next_update()), (0.0, None));
    let mut rng = Rng::new(1);
    let now = Instant::from_nanos(1_000_000_000);
    let packet = PacketView {
        len: Bytes::new(1500),
        ecn: goodqueue_base::units::Ecn::NotEct,
        flow: crate::aqm::FlowHash(1),
        enqueued_at: now,
    };
    let verdict = pi.on_arrival(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, packet, queue(0));
    assert_eq!(verdict, Verdict::Pass);
    assert!(pi.next_update().is_some_and(|due| due > now));
}

/// Hollot et al. 2001 §VI: 60 flows, 3750 packets per second, 246 ms. The paper rounds the pole to
/// 0.53 and K to 9.64e-6.
#[test]
fn the_gains_of_the_papers_example() {
    let design = PiDesign { flows: 60.0, rtt: Duration::ms(246), crossover: None };
    near(design.slow_pole(3750.0), 0.53, 3e-3);
    let Gains { a, b } = design.gains(3750.0, 160.0);
    near((a - b) * 160.0, 9.64e-6, 0.02);
    near(2.0 * (a - b) / (a + b) * 160.0, 0.53, 3e-3);
    near(a, Gains::NS2.a, 0.02);
    near(b, Gains::NS2.b, 0.02);
    // The printed coefficients follow from the rounded K and z.
    near(9.64e-6 * (1.0 / 0.53 + 0.5 / 160.0), Gains::NS2.a, 1e-3);
    near(9.64e-6 * (1.0 / 0.53 - 0.5 / 160.0), Gains::NS2.b, 1e-3);
}

/// A later comparison of schemes prints the gains 1.643e-4 and 1.628e-4. They are those of 60 flows
/// on 2500 packets per second with round trips up to 180 ms; for the 5625 packets per second of its
/// own link the rule gives a twelfth of them.
#[test]
fn the_gains_of_a_later_comparison() {
    let design = PiDesign { flows: 60.0, rtt: Duration::ms(180), crossover: None };
    let Gains { a, b } = design.gains(2500.0, 160.0);
    near(a, 1.643e-4, 2e-3);
    near(b, 1.628e-4, 2e-3);
    near(design.gains(5625.0, 160.0).a, 1.4e-5, 0.02);
}

/// Distance of the loop from instability, in degrees.
fn phase_margin(design: &PiDesign, capacity: f64) -> f64 {
    let radians = design.radians(capacity);
    90.0 - (radians + libm::atan(radians)).to_degrees()
}

#[test]
fn the_loop_has_gain_one_at_its_crossover() {
    for (flows, crossover) in [(60.0, None), (2000.0, None), (60.0, Some(0.8))] {
        let design = PiDesign { flows, rtt: Duration::ms(200), crossover };
        let (capacity, w, rtt) = (4000.0, 160.0, 0.2);
        let Gains { a, b } = design.gains(capacity, w);
        let (k, omega) = ((a - b) * w, design.radians(capacity) / rtt);
        let z = design.slow_pole(capacity);
        let controller = k * crate::math::sqrt(1.0 + (omega / z) * (omega / z)) / omega;
        let plant = capacity * capacity
            / (2.0 * flows)
            / (crate::math::sqrt(omega * omega + z * z) * crate::math::sqrt(omega * omega + 1.0 / (rtt * rtt)));
        near(controller * plant, 1.0, 1e-9);
        assert!(phase_margin(&design, capacity) > 5.0);
    }
    let fast = PiDesign { flows: 2000.0, rtt: Duration::ms(200), crossover: None };
    near(fast.radians(4000.0), 0.5, 0.0);
    near(phase_margin(&fast, 4000.0), 34.79, 1e-3);
}

fn facts() -> LinkFacts {
    LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(40),
        limit: crate::Limit::packets(100),
    }
}

fn build(values: &[(&'static str, Value)], link: &LinkFacts) -> Result<Pi, ParamError> {
    Pi::build(&ParamValues::new(&Pi::KINDS[0], values).expect("single values in range"), link)
}

#[test]
fn gains_from_flows_follow_the_rate_and_given_ones_do_not() {
    let from_flows = [("flows", Value::Number(60.0)), ("rtt", Value::Duration(Duration::ms(100)))];
    let given = [("a", Value::Number(2e-4)), ("b", Value::Number(1e-4))];
    for (values, follows) in [(from_flows, true), (given, false)] {
        let mut pi = build(&values, &facts()).expect("good");
        let (before, mut rng) = (pi.gains, Rng::new(1));
        let now = Instant::ZERO;
        pi.p = 0.3;
        for rate in [Some(Rate::mbit(20)), Some(Rate::ZERO), None] {
            pi.on_rate_change(&mut Env { now, link_rate: rate, overhead: Bytes::ZERO, rng: &mut rng });
        }
        assert_eq!(pi.gains != before, follows);
        near(pi.p, 0.3, 0.0);
        if follows {
            let design = PiDesign { flows: 60.0, rtt: Duration::ms(100), crossover: None };
            assert_eq!(pi.gains, design.gains(20e6 / 8.0 / 1540.0, 170.0));
        }
    }
}

#[test]
fn the_reference_counts_packets_of_one_mtu_or_of_mean_size() {
    let reference = |values: &[(&'static str, Value)]| build(values, &facts()).expect("good").q_ref;
    let bytes = ("q_ref", Value::Size(Size::Bytes(75_000.0)));
    let in_bytes = [("queue_in_bytes", Value::Switch(true)), ("mean_pktsize", Value::Size(Size::Bytes(1000.0)))];
    near(reference(&[]), 50.0, 0.0);
    near(reference(&[bytes]), 50.0, 1e-12);
    near(reference(&[bytes, in_bytes[0], in_bytes[1]]), 75.0, 1e-12);
    near(reference(&[in_bytes[0], in_bytes[1]]), 75.0, 1e-12);
    near(reference(&[("q_ref", Value::Size(Size::Time(Duration::ms(12))))]), 10.0, 1e-12);
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let number = |name, value| (name, Value::Number(value));
    let rtt = ("rtt", Value::Duration(Duration::ms(100)));
    let refused: [(&[(&'static str, Value)], &str); 8] = [
        (&[number("a", 1e-4)], "a"),
        (&[number("b", 1e-4)], "b"),
        (&[number("a", 1e-4), number("b", 2e-4)], "b"),
        (&[number("flows", 10.0)], "flows"),
        (&[rtt], "rtt"),
        (&[number("a", 1e-4), number("b", 1e-5), number("flows", 10.0), rtt], "a"),
        (&[number("a", 1e-4), number("b", 1e-5), number("crossover", 0.3)], "a"),
        (&[number("crossover", 0.3)], "crossover"),
    ];
    for (values, param) in refused {
        assert_eq!(build(values, &facts()).expect_err("a contradiction").param, param);
    }
    let unknown = LinkFacts { rate: None, ..facts() };
    assert_eq!(build(&[number("flows", 10.0), rtt], &unknown).expect_err("no rate").param, "flows");
    assert_eq!(build(&[("q_ref", Value::Size(Size::Time(Duration::ms(5))))], &unknown).expect_err("no rate").param, "q_ref");
    assert!(build(&[], &unknown).is_ok());
}
