use crate::cc::tests::Script;
use crate::cc::{Congestion, CongestionControl};
use crate::config::SlowStartExit;
use goodqueue_base::units::Duration;

fn cubic(initial_window: u32) -> Script {
    Script::new("cubic-rfc", &[], SlowStartExit::LossOnly, initial_window)
}

#[test]
fn a_window_of_a_hundred_falls_to_seventy_and_is_back_after_k() {
    let mut script = cubic(100);
    script.lose();
    assert_eq!(script.window(), 70);
    let start = script.now;
    script.ack(1);
    while script.now.since(start) < Duration::ms(4_217) {
        script.round();
    }
    assert!((99..=100).contains(&script.window()), "{}", script.window());
}

#[test]
fn the_reduction_counts_what_was_in_flight() {
    let mut script = cubic(100);
    script.cc.on_loss(&Congestion { now: script.now, flight: 50 });
    assert_eq!(script.window(), 35);
}

#[test]
fn reno_friendly_growth_is_alpha_up_to_the_old_window_then_one() {
    let mut script = cubic(20);
    script.rtt = Duration::ms(1);
    script.lose();
    for _ in 0..10 {
        script.round();
    }
    assert_eq!(script.window(), 19, "14 + 10 * 0.529");
    for _ in 0..12 {
        script.round();
    }
    assert!((28..=30).contains(&script.window()), "one per round beyond 20: {}", script.window());
}

#[test]
fn it_and_the_version_of_linux_agree_between_two_losses() {
    let mut linux = Script::new("cubic", &[], SlowStartExit::LossOnly, 200);
    let mut rfc = cubic(200);
    linux.lose();
    rfc.lose();
    for _ in 0..100 {
        linux.round();
        rfc.round();
        let (a, b) = (f64::from(linux.window()), f64::from(rfc.window()));
        assert!((a / b - 1.0).abs() < 0.03, "{a} against {b}");
    }
}
