//! Nichols and Jacobson: one target for every rate, without a parameter to set; the queue that
//! stands before tail drop does not build up, and the link stays in use.

use super::lab::{run, table};

const RATES: &str = r#"
goodqueue = 1
warmup = "10 s"
duration = "30 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "25 ms"
buffer = "300 ms"

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 4
start = "uniform 0 s .. 2 s"

[sweep]
"link.bottleneck.rate" = ["5 Mbit/s", "20 Mbit/s", "80 Mbit/s"]
"link.bottleneck.queue" = ["tail-drop", "codel"]
"#;

#[test]
fn no_queue_stands_at_any_rate() {
    let runs = run(RATES);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("Jain", &|run| run.fairness()),
        ],
    );
    insta::assert_snapshot!(shown);
    for (number, run) in runs.iter().enumerate() {
        let mean = run.link("sojourn_s.mean");
        // Tail drop and CoDel at one rate after the other.
        match number % 2 {
            0 => assert!(mean > 0.1, "tail drop: {shown}"),
            _ => assert!(mean < 0.02 && run.link("utilization") > 0.9, "CoDel: {shown}"),
        }
    }
}
