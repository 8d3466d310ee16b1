use super::Prague;
use crate::cc::tests::Script;
use crate::cc::{AckSample, AnyCc, Congestion, CongestionControl, Established, Growth};
use crate::config::{EcnMode, SlowStartExit};
use goodqueue_base::spec::Value;
use goodqueue_base::units::Duration;

fn state(script: &Script) -> &Prague {
    let AnyCc::Prague(prague) = &script.cc else { panic!("built as prague") };
    prague
}

/// Past slow start at a window of `window` segments, with immediate independence of the round-trip
/// time.
fn avoiding(window: u32, rtt: Duration) -> Script {
    let mut script = Script::new("prague", &[("transition", Value::Number(0.0))], SlowStartExit::Native, window);
    script.rtt = rtt;
    if let AnyCc::Prague(prague) = &mut script.cc {
        prague.window.ssthresh = window;
        prague.srtt = rtt;
        prague.alpha = 0.2;
        prague.marks_seen = true;
    }
    script
}

fn round(script: &mut Script, marked: impl Fn(u32) -> bool) {
    let window = script.window();
    for number in 0..window {
        script.now += script.rtt.div(u64::from(window));
        script.una += 1;
        let sample = AckSample { marked: u32::from(marked(number)), ..script.sample(1, Growth::Allowed) };
        script.cc.on_ack(&sample);
    }
}

#[test]
fn growth_at_the_target_rtt_is_renos_by_unmarked_segments() {
    let mut script = avoiding(100, Duration::ms(25));
    round(&mut script, |_| false);
    assert!((state(&script).exact - 101.0).abs() < 0.02, "{}", state(&script).exact);
    round(&mut script, |number| number % 2 == 0);
    assert!((state(&script).exact - 101.5).abs() < 0.02, "{}", state(&script).exact);
}

#[test]
fn growth_at_a_fifth_of_the_target_is_a_twenty_fifth_per_round() {
    let mut script = avoiding(100, Duration::ms(5));
    for _ in 0..25 {
        round(&mut script, |_| false);
    }
    assert!((state(&script).exact - 101.0).abs() < 0.02, "{}", state(&script).exact);
    let mut early = Script::new("prague", &[], SlowStartExit::Native, 10);
    early.rtt = Duration::ms(5);
    early.ack(1);
    assert_eq!(state(&early).increase(), 1.0, "not before it has run for 500 rounds");
}

#[test]
fn reduction_follows_marks_by_one_segment_per_ack() {
    let mut script = avoiding(100, Duration::ms(50));
    script.cc.on_ecn(&Congestion { now: script.now, flight: 100 });
    assert!((state(&script).exact - 90.0).abs() < 1e-9);
    assert_eq!(script.window(), 100);
    for expected in [99, 98, 97] {
        script.ack(1);
        assert_eq!((script.window(), script.threshold()), (expected, expected));
    }
}

#[test]
fn reductions_are_a_target_round_trip_apart() {
    let mut script = avoiding(100, Duration::ms(5));
    for (wait_ms, expected) in [(0, 90.0), (5, 90.0), (15, 90.0), (5, 81.0)] {
        script.now += Duration::ms(wait_ms);
        script.cc.on_ecn(&Congestion { now: script.now, flight: 100 });
        assert!((state(&script).exact - expected).abs() < 1e-9, "{}", state(&script).exact);
    }
}

#[test]
fn a_loss_halves_and_holds_until_it_is_repaired() {
    let mut script = avoiding(100, Duration::ms(50));
    script.lose();
    for _ in 0..60 {
        script.ack(1);
    }
    assert_eq!((script.window(), state(&script).exact), (50, 50.0));
    script.cc.on_recovered(script.now);
    round(&mut script, |_| false);
    assert_eq!(script.window(), 51);
}

#[test]
fn pacing_turns_the_window_over_once_a_round_trip() {
    let script = avoiding(100, Duration::ms(50));
    // 100 segments of 1000 bytes and their headers in 50 ms.
    assert_eq!(script.cc.pacing_rate().unwrap().as_bit_s(), 100 * 1_052 * 8 * 20);
    let mut fresh = Script::new("prague", &[], SlowStartExit::Native, 100);
    fresh.rtt = Duration::ms(50);
    fresh.ack(0);
    assert_eq!(fresh.cc.pacing_rate().unwrap().as_bit_s(), 2 * 100 * 1_052 * 8 * 20, "twice in slow start");
}

#[test]
fn with_classic_feedback_a_mark_is_as_good_as_a_loss() {
    let mut script = avoiding(100, Duration::ms(50));
    let event = Established { now: script.now, initial_window: 100, srtt: Duration::ms(50), ecn: EcnMode::Classic };
    script.cc.on_established(&event);
    script.cc.on_ecn(&Congestion { now: script.now, flight: 100 });
    assert_eq!(state(&script).exact, 50.0);
}
