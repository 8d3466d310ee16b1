//! Hollot et al.: the queue settles at its reference whatever the number of flows; the gains must
//! go with the link's rate.

use super::lab::{Run, run, table};

const LOADS: &str = r#"
goodqueue = 1
warmup = "40 s"
duration = "60 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "40 ms"
buffer = "200 packets"
queue = { kind = "pi", ecn = true, flows = 20, rtt = "120 ms" }

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
start = "uniform 0 s .. 3 s"

[sweep]
"traffic.0.flows" = [20, 40, 60]
"#;

#[test]
fn queue_settles_at_its_reference_for_any_number_of_flows() {
    let runs = run(LOADS);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean packets", &|run| run.link("queue_packets")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marks %", &|run| 100.0 * run.link("mark_ratio")),
        ],
    ));
    for run in &runs {
        let packets = run.link("queue_packets");
        assert!((45.0..55.0).contains(&packets), "{packets} packets wait with {} flows", run.label);
        assert!(run.link("utilization") > 0.99);
    }
}

/// The rate falls to a quarter at 60 s. Gains designed for the first rate are 64 times too small
/// for the second one.
const STEP: &str = r#"
goodqueue = 1
warmup = "20 s"
duration = "160 s"

[link.bottleneck]
rate = { steps = [["0 s", "20 Mbit/s"], ["60 s", "5 Mbit/s"]] }
delay = "40 ms"
buffer = "200 packets"

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
flows = 20
start = "uniform 0 s .. 3 s"

[sweep]
"link.bottleneck.queue" = [
  { kind = "pi", ecn = true, flows = 20, rtt = "200 ms" },
  { kind = "pi", ecn = true, a = 4.3587e-5, b = 4.3433e-5 },
]
"#;

#[test]
fn gains_from_flows_follow_the_rate_and_given_ones_do_not() {
    let runs = run(STEP);
    let before = |run: &Run| run.mean("queue_packets", 40.0..60.0);
    let after = |run: &Run| run.mean("queue_packets", 60.0..80.0);
    let gain = |run: &Run| 1e6 * run.mean("gauge:a", 60.0..80.0);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("40 to 60 s", &before),
            ("60 to 80 s", &after),
            ("160 to 180 s", &|run| run.mean("queue_packets", 160.0..180.0)),
            ("80 to 100 s", &|run| run.mean("queue_packets", 80.0..100.0)),
            ("a e-6", &gain),
            ("marks %", &|run| 100.0 * run.link("mark_ratio")),
        ],
    ));
    let [designed, given] = runs.as_slice() else { panic!("two queues") };
    assert!(gain(designed) > 50.0 * gain(given));
    assert!((after(designed) - 50.0).abs() < 10.0, "{} packets", after(designed));
    assert!(after(given) > 1.3 * after(designed), "{} packets", after(given));
}
