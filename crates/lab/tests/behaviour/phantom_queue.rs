//! Alizadeh et al.: marks from a queue that is not there leave some of the link unused and the real
//! queue all but empty. How much stays unused depends on the senders: Reno halves at a mark and
//! leaves more than `gamma` asks for.

use super::lab::{run, table};

const HEADROOM: &str = r#"
goodqueue = 1
warmup = "10 s"
duration = "20 s"

[link.bottleneck]
rate = "100 Mbit/s"
delay = "10 ms"
buffer = "300 packets"

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
flows = 24
start = "uniform 0 s .. 2 s"

[sweep]
"link.bottleneck.queue" = [
  { kind = "tail-drop" },
  { kind = "phantom-queue", ecn = true, gamma = 0.95 },
  { kind = "phantom-queue", ecn = true, gamma = 0.90 },
  { kind = "phantom-queue", gamma = 0.90 },
]
"#;

#[test]
fn unused_rate_empties_the_queue() {
    let runs = run(HEADROOM);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean packets", &|run| run.link("queue_packets")),
            ("p95 us", &|run| 1e6 * run.link("sojourn_s.p95")),
            ("p99 us", &|run| 1e6 * run.link("sojourn_s.p99")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marks", &|run| run.link("marked_packets")),
        ],
    ));
    let [tail_drop, five, ten, unmarked] = runs.as_slice() else { panic!("four queues") };
    for (run, gamma) in [(five, 0.95), (ten, 0.90)] {
        assert!(run.link("utilization") < gamma + 0.005);
        assert!(run.link("queue_packets") < 0.05 * tail_drop.link("queue_packets"));
        assert_eq!(run.link("drop_ratio"), 0.0);
    }
    assert_eq!(unmarked.link("queue_packets"), tail_drop.link("queue_packets"), "it acts without marking");
}
