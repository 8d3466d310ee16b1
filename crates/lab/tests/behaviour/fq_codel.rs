//! RFC 8290: sparse flows hardly wait, and flows share the link equally whatever their round-trip
//! times; over any algorithm, as the rounds see to both.

use super::lab::{run, table};

const HOME_LINE: &str = r#"
goodqueue = 1
warmup = "10 s"
duration = "20 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "300 ms"

[[traffic]]
name = "voice"
kind = "cbr"
rate = "64 kbit/s"
packet_size = "160 B"

[[traffic]]
name = "bulk"
kind = "bulk"
cc = "cubic"
flows = 4
rtt_extra = "uniform 0 ms .. 60 ms"
start = "uniform 0 s .. 2 s"

[sweep]
"link.bottleneck.queue" = ["codel", "fq-codel", { kind = "fair", of = { kind = "codel" } }, { kind = "fair", of = { kind = "red" } }, { kind = "fair", of = { kind = "tail-drop" } }]
"#;

#[test]
fn sparse_flows_hardly_wait_and_the_others_share() {
    let runs = run(HOME_LINE);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("bulk ms", &|run| 1e3 * run.group(1, "sojourn_s.mean")),
            ("voice ms", &|run| 1e3 * run.group(0, "sojourn_s.mean")),
            ("voice p95", &|run| 1e3 * run.group(0, "sojourn_s.p95")),
            ("voice lost", &|run| run.group(0, "loss_ratio")),
            ("bulk fair", &|run| run.group_fairness(1)),
        ],
    );
    insta::assert_snapshot!(shown);
    // A turn of each bulk flow is two packets of 1.2 ms here; a packet on the line is not part of
    // the wait.
    let one_round = 4.0 * 2.0 * 1.2e-3;
    for run in &runs[1..] {
        assert!(run.group(0, "sojourn_s.p95") < one_round && run.group(0, "loss_ratio") == 0.0, "{shown}");
        assert!(run.group_fairness(1) > 0.99 && run.group_fairness(1) > runs[0].group_fairness(1), "{shown}");
        assert!(run.link("utilization") > 0.98, "{shown}");
    }
}
