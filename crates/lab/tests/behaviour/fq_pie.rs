//! FQ-PIE: each flow's delay is its own affair, so a sparse flow waits for a packet or two where
//! PIE makes it wait for the target; and flows share equally whatever their round-trip times.

use super::lab::{Run, run, table};

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
"link.bottleneck.queue" = ["pie", "fq-pie"]
"#;

#[test]
fn a_sparse_flow_does_not_wait_for_the_others() {
    let runs = run(HOME_LINE);
    let shares = |run: &Run| run.group(1, "goodput_bit_s") / 1e6;
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("bulk Mbit/s", &shares),
            ("bulk ms", &|run| 1e3 * run.group(1, "sojourn_s.mean")),
            ("voice ms", &|run| 1e3 * run.group(0, "sojourn_s.mean")),
            ("voice p95", &|run| 1e3 * run.group(0, "sojourn_s.p95")),
            ("voice lost", &|run| run.group(0, "loss_ratio")),
            ("bulk lost", &|run| run.group(1, "loss_ratio")),
            ("bulk fair", &|run| run.group_fairness(1)),
        ],
    );
    insta::assert_snapshot!(shown);
    let [pie, fq_pie] = runs.as_slice() else { panic!("two queues") };
    assert!(fq_pie.group(0, "sojourn_s.mean") < 0.2 * pie.group(0, "sojourn_s.mean"), "{shown}");
    assert_eq!(fq_pie.group(0, "loss_ratio"), 0.0, "{shown}");
    assert!(fq_pie.group_fairness(1) > pie.group_fairness(1), "{shown}");
    assert!(fq_pie.link("utilization") > 0.98, "{shown}");
}
