//! Lautenschlaeger and Francini: hitting flows one at a time takes the common sawtooth out of many
//! flows, so that a small part of the buffer does; with many flows the interval must adapt.

use super::lab::{Run, run, table};

fn scenario(flows: u32) -> String {
    format!(
        r#"
        goodqueue = 1
        warmup = "10 s"
        duration = "20 s"

        [link.bottleneck]
        rate = "100 Mbit/s"
        delay = "24.8 ms"
        buffer = "50 ms"

        [[traffic]]
        kind = "bulk"
        cc = "reno"
        flows = {flows}
        start = "uniform 0 s .. 2 s"

        [sweep]
        "link.bottleneck.queue" = [
          {{ kind = "tail-drop" }},
          {{ kind = "tail-drop", limit = "2.5 ms" }},
          {{ kind = "gsp", adaptive = false }},
          {{ kind = "gsp" }},
        ]
        "#
    )
}

fn figures(runs: &[Run]) -> String {
    table(
        runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("Mbit/s", &|run| run.goodput(0) / 1e6),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("early", &|run| run.link("drops.early")),
            ("overflow", &|run| run.link("drops.overflow")),
            ("fairness", &Run::fairness),
        ],
    )
}

#[test]
fn few_flows_are_content_with_the_preset_interval() {
    let runs = run(&scenario(8));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    let [large, small, basic, adaptive] = runs.as_slice() else { panic!("four queues") };
    for gsp in [basic, adaptive] {
        assert_eq!(gsp.link("drops.overflow"), 0.0, "{shown}");
        assert!(gsp.link("sojourn_s.mean") < 0.2 * large.link("sojourn_s.mean"), "{shown}");
        assert!(gsp.link("utilization") > small.link("utilization"), "{shown}");
    }
    // Most of the time below the threshold: the interval stays nearly what it was.
    assert!(adaptive.mean("gauge:interval_s", 10.0..30.0) > 0.08, "{shown}");
}

#[test]
fn adaptive_interval_needs_a_tenth_of_the_delay_for_many_flows() {
    let runs = run(&scenario(36));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    let [large, small, basic, adaptive] = runs.as_slice() else { panic!("four queues") };
    // One signal in 100 ms is too few for 36 flows: basic GSP leaves the rest to the limit.
    assert!(basic.link("drops.overflow") > 0.0, "{shown}");
    assert_eq!(adaptive.link("drops.overflow"), 0.0, "{shown}");
    assert!(adaptive.link("sojourn_s.mean") < 0.1 * large.link("sojourn_s.mean"), "{shown}");
    assert!(adaptive.link("utilization") > small.link("utilization"), "{shown}");
    assert!(adaptive.mean("gauge:interval_s", 10.0..30.0) < 0.05, "{shown}");
}
