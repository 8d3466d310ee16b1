use crate::cc::CongestionControl;
use crate::cc::tests::Script;
use crate::config::SlowStartExit;
use goodqueue_base::units::Duration;

fn script(kind: &'static str) -> Script {
    Script::new(kind, &[], SlowStartExit::HystartPlusPlus, 10)
}

#[test]
fn level_delay_doubles_the_window() {
    let mut script = script("reno");
    for expected in [20, 40, 80, 160] {
        script.round();
        assert_eq!(script.window(), expected);
    }
}

#[test]
fn rising_delay_quarters_growth_and_ends_it_after_five_rounds() {
    for kind in ["reno", "cubic", "cubic-rfc"] {
        let mut script = script(kind);
        script.round();
        script.rtt = Duration::ms(120);
        script.round();
        let start = script.window();
        script.round();
        assert!(script.window() <= start + start / 4 + 1, "{kind}: {start} to {}", script.window());
        for _ in 0..4 {
            assert!(script.cc.in_slow_start(), "{kind}");
            script.round();
        }
        let end = script.window();
        assert!(!script.cc.in_slow_start(), "{kind}");
        script.round();
        // CUBIC without a known maximum grows by five percent.
        assert!(script.window() <= end + end / 20 + 1, "{kind}: {end} to {}", script.window());
    }
}

#[test]
fn delay_that_falls_again_resumes_slow_start() {
    let mut script = script("reno");
    script.round();
    script.rtt = Duration::ms(120);
    script.round();
    script.round();
    script.rtt = Duration::ms(100);
    script.round();
    let start = script.window();
    script.round();
    assert_eq!(script.window(), 2 * start);
}

#[test]
fn stretched_acknowledgements_add_at_most_eight() {
    let mut script = script("reno");
    script.ack(20);
    assert_eq!(script.window(), 18);
}
