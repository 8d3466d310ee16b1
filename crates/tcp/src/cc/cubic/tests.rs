use crate::cc::tests::Script;
use crate::cc::{CongestionControl, Response};
use crate::config::SlowStartExit;
use goodqueue_base::spec::Value;
use goodqueue_base::units::Duration;

fn cubic(initial_window: u32) -> Script {
    Script::new("cubic", &[], SlowStartExit::LossOnly, initial_window)
}

#[test]
fn a_window_of_a_hundred_falls_to_seventy_and_is_back_after_k() {
    let mut script = cubic(100);
    script.lose();
    assert_eq!((script.window(), script.threshold()), (70, 70));
    let start = script.now;
    let mut back_at = None;
    while back_at.is_none() {
        script.round();
        if script.window() >= 99 {
            back_at = Some(script.now.since(start).as_secs_f64());
        }
    }
    // K = cbrt(30 / 0.4) = 4.217 s. The target is rounded up to whole segments, so it is 99 once
    // less than two are missing, which is cbrt(2 / 0.4) s before K; it is evaluated one round trip
    // ahead.
    let expected = 4.217 - 1.710 - 0.1;
    assert!((back_at.unwrap() - expected).abs() < 0.15, "{back_at:?}");
}

#[test]
fn beyond_the_plateau_it_accelerates() {
    let mut script = cubic(100);
    script.lose();
    let start = script.now;
    while script.now.since(start) < Duration::ms(4_217 + 2_000) {
        script.round();
    }
    // W(K + 2 s) = 0.4 * 8 + 100, one round trip ahead.
    assert!((102..=105).contains(&script.window()), "{}", script.window());
    while script.now.since(start) < Duration::ms(4_217 + 4_000) {
        script.round();
    }
    assert!((123..=130).contains(&script.window()), "{}", script.window());
}

#[test]
fn losing_below_the_last_maximum_aims_lower() {
    let mut aims = [0; 2];
    for (place, fast_convergence) in [false, true].into_iter().enumerate() {
        let settings = [("fast_convergence", Value::Switch(fast_convergence)), ("reno_friendly", Value::Switch(false))];
        let mut script = Script::new("cubic", &settings, SlowStartExit::LossOnly, 100);
        script.lose();
        script.lose();
        assert_eq!(script.window(), 49);
        for _ in 0..40 {
            script.round();
        }
        aims[place] = script.window();
    }
    // Plateaus at 70, and at 70 (1 + 0.7) / 2 = 59.5.
    assert!((67..=72).contains(&aims[0]), "{aims:?}");
    assert!((57..=63).contains(&aims[1]), "{aims:?}");
}

#[test]
fn on_short_paths_it_is_as_fast_as_reno() {
    let mut script = cubic(20);
    script.rtt = Duration::ms(10);
    script.lose();
    assert_eq!(script.window(), 14);
    for _ in 0..50 {
        script.round();
    }
    // 8/15 of a segment per round trip.
    assert!((38..=42).contains(&script.window()), "{}", script.window());
}

#[test]
fn it_never_grows_faster_than_half_of_what_is_delivered() {
    let mut script = cubic(10);
    script.lose();
    script.now += Duration::secs(1);
    script.ack(1);
    script.now += Duration::secs(100);
    let before = script.window();
    for _ in 0..before {
        script.ack(1);
    }
    assert!(script.window() <= before + before / 2 + 1);
}

#[test]
fn a_timeout_forgets_the_curve() {
    let mut script = cubic(100);
    script.lose();
    script.time_out(Response::Reduce);
    assert_eq!((script.window(), script.threshold()), (1, 49));
    for _ in 0..8 {
        script.round();
    }
    let plateau = script.window();
    // Without a known maximum: five percent per round trip.
    for _ in 0..10 {
        script.round();
    }
    assert!(script.window() > plateau * 3 / 2, "{plateau} to {}", script.window());
}

#[test]
fn hybrid_slow_start_ends_when_delay_rises() {
    let mut script = Script::new("cubic", &[], SlowStartExit::Native, 20);
    script.round();
    assert!(script.cc.in_slow_start(), "the delay is constant");
    script.rtt = Duration::ms(111);
    script.round();
    assert!(script.cc.in_slow_start(), "100 ms / 8 = 12.5 ms is the threshold");
    script.rtt = Duration::ms(113);
    script.round();
    script.round();
    assert!(!script.cc.in_slow_start());
}

#[test]
fn hystart_ends_when_the_ack_train_fills_half_the_path() {
    let mut script = Script::new("cubic", &[], SlowStartExit::Native, 100);
    for _ in 0..40 {
        script.now += Duration::ms(1);
        script.ack(1);
    }
    assert!(script.cc.in_slow_start(), "40 ms of 100");
    for _ in 0..20 {
        script.now += Duration::ms(1);
        script.ack(1);
    }
    assert!(!script.cc.in_slow_start(), "more than (100 + 1) / 2 ms");
}

#[test]
fn an_idle_time_does_not_climb_the_curve() {
    let mut script = cubic(100);
    script.lose();
    for _ in 0..5 {
        script.round();
    }
    let before = script.window();
    script.now += Duration::secs(60);
    script.cc.on_sent(&crate::cc::Sent { now: script.now, silence: Duration::secs(60) });
    script.round();
    assert!(script.window() <= before + 3, "{before} to {}", script.window());
}

#[test]
fn slow_start_can_be_given_a_limit() {
    let mut script = Script::new("cubic", &[("initial_ssthresh", Value::Number(64.0))], SlowStartExit::LossOnly, 10);
    for _ in 0..3 {
        script.round();
    }
    // 10, 20, 40, then at most 64 and a few segments of avoidance.
    assert_eq!(script.threshold(), 64);
    assert!((64..=68).contains(&script.window()), "{}", script.window());
}

#[test]
fn growth_past_the_last_maximum_can_be_bounded() {
    let grown = |most: f64| {
        let mut script = Script::new(
            "cubic",
            &[("max_increment", Value::Number(most)), ("reno_friendly", Value::Switch(false))],
            SlowStartExit::LossOnly,
            100,
        );
        script.lose();
        let start = script.now;
        while script.now.since(start) < Duration::ms(4_217 + 9_000) {
            script.round();
        }
        let before = script.window();
        script.round();
        script.window() - before
    };
    // The slope of the curve 9 s past the plateau is 3 * 0.4 * 81 = 97 segments per second, ten per
    // round of 100 ms.
    assert!((8..=12).contains(&grown(0.0)), "{}", grown(0.0));
    assert!((2..=4).contains(&grown(3.0)), "{}", grown(3.0));
}
