//! CP-AQM on links of changing rate: sizes given as times hold the delay where sizes in bytes let
//! it grow, and tokens earned by departures hold the queue where no one knows the rate of the
//! moment. (The paper holds the rate constant; these rules are ours.)

use super::lab::{Run, run, table};

#[test]
fn sizes_in_time_hold_the_delay_when_the_rate_changes() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "5 s"
        duration = "25 s"

        [link.bottleneck]
        rate = { steps = [["0 s", "20 Mbit/s"], ["10 s", "5 Mbit/s"], ["20 s", "20 Mbit/s"]] }
        delay = "10 ms"
        buffer = "90 kB"

        [[traffic]]
        kind = "bulk"
        flows = 8

        [sweep]
        "link.bottleneck.queue" = [
          { kind = "tail-drop" },
          { kind = "cp-aqm" },
          { kind = "cp-aqm", capacity = "36 ms", threshold = "6 ms" },
          { kind = "cp-aqm", capacity = "36 ms", threshold = "6 ms", tokens = "departures" },
        ]
    "#);
    // The three parts of the run, each without its first seconds.
    let parts = [5.0..10.0, 13.0..20.0, 23.0..30.0];
    let delay = |run: &Run, part: usize| {
        let rate = [20e6, 5e6, 20e6][part];
        1e3 * 8.0 * run.mean("queue_bytes", parts[part].clone()) / rate
    };
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("20 Mbit/s ms", &|run| delay(run, 0)),
            ("5 Mbit/s ms", &|run| delay(run, 1)),
            ("20 again ms", &|run| delay(run, 2)),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [_, bytes, time, departures] = runs.as_slice() else { panic!("four queues") };
    let growth = |run: &Run| delay(run, 1) / delay(run, 0);
    // A quarter of the rate: the delay of a queue held in bytes is about four times as long, that
    // of one held in time is not.
    assert!(growth(bytes) > 2.0, "{shown}");
    for run in [time, departures] {
        assert!(growth(run) < 2.0 && delay(run, 1) < 36.0, "{shown}");
        assert!(run.link("utilization") > 0.95, "{shown}");
    }
}

#[test]
fn departures_hold_the_queue_where_the_rate_is_not_known() {
    // A recording: 12 Mbit/s for 2 s, 3 Mbit/s for 2 s, and so on; the queue is told the mean.
    let runs = run(r#"
        goodqueue = 1
        warmup = "8 s"
        duration = "40 s"

        [link.bottleneck]
        rate = { trace = "tests/behaviour/cp_aqm.down" }
        delay = "10 ms"
        buffer = "150 kB"

        [[traffic]]
        kind = "bulk"
        flows = 8

        [sweep]
        "link.bottleneck.queue" = [
          { kind = "tail-drop" },
          { kind = "cp-aqm" },
          { kind = "cp-aqm", tokens = "departures" },
        ]
    "#);
    let mean = |run: &Run| 1e3 * run.link("sojourn_s.mean");
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean ms", &mean),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("queue kB", &|run| run.link("queue_bytes") / 1e3),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [_, time, departures] = runs.as_slice() else { panic!("three queues") };
    assert!(mean(departures) < 0.8 * mean(time), "{shown}");
    assert!(departures.link("utilization") > 0.95 * time.link("utilization"), "{shown}");
}
