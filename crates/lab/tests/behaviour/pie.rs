//! Pan et al. 2013 §V: on 10 Mbit/s with a round trip of 100 ms the delay settles about the target
//! under light and heavy load, 5 to 50 flows. The same flows on a link four times as fast stand in
//! the table too, where five of them swing to three times the target: seen, not claimed.

use super::lab::{run, table};

const LOADS: &str = r#"
goodqueue = 1
warmup = "20 s"
duration = "40 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "50 ms"
buffer = "300 ms"
queue = "pie"

[[traffic]]
kind = "bulk"
cc = "reno"
start = "uniform 0 s .. 2 s"
# Segments leave one by one, as in the simulator of its authors.
gso = false

[sweep]
"link.bottleneck.rate" = ["10 Mbit/s", "40 Mbit/s"]
"traffic.0.flows" = [5, 30, 50]
"#;

#[test]
fn the_delay_settles_about_the_target_whatever_the_load() {
    let runs = run(LOADS);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("probability %", &|run| 100.0 * run.mean("gauge:probability", 20.0..60.0)),
        ],
    );
    insta::assert_snapshot!(shown);
    for (run, most) in runs.iter().zip([30.0, 22.5, 22.5]) {
        // Five flows halve a large part of the load at a time.
        assert!(
            (7.5..most).contains(&(1e3 * run.link("sojourn_s.mean"))),
            "at most half the target from it, of few flows the target: {shown}"
        );
        assert!(run.link("utilization") > 0.9, "{shown}");
    }
}
