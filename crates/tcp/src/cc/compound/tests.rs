use super::Compound;
use crate::cc::tests::Script;
use crate::cc::{AnyCc, CongestionControl, Response, Sent};
use crate::config::SlowStartExit;
use goodqueue_base::spec::Value;
use goodqueue_base::units::Duration;

/// Returns a script in congestion avoidance with a window of `window` segments and a round-trip
/// time without queue.
fn avoiding(window: u32, params: &[(&'static str, Value)]) -> Script {
    let mut script = Script::new("compound", params, SlowStartExit::Native, window * 2);
    script.lose();
    script.round();
    script
}

fn state(script: &Script) -> &Compound {
    let AnyCc::Compound(compound) = &script.cc else { panic!("built as compound") };
    compound
}

/// 1/8 of 100^(3/4) is 3.95: 2.95 for the second window, and one for that of Reno.
#[test]
fn without_queue_the_second_window_grows_by_a_power() {
    let mut script = avoiding(100, &[]);
    let before = (state(&script).cwnd, state(&script).dwnd);
    script.round();
    let growth = (state(&script).cwnd - before.0, state(&script).dwnd - before.1);
    assert!((growth.0 - 1.0).abs() < 0.05, "{growth:?}");
    assert!((growth.1 - 2.95).abs() < 0.1, "{growth:?}");
}

#[test]
fn a_small_window_grows_as_renos_does() {
    // 1/8 of 16^(3/4) is one.
    let mut script = avoiding(15, &[]);
    for expected in 16..20 {
        script.round();
        assert_eq!((script.window(), state(&script).dwnd > 0.3), (expected, false));
    }
}

#[test]
fn a_queue_of_thirty_own_segments_takes_the_second_window_back() {
    let mut script = avoiding(100, &[]);
    for _ in 0..20 {
        script.round();
    }
    let full = state(&script).dwnd;
    assert!(full > 50.0, "{full}");
    // A quarter of the window waits, which is more than thirty segments.
    script.rtt = Duration::us(133_333);
    script.round();
    script.round();
    assert!(state(&script).dwnd < full - 30.0, "{} of {full}", state(&script).dwnd);
    for _ in 0..10 {
        script.round();
    }
    assert_eq!(state(&script).dwnd, 0.0, "the window of Reno alone fills the path");
}

#[test]
fn a_loss_halves_both_windows() {
    let mut script = avoiding(100, &[]);
    for _ in 0..10 {
        script.round();
    }
    let (cwnd, dwnd) = (state(&script).cwnd, state(&script).dwnd);
    script.lose();
    assert_eq!((state(&script).cwnd, state(&script).dwnd), (cwnd / 2.0, (cwnd + dwnd) / 2.0 - cwnd / 2.0));
    assert_eq!(script.window(), ((cwnd + dwnd) / 2.0) as u32);
}

#[test]
fn a_timeout_or_a_silence_forgets_the_second_window() {
    let mut script = avoiding(100, &[]);
    for _ in 0..10 {
        script.round();
    }
    let mut idle = script.clone();
    idle.cc.on_sent(&Sent { now: idle.now, silence: Duration::secs(1) });
    assert_eq!((state(&idle).dwnd, idle.window()), (0.0, state(&idle).cwnd as u32));
    let before = script.window();
    script.time_out(Response::Reduce);
    assert_eq!((state(&script).dwnd, script.window(), script.threshold()), (0.0, 1, before / 2));
}
