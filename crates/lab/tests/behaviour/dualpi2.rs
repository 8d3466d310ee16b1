//! De Schepper, Briscoe and White: a coupled dual queue keeps scalable senders below a millisecond
//! or so of queueing, and lets them and classic ones share the link as equals.

use super::lab::{Run, run, table};

const L4S: usize = 0;
const CLASSIC: usize = 1;

fn scenario(sweep: &str) -> String {
    format!(
        r#"
        goodqueue = 1
        warmup = "10 s"
        duration = "30 s"

        [link.bottleneck]
        rate = "40 Mbit/s"
        delay = "9.8 ms"
        buffer = "250 ms"
        queue = "dualpi2"

        [[traffic]]
        kind = "bulk"
        name = "l4s"
        cc = "prague"
        flows = 2
        start = "uniform 0 s .. 2 s"

        [[traffic]]
        kind = "bulk"
        name = "classic"
        cc = "cubic"
        flows = 2
        start = "uniform 0 s .. 2 s"

        [sweep]
        {sweep}
        "#
    )
}

fn figures(runs: &[Run]) -> String {
    table(
        runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("l4s Mbit/s", &|run| run.goodput(L4S) / 1e6),
            ("classic", &|run| run.goodput(CLASSIC) / 1e6),
            ("l4s ms", &|run| 1e3 * run.group(L4S, "sojourn_s.mean")),
            ("l4s p95", &|run| 1e3 * run.group(L4S, "sojourn_s.p95")),
            ("classic ms", &|run| 1e3 * run.group(CLASSIC, "sojourn_s.mean")),
            ("l4s marked", &|run| run.group(L4S, "mark_ratio")),
            ("l4s lost", &|run| run.group(L4S, "loss_ratio")),
            ("classic lost", &|run| run.group(CLASSIC, "loss_ratio")),
        ],
    )
}

#[test]
fn classic_and_l4s_flows_share_equally_and_l4s_hardly_waits() {
    let runs = run(&scenario(
        r#""link.bottleneck.queue" = ["dualpi2", { kind = "dualpi2", scheduler = "time-shifted" }, { kind = "pie", ecn = true }]"#,
    ));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    let [coupled @ .., alone] = runs.as_slice() else { panic!("three queues") };
    for run in coupled {
        assert!(run.link("utilization") > 0.95, "{shown}");
        let share = run.goodput(L4S) / run.goodput(CLASSIC);
        assert!((0.5..2.0).contains(&share), "{share}\n{shown}");
        assert!(run.group(L4S, "sojourn_s.p95") < 2e-3, "{shown}");
        assert_eq!(run.group(L4S, "loss_ratio"), 0.0, "{shown}");
        let classic = run.group(CLASSIC, "sojourn_s.mean");
        assert!((0.005..0.025).contains(&classic), "{shown}");
    }
    // In one queue all packets wait alike, and senders that answer marks gently push those that
    // answer losses aside.
    assert!(alone.group(L4S, "sojourn_s.mean") > 5e-3 && alone.goodput(L4S) > 3.0 * alone.goodput(CLASSIC), "{shown}");
}

#[test]
fn marks_follow_the_root_of_the_losses_at_every_rate() {
    let runs = run(&scenario(r#""link.bottleneck.rate" = ["10 Mbit/s", "40 Mbit/s", "120 Mbit/s"]"#));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    for run in &runs {
        let [base, classic, coupled] = ["base_probability", "classic_probability", "coupled_probability"]
            .map(|name| run.samples(&format!("gauge:{name}"), 10.0..40.0));
        for ((base, classic), coupled) in base.iter().zip(&classic).zip(&coupled) {
            assert_eq!((*classic, *coupled), (base * base, (2.0 * base).min(1.0)));
        }
        // Packets of each kind are signaled with the probability of their kind; the L4S queue's
        // own ramp adds to the first.
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (marked, lost) = (run.group(L4S, "mark_ratio"), run.group(CLASSIC, "loss_ratio"));
        assert!(marked > 0.8 * mean(&coupled), "{} {marked} {}\n{shown}", run.label, mean(&coupled));
        assert!((lost / mean(&classic) - 1.0).abs() < 0.3, "{} {lost} {}\n{shown}", run.label, mean(&classic));
    }
}
