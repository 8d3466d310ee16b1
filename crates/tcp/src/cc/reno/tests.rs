use crate::cc::tests::Script;
use crate::cc::{CongestionControl, Response};
use crate::config::SlowStartExit;
use goodqueue_base::spec::Value;

fn reno(params: &[(&'static str, Value)], initial_window: u32) -> Script {
    Script::new("reno", params, SlowStartExit::Native, initial_window)
}

#[test]
fn slow_start_doubles_each_round_even_with_delayed_acks() {
    let mut script = reno(&[], 10);
    for _ in 0..5 {
        script.ack(2);
    }
    assert_eq!(script.window(), 20);
}

#[test]
fn avoidance_adds_one_segment_a_round() {
    let mut script = reno(&[], 20);
    script.lose();
    assert_eq!((script.window(), script.threshold()), (10, 10));
    for expected in 11..20 {
        script.round();
        assert_eq!(script.window(), expected);
    }
}

#[test]
fn slow_start_stops_at_the_threshold_then_avoidance_counts() {
    let mut script = reno(&[], 40);
    script.time_out(Response::Reduce);
    assert_eq!((script.window(), script.threshold()), (1, 20));
    script.ack(18);
    assert_eq!(script.window(), 19);
    // One segment to the threshold, twenty for one step of avoidance.
    script.ack(21);
    assert_eq!(script.window(), 21);
}

#[test]
fn a_repeated_timeout_keeps_the_threshold() {
    let mut script = reno(&[], 40);
    script.time_out(Response::Reduce);
    script.time_out(Response::Repeat);
    assert_eq!((script.window(), script.threshold()), (1, 20));
}

#[test]
fn the_window_never_falls_below_two_by_losses() {
    let mut script = reno(&[], 3);
    script.lose();
    script.lose();
    assert_eq!(script.window(), 2);
}

#[test]
fn stretch_acks_grow_the_window_by_at_most_two_segments() {
    let mut script = reno(&[("slow_start_limit", Value::Number(2.0))], 10);
    script.ack(10);
    assert_eq!(script.window(), 12);
}

#[test]
fn alternative_backoff_answers_marks_more_gently_than_losses() {
    let mut script = reno(&[("ecn_beta", Value::Number(0.8))], 100);
    script.cc.on_ecn(&script.congestion());
    assert_eq!(script.window(), 80);
    script.lose();
    assert_eq!(script.window(), 40);
}

#[test]
fn counted_acknowledgements_grow_half_as_fast_when_delayed() {
    let mut script = reno(&[("count", Value::Choice("acknowledgements"))], 20);
    script.ack(2);
    assert_eq!(script.window(), 21);
    script.lose();
    assert_eq!(script.window(), 10);
    for _ in 0..9 {
        script.ack(2);
    }
    assert_eq!(script.window(), 10);
    script.ack(2);
    assert_eq!(script.window(), 11);
}
