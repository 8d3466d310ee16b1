//! A shaper in front of a faster link makes of it the link that it names: throughput to the packet,
//! and the delay its queue asks for.

use super::lab::{Run, run, table};

fn scenario(rate: &str, queue: &str) -> String {
    format!(
        r#"
        goodqueue = 1
        warmup = "5 s"
        duration = "20 s"

        [link.bottleneck]
        rate = "{rate}"
        delay = "10 ms"
        buffer = "200 packets"
        queue = {queue}

        [[traffic]]
        kind = "bulk"
        flows = 4
        start = "uniform 0 s .. 1 s"
        "#
    )
}

#[test]
fn codel_behind_a_shaper_works_as_on_a_link_of_its_rate() {
    let mut runs = run(&scenario("9 Mbit/s", "{ kind = \"codel\" }"));
    runs.extend(run(&scenario("100 Mbit/s", "{ kind = \"shaper\", rate = \"9 Mbit/s\", of = \"codel\" }")));
    runs.extend(run(&scenario("100 Mbit/s", "{ kind = \"shaper\", rate = \"9 Mbit/s\", burst = \"30 kB\", of = \"codel\" }")));
    for (run, label) in runs.iter_mut().zip(["9 Mbit/s", "shaped", "shaped, 20 packets at once"]) {
        label.clone_into(&mut run.label);
    }
    let shown = table(
        &runs,
        &[
            ("Mbit/s", &|run| run.link("throughput_bit_s") / 1e6),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("dropped", &|run| run.link("drop_ratio")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [link, shaped, bursty] = runs.as_slice() else { panic!("three runs") };
    let sojourn = |run: &Run| run.link("sojourn_s.mean");
    for run in [shaped, bursty] {
        assert!((run.link("throughput_bit_s") / 9e6 - 1.0).abs() < 1e-3, "{shown}");
    }
    assert!((link.link("throughput_bit_s") / 9e6 - 1.0).abs() < 1e-3, "{shown}");
    assert!((sojourn(shaped) / sojourn(link) - 1.0).abs() < 0.2, "{shown}");
}
