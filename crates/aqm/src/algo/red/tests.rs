use super::*;
use goodqueue_base::units::{Bytes, Duration};

fn params() -> RedParams {
    RedParams {
        min_th: None,
        max_th: None,
        max_p: 0.1,
        w_q: None,
        auto_w_q: WeightRule::Rtt,
        gentle: true,
        bytes: false,
        queue_in_bytes: false,
        mean_pktsize: Bytes::new(500),
        wait: true,
        use_mark_p: true,
        mark_p: 0.1,
        adaptation: Adaptation::Off,
        alpha: 0.01,
        beta: 0.9,
        interval: Duration::ms(500),
        top: 0.5,
        bottom: None,
        targetdelay: Duration::ms(5),
        harddrop: false,
        legacy_static: false,
    }
}

fn facts(rate: Rate) -> Facts {
    Facts { rate: Some(rate), delay: Duration::ms(10), mtu: Bytes::new(1500) }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-3), "{found} is not {expected}");
}

#[test]
fn automatic_settings_of_ten_megabits() {
    let Settings { ptc, min_th, max_th, bottom, .. } = Red::new(params(), facts(Rate::mbit(10))).settings;
    near(ptc, 2500.0);
    near(min_th, 6.25);
    near(max_th, 18.75);
    near(bottom, 0.008);
    let in_bytes = Red::new(RedParams { queue_in_bytes: true, ..params() }, facts(Rate::mbit(10))).settings;
    near(in_bytes.min_th, 3125.0);
    near(in_bytes.max_th, 9375.0);
}

#[test]
fn automatic_weights() {
    let w_q = |rule| Red::new(RedParams { auto_w_q: rule, ..params() }, facts(Rate::mbit(10))).settings.w_q;
    assert!((w_q(WeightRule::Second) - 3.999e-4).abs() < 1e-7);
    assert!((w_q(WeightRule::Tenth) - 3.992e-3).abs() < 1e-6);
    // Three times the delay is less than 100 ms, so the RTT is 100 ms and the weight is that of
    // 2500 packets.
    assert_eq!(w_q(WeightRule::Rtt), w_q(WeightRule::Second));
}

#[test]
fn the_gentle_line_is_half_way_up_at_one_and_a_half_max_th() {
    let mut red = Red::new(params(), facts(Rate::mbit(10)));
    red.avg = 1.5 * red.settings.max_th;
    near(red.ramp(), 0.55);
    red.params.gentle = false;
    near(red.ramp(), 1.0);
    red.avg = red.settings.min_th;
    near(red.ramp(), 0.0);
}

#[test]
fn max_p_follows_the_average_once_an_interval() {
    let mut red = Red::new(RedParams { adaptation: Adaptation::Floyd, max_p: 0.02, ..params() }, facts(Rate::mbit(10)));
    red.avg = red.settings.max_th;
    red.adapt(Instant::from_nanos(499_999_999));
    near(red.max_p, 0.02);
    red.adapt(Instant::from_nanos(500_000_000));
    near(red.max_p, 0.025);
    red.adapt(Instant::from_nanos(600_000_000));
    near(red.max_p, 0.025);
    red.max_p = 0.02;
    red.avg = red.settings.min_th;
    red.adapt(Instant::from_nanos(1_000_000_000));
    near(red.max_p, 0.018);
}

#[test]
fn settings_follow_the_rate_unless_told_not_to() {
    for (legacy_static, expected) in [(false, 62.5), (true, 6.25)] {
        let mut red = Red::new(RedParams { legacy_static, ..params() }, facts(Rate::mbit(10)));
        red.avg = 7.0;
        let mut rng = goodqueue_base::units::Rng::new(1);
        let (now, overhead) = (Instant::ZERO, Bytes::ZERO);
        red.on_rate_change(&mut Env { now, link_rate: Some(Rate::mbit(100)), overhead, rng: &mut rng });
        near(red.settings.min_th, expected);
        red.on_rate_change(&mut Env { now, link_rate: Some(Rate::ZERO), overhead, rng: &mut rng });
        near(red.settings.min_th, expected);
        near(red.avg, 7.0);
    }
}

#[test]
fn a_long_silence_empties_the_average() {
    near(power(0.999, 1000), crate::math::pow(0.999, 1000.0));
    assert_eq!(power(0.5, 10_000_000), 0.0);
    assert_eq!(power(0.5, 0), 1.0);
}

/// Verdict at this average, with a count of packets that leaves no room for chance.
fn verdict_at(avg: f64, params: RedParams) -> Verdict {
    let mut red = Red::new(params, facts(Rate::mbit(10)));
    red.avg = avg;
    red.in_band = true;
    red.count = 1e9;
    let mut rng = goodqueue_base::units::Rng::new(1);
    let (now, overhead) = (Instant::ZERO, Bytes::ZERO);
    red.judge_in_band(&mut Env { now, link_rate: None, overhead, rng: &mut rng }, 1500.0)
}

/// RFC 3168 §7: above the upper threshold packets are dropped, ECN-capable or not.
#[test]
fn hard_drops_begin_at_max_th() {
    let hard = RedParams { harddrop: true, use_mark_p: false, ..params() };
    let soft = RedParams { harddrop: false, ..hard };
    let max_th = Red::new(hard, facts(Rate::mbit(10))).settings.max_th;
    assert_eq!(verdict_at(max_th, hard), Verdict::Drop(Reason::Early));
    assert_eq!(verdict_at(0.999 * max_th, hard), Verdict::Signal(Reason::Early));
    assert_eq!(verdict_at(max_th, soft), Verdict::Signal(Reason::Early));
}

/// Floyd and Jacobson 1993: from `max_th` on every arriving packet is signaled, whatever its size.
#[test]
fn certainty_does_not_depend_on_packet_size() {
    let bytes = RedParams { bytes: true, gentle: false, use_mark_p: false, ..params() };
    let mut red = Red::new(bytes, facts(Rate::mbit(10)));
    red.avg = red.settings.max_th;
    red.count_bytes = 40.0;
    assert_eq!(red.spread(red.ramp(), 40.0), 1.0);
    // Twice the bytes since the last signal that the probability requires.
    red.count_bytes = 2.0 / 0.1 * red.params.mean_pktsize.get() as f64;
    assert_eq!((red.spread(0.1, 40.0), red.spread(0.05, 40.0) < 0.1), (1.0, true));
}

#[test]
fn marks_end_where_the_probability_reaches_mark_p() {
    let params = RedParams { mark_p: 0.05, ..params() };
    let Settings { min_th, max_th, .. } = Red::new(params, facts(Rate::mbit(10))).settings;
    let half = f64::midpoint(min_th, max_th);
    assert_eq!(verdict_at(half, params), Verdict::Drop(Reason::Early));
    assert_eq!(verdict_at(0.99 * half, params), Verdict::Signal(Reason::Early));
    assert_eq!(verdict_at(half, RedParams { use_mark_p: false, ..params }), Verdict::Signal(Reason::Early));
}

/// Feng et al. 1999: once per crossing, a third of `max_p` below the band, twice `max_p` above it.
#[test]
fn the_older_adaptation_acts_on_crossings() {
    let mut red = Red::new(RedParams { adaptation: Adaptation::Feng, ..params() }, facts(Rate::mbit(10)));
    let Settings { min_th, max_th, .. } = red.settings;
    let middle = f64::midpoint(min_th, max_th);
    let walk = [
        (middle, 0.1),
        (2.0 * max_th, 0.2),
        (3.0 * max_th, 0.2),
        (middle, 0.2),
        (2.0 * max_th, 0.4),
        (0.5 * min_th, 0.4 / 3.0),
        (0.0, 0.4 / 3.0),
        (middle, 0.4 / 3.0),
        (0.0, 0.4 / 9.0),
    ];
    for (avg, max_p) in walk {
        red.avg = avg;
        red.adapt_on_crossing();
        near(red.max_p, max_p);
    }
}
