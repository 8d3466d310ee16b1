//! Hoeiland-Joergensen, Taht and Morton: hosts share as equals whatever the number of their flows,
//! and thinning acknowledgements out lets downloads pass a slow way back.

use super::lab::{Run, run, table};

/// One host with eight flows and one with a single flow.
#[test]
fn hosts_share_as_equals_whatever_the_number_of_their_flows() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "10 s"
        duration = "30 s"

        [link.bottleneck]
        rate = "40 Mbit/s"
        delay = "9.8 ms"
        buffer = "250 ms"

        [[traffic]]
        kind = "bulk"
        name = "many"
        host = 1
        flows = 8
        start = "uniform 0 s .. 2 s"

        [[traffic]]
        kind = "bulk"
        name = "one"
        host = 2

        [sweep]
        "link.bottleneck.queue" = ["fq-codel", { kind = "cake", isolation = "flows" }, { kind = "cake", isolation = "dual-dsthost" }, "cake"]
    "#);
    let mbit = |run: &Run, group| run.goodput(group) / 1e6;
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("many Mbit/s", &|run| mbit(run, 0)),
            ("one Mbit/s", &|run| mbit(run, 1)),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [fq_codel, flows, dual, triple] = runs.as_slice() else { panic!("four queues") };
    for run in [fq_codel, flows] {
        assert!((mbit(run, 0) / mbit(run, 1) / 8.0 - 1.0).abs() < 0.05, "each flow the same\n{shown}");
    }
    for run in [dual, triple] {
        // One CUBIC flow under COBALT leaves a little of its half, which the others take.
        let ratio = mbit(run, 0) / mbit(run, 1);
        assert!((1.0..1.1).contains(&ratio), "each host the same, not {ratio}\n{shown}");
        assert!(run.group_fairness(0) > 0.99 && run.link("utilization") > 0.97, "{shown}");
    }
}

/// A line a hundred times as fast one way as the other.
#[test]
fn thinned_acks_let_downloads_pass_a_slow_return_path() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "10 s"
        duration = "30 s"

        [link.bottleneck]
        rate = "100 Mbit/s"
        rate_up = "1 Mbit/s"
        delay = "9.8 ms"
        buffer = "100 ms"
        buffer_up = "500 ms"
        queue = "fq-codel"

        [[traffic]]
        kind = "bulk"
        name = "down"
        flows = 2
        start = "uniform 0 s .. 2 s"

        [sweep]
        "link.bottleneck.queue_up" = ["cake", { kind = "cake", ack_filter = "on" }, { kind = "cake", ack_filter = "aggressive" }]
    "#);
    let mbit = |run: &Run| run.goodput(0) / 1e6;
    let shown = table(&runs, &[("down Mbit/s", &mbit), ("rtt ms", &|run| 1e3 * run.group(0, "rtt_s.mean"))]);
    insta::assert_snapshot!(shown);
    let [off, on, aggressive] = runs.as_slice() else { panic!("three filters") };
    for thinned in [on, aggressive] {
        assert!(mbit(thinned) > mbit(off), "{shown}");
        // Acknowledgements no longer wait for each other: little more than the path's 20 ms is
        // left.
        assert!(thinned.group(0, "rtt_s.mean") < 0.4 * off.group(0, "rtt_s.mean"), "{shown}");
    }
}
