//! sfqCoDel: rounds of packets give the flow with the larger ones more, rounds of bytes and
//! FQ-CoDel share equally; all keep CoDel's delay (Nichols 2013; the nfqCoDel study's flows of 1000
//! and 500 bytes).

use super::lab::{run, table};

const UNEQUAL_PACKETS: &str = r#"
goodqueue = 1
warmup = "5 s"
duration = "20 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "8 bdp"

[[traffic]]
name = "large"
kind = "bulk"
mss = "948 B"

[[traffic]]
name = "small"
kind = "bulk"
mss = "448 B"

[sweep]
"link.bottleneck.queue" = ["codel", "sfq-codel", { kind = "sfq-codel", round = "bytes" }, "fq-codel"]
"#;

#[test]
fn packet_rounds_are_fair_in_packets_and_byte_rounds_in_bytes() {
    let runs = run(UNEQUAL_PACKETS);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("large Mbit/s", &|run| run.goodput(0) / 1e6),
            ("small Mbit/s", &|run| run.goodput(1) / 1e6),
            ("fairness", &|run| run.fairness()),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [_, packets, bytes, fq_codel] = runs.as_slice() else { panic!("four queues") };
    let ratio = packets.goodput(0) / packets.goodput(1);
    assert!((1.7..2.3).contains(&ratio), "{ratio}\n{shown}");
    for equal in [bytes, fq_codel] {
        let ratio = equal.goodput(0) / equal.goodput(1);
        assert!((0.95..1.15).contains(&ratio), "{ratio}\n{shown}");
    }
    assert!(runs.iter().all(|run| run.link("sojourn_s.mean") < 0.01), "{shown}");
}
