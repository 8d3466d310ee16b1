//! White and Pan (RFC 8034): an upstream buffer of a cable modem holds about the latency target
//! where tail drop holds all of itself, at next to no loss of throughput.

use super::lab::{run, table};

const CABLE_UPSTREAM: &str = r#"
goodqueue = 1
warmup = "10 s"
duration = "20 s"

[link.upstream]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "250 ms"

[[traffic]]
kind = "bulk"
cc = "reno"
flows = 6
start = "uniform 0 s .. 2 s"

[sweep]
"link.upstream.queue" = ["tail-drop", "pie", "docsis-pie", { kind = "docsis-pie", target = "30 ms" }]
"#;

#[test]
fn the_buffer_holds_the_latency_target() {
    let runs = run(CABLE_UPSTREAM);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("fairness", &|run| run.fairness()),
        ],
    );
    insta::assert_snapshot!(shown);
    let [tail_drop, _, default, relaxed] = runs.as_slice() else { panic!("four queues") };
    assert!(default.link("sojourn_s.mean") < 0.1 * tail_drop.link("sojourn_s.mean"), "{shown}");
    for (run, target) in [(default, 0.010), (relaxed, 0.030)] {
        let ratio = run.link("sojourn_s.mean") / target;
        assert!((0.7..1.3).contains(&ratio), "{ratio}\n{shown}");
    }
    assert!(default.link("utilization") > 0.97, "{shown}");
}
