//! Floyd, Gummadi and Shenker: with a fixed slope the average queue depends on the load; adapted it
//! stays between the thresholds whatever the load. Then the older adaptation on crossings, and hard
//! drops above the upper threshold.

use super::lab::{Run, run, table};

const LOADS: &str = r#"
goodqueue = 1
warmup = "40 s"
duration = "40 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "200 packets"

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
start = "uniform 0 s .. 3 s"

[sweep]
"link.bottleneck.queue" = [
  { kind = "red", ecn = true, use_mark_p = false, min_th = "10 packets", max_th = "60 packets" },
  { kind = "ared", ecn = true, use_mark_p = false, min_th = "10 packets", max_th = "60 packets" },
]
"traffic.0.flows" = [8, 24, 48]
"#;

fn average(run: &Run) -> f64 {
    run.mean("gauge:average", 40.0..80.0)
}

#[test]
fn adapted_the_average_stays_in_its_band_whatever_the_load() {
    let runs = run(LOADS);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("average", &average),
            ("used", &|run| run.link("utilization")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marks %", &|run| 100.0 * run.link("mark_ratio")),
            ("max_p", &|run| run.mean("gauge:max_p", 40.0..80.0)),
        ],
    ));
    let (fixed, adapted) = runs.split_at(3);
    let spread = |runs: &[Run]| {
        let averages = || runs.iter().map(average);
        averages().fold(0.0, f64::max) - averages().fold(f64::INFINITY, f64::min)
    };
    assert!(spread(adapted) < 0.5 * spread(fixed), "{} against {}", spread(adapted), spread(fixed));
    for run in adapted {
        assert!((25.0..45.0).contains(&average(run)), "{} at {}", average(run), run.label);
    }
}

const OVERLOAD: &str = r#"
goodqueue = 1
warmup = "5 s"
duration = "15 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "200 packets"

[[traffic]]
kind = "poisson"
rate = "15 Mbit/s"
ecn = true

[sweep]
"link.bottleneck.queue" = [
  { kind = "red", ecn = true, use_mark_p = false },
  { kind = "red", ecn = true, use_mark_p = false, harddrop = true },
  { kind = "red", ecn = true },
]
"#;

/// RFC 3168 §7: a queue that only marks fills up under traffic that does not listen; dropping above
/// `max_th` holds it there.
#[test]
fn hard_drops_hold_traffic_that_ignores_marks() {
    let runs = run(OVERLOAD);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("mean packets", &|run| run.link("queue_packets")),
            ("overflow", &|run| run.link("drops.overflow")),
            ("early", &|run| run.link("drops.early")),
            ("marks", &|run| run.link("marked_packets")),
        ],
    ));
    let [soft, hard, mark_p] = runs.as_slice() else { panic!("three queues") };
    assert!(soft.link("drops.overflow") > 0.0 && soft.link("drops.early") == 0.0);
    for run in [hard, mark_p] {
        assert_eq!(run.link("drops.overflow"), 0.0);
        assert!(run.link("queue_packets") < 0.25 * soft.link("queue_packets"));
    }
}
