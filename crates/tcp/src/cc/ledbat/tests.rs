use super::Ledbat;
use crate::cc::tests::Script;
use crate::cc::{AnyCc, CongestionControl};
use crate::config::SlowStartExit;
use goodqueue_base::spec::Value;
use goodqueue_base::units::Duration;
use std::vec::Vec;

/// A sender with a one-way delay of 50 ms and a target of 100 ms.
fn ledbat(params: &[(&'static str, Value)], initial_window: u32) -> Script {
    let mut script = Script::new("ledbat", params, SlowStartExit::Native, initial_window);
    script.ack(0);
    script
}

fn state(script: &Script) -> &Ledbat {
    let AnyCc::Ledbat(ledbat) = &script.cc else { panic!("built as ledbat") };
    ledbat
}

fn round_with_queue(script: &mut Script, queue_ms: u64) -> f64 {
    script.rtt = Duration::ms(100 + 2 * queue_ms);
    for _ in 0..4 {
        script.ack(0);
    }
    let before = state(script).exact;
    script.round();
    state(script).exact - before
}

#[test]
fn an_empty_queue_gives_a_segment_a_round_and_the_target_none() {
    let mut script = ledbat(&[], 50);
    assert!((round_with_queue(&mut script, 0) - 1.0).abs() < 0.02);
    assert!((round_with_queue(&mut script, 50) - 0.5).abs() < 0.02);
    assert!(round_with_queue(&mut script, 100).abs() < 1e-9);
    assert!((round_with_queue(&mut script, 150) + 0.5).abs() < 0.02);
    assert!((round_with_queue(&mut script, 300) + 2.0).abs() < 0.1);
}

#[test]
fn the_gain_is_the_growth_in_an_empty_queue() {
    // The settings that RFC 7928 §5.4 asks for.
    let mut script = ledbat(&[("target", Value::Duration(Duration::ms(5))), ("gain", Value::Number(10.0))], 50);
    // The window may exceed the (integral) number in flight by one segment, which costs up to 0.2
    // of each.
    let growth = round_with_queue(&mut script, 0);
    assert!((8.0..=10.0).contains(&growth), "{growth}");
}

#[test]
fn a_single_late_segment_is_not_a_queue() {
    let mut script = ledbat(&[], 50);
    script.ack(1);
    let before = state(&script).exact;
    script.rtt = Duration::ms(900);
    script.ack(1);
    assert!(state(&script).exact > before);
}

#[test]
fn the_base_delay_is_forgotten_after_its_minutes() {
    let mut script = ledbat(&[("base_history", Value::Number(3.0))], 50);
    script.rtt = Duration::ms(200);
    let mut queueing = Vec::new();
    for _ in 0..5 {
        script.now += Duration::secs(61);
        for _ in 0..4 {
            script.ack(0);
        }
        queueing.push(state(&script).delays.queueing());
    }
    assert_eq!(queueing, [Duration::ms(50), Duration::ms(50), Duration::ZERO, Duration::ZERO, Duration::ZERO]);
}

#[test]
fn a_loss_halves_and_a_window_has_at_least_two_segments() {
    let mut script = ledbat(&[], 50);
    script.lose();
    assert_eq!((script.window(), script.threshold()), (25, 25));
    for _ in 0..10 {
        script.lose();
    }
    assert_eq!(script.window(), 2);
    script.cc.on_undo(script.now);
    assert!(script.window() >= 2);
}

#[test]
fn slow_start_ends_at_half_the_target() {
    let mut script = ledbat(&[("slow_start", Value::Switch(true))], 10);
    script.round();
    assert_eq!(script.window(), 20);
    script.rtt = Duration::ms(100 + 2 * 51);
    for _ in 0..5 {
        script.ack(1);
    }
    assert!(!script.cc.in_slow_start());
}
