//! Feng et al.: with marking, BLUE finds the one probability at which the buffer neither overflows
//! nor runs empty, where tail drop loses one packet in twelve.

use super::lab::{run, table};

const MANY_FLOWS: &str = r#"
goodqueue = 1
warmup = "10 s"
duration = "20 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "100 packets"

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
flows = 48
# All handshakes pass before there is a queue: one that is lost would be repeated without asking for ECN.
start = "uniform 0 s .. 50 ms"
# Segments leave one by one, as in the simulator of its authors.
gso = false

[sweep]
"link.bottleneck.queue" = [
  { kind = "tail-drop" },
  { kind = "red", ecn = true, use_mark_p = false },
  { kind = "blue", ecn = true },
]
"#;

#[test]
fn many_marked_flows_lose_next_to_nothing() {
    let runs = run(MANY_FLOWS);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("p50 ms", &|run| 1e3 * run.link("sojourn_s.p50")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marks %", &|run| run.link("marked_packets") / run.link("arrived_packets") * 100.0),
        ],
    ));
    let [tail_drop, _, blue] = runs.as_slice() else { panic!("three queues") };
    assert!(blue.link("drop_ratio") < 0.1 * tail_drop.link("drop_ratio"));
    assert!(blue.link("utilization") > 0.95);
    let p = blue.samples("gauge:probability", 10.0..30.0);
    assert!(p.iter().all(|p| (0.005..1.0).contains(p)), "the probability saturates or vanishes");
}
