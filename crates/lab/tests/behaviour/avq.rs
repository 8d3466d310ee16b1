//! Kunniyur and Srikant: the link is used as much as `gamma` says, with a short queue and next to
//! no losses.

use super::lab::{run, table};

const WANTED: &str = r#"
goodqueue = 1
warmup = "20 s"
duration = "40 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "100 packets"

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
flows = 24
start = "uniform 0 s .. 3 s"

[sweep]
"link.bottleneck.queue" = [
  { kind = "tail-drop" },
  { kind = "avq", ecn = true, gamma = 0.98 },
  { kind = "avq", ecn = true, gamma = 0.95 },
  { kind = "avq", ecn = true, gamma = 0.90 },
  { kind = "avq", gamma = 0.90 },
]
"#;

#[test]
fn the_link_is_used_as_much_as_wanted_with_a_short_queue() {
    let runs = run(WANTED);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean packets", &|run| run.link("queue_packets")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marked", &|run| run.link("marked_packets")),
        ],
    ));
    for (run, gamma) in runs[1..].iter().zip([0.98, 0.95, 0.90, 0.90]) {
        let used = run.link("utilization");
        assert!((used - gamma).abs() < 0.01, "{used} used at {gamma}");
        assert!(run.link("queue_packets") < 0.5 * runs[0].link("queue_packets"));
    }
    assert!(runs[1..4].iter().all(|run| run.link("drop_ratio") == 0.0));
}
