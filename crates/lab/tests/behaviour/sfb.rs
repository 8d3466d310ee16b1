//! Feng, Kandlur, Saha and Shin: a flow that does not respond is found among many that do and held
//! back; those that do share the rest of the link.

use super::lab::{Run, run, table};

const FLOOD: &str = r#"
goodqueue = 1
warmup = "20 s"
duration = "30 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "400 packets"

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
flows = 16
start = "uniform 0 s .. 2 s"

[[traffic]]
kind = "cbr"
rate = "5 Mbit/s"
start = "5 s"

[sweep]
"link.bottleneck.queue" = [{ kind = "red", ecn = true }, { kind = "blue", ecn = true }, { kind = "sfb", ecn = true, d1 = 0.001, d2 = 0.0001666 }]
"traffic.1.rate" = ["5 Mbit/s", "20 Mbit/s"]
"#;

/// The flood's part of what arrives.
fn share(run: &Run) -> f64 {
    run.goodput(1) / (run.goodput(0) + run.goodput(1))
}

#[test]
fn a_flood_is_found_and_held_back() {
    let runs = run(FLOOD);
    let shown = table(
        &runs,
        &[
            ("flood %", &|run| 100.0 * share(run)),
            ("TCP Mbit/s", &|run| run.goodput(0) / 1e6),
            ("used %", &|run| 100.0 * run.link("utilization")),
            ("p50 ms", &|run| 1e3 * run.link("sojourn_s.p50")),
            ("marks %", &|run| 100.0 * run.link("marked_packets") / run.link("arrived_packets")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [red, blue, sfb] = runs.as_chunks::<2>().0 else { panic!("three queues at two rates") };
    for (number, run) in sfb.iter().enumerate() {
        assert!(run.link("utilization") > 0.99, "{shown}");
        for other in [red, blue] {
            assert!(share(run) < 0.5 * share(&other[number]) && run.goodput(0) > 1.2 * other[number].goodput(0), "{shown}");
        }
        // The waiting packets of the flood fit its bins, and the fuller the bins, the more surely
        // it is found.
        assert!(run.mean("gauge:fullest_bin_packets", 20.0..50.0) < 25.0, "{shown}");
        assert!(run.mean("gauge:greatest_probability", 20.0..50.0) > 0.6, "{shown}");
    }
    assert!(share(&sfb[1]) < share(&sfb[0]), "{shown}");
}
