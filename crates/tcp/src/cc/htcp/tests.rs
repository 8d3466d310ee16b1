use super::{Htcp, ONE, ticks};
use crate::cc::tests::Script;
use crate::cc::{AnyCc, CongestionControl, Response};
use crate::config::SlowStartExit;
use goodqueue_base::spec::Value;
use goodqueue_base::units::Duration;
use std::vec::Vec;

fn htcp(params: &[(&'static str, Value)], initial_window: u32, rtt: Duration) -> Script {
    let mut script = Script::new("htcp", params, SlowStartExit::Native, initial_window);
    script.rtt = rtt;
    script
}

fn state(script: &Script) -> &Htcp {
    let AnyCc::Htcp(htcp) = &script.cc else { panic!("built as htcp") };
    htcp
}

/// Growth per round trip `since_ms` milliseconds after the last congestion.
fn alpha(rtt: Duration, since_ms: u64) -> f64 {
    let mut script = htcp(&[], 20, rtt);
    script.ack(1);
    let mut htcp = state(&script).clone();
    htcp.choose_alpha(ticks(script.now) + since_ms);
    f64::from(htcp.alpha) / f64::from(ONE)
}

/// 1 + 10 (d - 1) + ((d - 1) / 2)^2 with d in seconds, rounded down as in Linux; the reduction is
/// to one half.
#[test]
fn growth_follows_the_time_since_congestion() {
    let rtt = Duration::ms(100);
    let growth: Vec<f64> = [0, 500, 1_000, 1_100, 1_500, 2_000, 3_000, 11_000].iter().map(|&ms| alpha(rtt, ms)).collect();
    // In real numbers 2 s give 11.25, 3 s give 22 and 11 s give 126.
    assert_eq!(growth, [1.0, 1.0, 1.0, 2.0, 6.0, 11.0, 22.0, 126.0]);
}

/// A factor of 10 RTT_min between 1/10 and 2, in eighths and rounded down: `8 f / floor(8 / (10
/// RTT_min))`.
#[test]
fn growth_is_scaled_by_the_round_trip_time() {
    let growth: Vec<f64> = [5, 10, 50, 200, 500].iter().map(|&ms| alpha(Duration::ms(ms), 3_000)).collect();
    assert_eq!(growth, [2.0, 2.0, 11.0, 44.0, 44.0]);
    let unscaled = Script::new("htcp", &[("rtt_scaling", Value::Switch(false))], SlowStartExit::Native, 20);
    let mut unscaled = state(&unscaled).clone();
    unscaled.rtt_min = 10;
    unscaled.choose_alpha(unscaled.last_congestion + 3_000);
    assert_eq!(unscaled.alpha, 22 * ONE);
}

#[test]
fn first_loss_halves_and_the_next_leaves_the_fair_share() {
    let mut script = htcp(&[("bandwidth_switch", Value::Switch(false))], 100, Duration::ms(100));
    script.ack(1);
    // The queue raises the round-trip time to 125 ms in steps of less than 20 ms.
    for ms in [110, 120, 125] {
        script.rtt = Duration::ms(ms);
        script.ack(0);
    }
    script.lose();
    assert_eq!((script.window(), state(&script).rtt_max), (50, 123), "RTT_max forgets 5 % of 25 ms, rounded down");
    script.cc.on_recovered(script.now);
    script.lose();
    // 128 * 100 / 123 = 104 of 128, at most 102.
    assert_eq!(script.window(), 50 * 102 / 128);
}

#[test]
fn a_sudden_jump_of_the_round_trip_time_is_not_the_queue() {
    let mut script = htcp(&[], 100, Duration::ms(100));
    script.ack(1);
    script.rtt = Duration::ms(200);
    script.ack(1);
    assert_eq!(state(&script).rtt_max, 100);
}

#[test]
fn a_change_of_throughput_halves() {
    let mut script = htcp(&[], 100, Duration::ms(100));
    script.lose();
    script.cc.on_recovered(script.now);
    let mut kept = Vec::new();
    // Two seconds between losses; in the last cycle the path is five times longer.
    for rtt_ms in [100, 100, 100, 500] {
        script.rtt = Duration::ms(rtt_ms);
        for _ in 0..2_000 / rtt_ms {
            script.round();
        }
        let before = script.window();
        script.lose();
        script.cc.on_recovered(script.now);
        kept.push(f64::from(script.window()) / f64::from(before));
    }
    // Throughput: unknown, known for the first time, constant, changed.
    for (kept, expected) in kept.iter().zip([0.5, 0.5, 0.8, 0.5]) {
        assert!((kept - expected).abs() < 0.02, "{kept} against {expected}");
    }
}

#[test]
fn time_counts_from_recovery_end_and_a_mistake_restores_it() {
    let mut script = htcp(&[], 100, Duration::ms(100));
    script.lose();
    script.cc.on_recovered(script.now);
    let first = ticks(script.now);
    script.now += Duration::secs(5);
    script.lose();
    assert_eq!(state(&script).last_congestion, first + 5_000);
    script.cc.on_undo(script.now);
    assert_eq!((state(&script).last_congestion, script.window()), (first, 50));
    script.now += Duration::ms(10);
    script.cc.on_recovered(script.now);
    assert_eq!(state(&script).last_congestion, first);
    script.time_out(Response::Reduce);
    script.now += Duration::ms(700);
    script.cc.on_recovered(script.now);
    assert_eq!(state(&script).last_congestion, ticks(script.now));
    assert_eq!((script.window(), script.threshold()), (1, 25));
}
