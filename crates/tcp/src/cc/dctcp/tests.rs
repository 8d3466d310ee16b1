use super::{Dctcp, ONE};
use crate::cc::tests::Script;
use crate::cc::{AckSample, AnyCc, CongestionControl, Growth, Marks};
use crate::config::SlowStartExit;
use goodqueue_base::spec::Value;

fn state(script: &Script) -> &Dctcp {
    let AnyCc::Dctcp(dctcp) = &script.cc else { panic!("built as dctcp") };
    dctcp
}

/// Acknowledges one window at once, `marked` segments of it marked, without growth.
fn window(script: &mut Script, marked: u32) {
    let delivered = script.window();
    script.una += u64::from(delivered);
    let mut sample = script.sample(delivered, Growth::Held);
    sample.marked = marked;
    if marked > 0 {
        script.cc.on_marks(&Marks { delivered, marked, una: sample.una, nxt: sample.nxt });
    }
    script.cc.on_ack(&sample);
}

fn dctcp(alpha: f64) -> Script {
    Script::new("dctcp", &[("alpha_initial", Value::Number(alpha))], SlowStartExit::Native, 100)
}

#[test]
fn a_window_without_marks_takes_a_sixteenth_away() {
    let mut script = dctcp(1.0);
    window(&mut script, 0);
    assert_eq!(f64::from(state(&script).alpha) / f64::from(ONE), 0.9375);
}

#[test]
fn the_share_of_marks_is_approached() {
    for (marked, start) in [(25, 1.0), (25, 0.0), (100, 0.0), (0, 1.0)] {
        let mut script = dctcp(start);
        for _ in 0..200 {
            window(&mut script, marked);
        }
        let expected = f64::from(marked) / 100.0;
        let alpha = f64::from(state(&script).alpha) / f64::from(ONE);
        // Steps of 1/1024 and a weight of 1/16 leave up to 16 steps.
        assert!((alpha - expected).abs() <= 16.0 / 1024.0, "{alpha} for {marked} %");
        assert!(marked > 0 || alpha == 0.0, "without marks it decays to zero");
    }
}

#[test]
fn what_is_less_than_a_step_is_forgotten_at_once() {
    let mut script = dctcp(15.0 / 1024.0);
    // One mark in a hundred is less than a step, too.
    window(&mut script, 1);
    assert_eq!(state(&script).alpha, 0);
}

#[test]
fn marks_are_known_when_they_are_answered() {
    let mut script = dctcp(0.0);
    let (una, nxt) = (100, 200);
    script.cc.on_marks(&Marks { delivered: 100, marked: 100, una, nxt });
    assert_eq!(state(&script).alpha, ONE / 16);
    script.cc.on_ecn(&script.congestion());
    assert_eq!(script.window(), 100 - 100 / 32);
    // The marks are not counted twice.
    let sample = AckSample { una, nxt, marked: 100, ..script.sample(100, Growth::Held) };
    script.cc.on_ack(&sample);
    assert_eq!(state(&script).alpha, ONE / 16);
}

#[test]
fn a_loss_while_marks_are_answered_halves_what_is_left() {
    let mut script = dctcp(0.25);
    script.cc.on_ecn(&script.congestion());
    assert_eq!(script.cc.on_loss_after_ecn(94), Some(47));
    assert_eq!((script.window(), script.threshold()), (47, 47));
}

#[test]
fn marks_reduce_by_half_the_share_and_losses_by_half() {
    let mut script = dctcp(0.25);
    let mut lossy = script.clone();
    script.cc.on_ecn(&script.congestion());
    assert_eq!((script.window(), script.threshold()), (88, 88));
    lossy.lose();
    assert_eq!((lossy.window(), lossy.threshold()), (50, 50));
}
