//! Cobham: mean waits under strict priority without interruption, and what a starved class suffers.

use super::lab::{run, table};

/// Poisson packets of exponential size: with offered loads of `rho` above and up to a class, and a
/// mean residual service `w0`, a packet of that class waits
/// `w0 / ((1 - rho above) * (1 - rho up to it))` on average.
#[test]
fn mean_waits_are_those_of_cobham() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "10 s"
        duration = "2500 s"

        [access]
        rate = "1 Gbit/s"
        delay = "0 s"

        [link.bottleneck]
        rate = "10 Mbit/s"
        delay = "1 ms"
        mtu = "65535 B"
        buffer = "10 MB"
        queue = "priority"

        [[traffic]]
        kind = "poisson"
        class = 2
        rate = "2 Mbit/s"
        packet_size = "1000 B"
        sizes = "exponential"

        [[traffic]]
        kind = "poisson"
        class = 1
        rate = "3 Mbit/s"
        packet_size = "1000 B"
        sizes = "exponential"

        [[traffic]]
        kind = "poisson"
        rate = "3 Mbit/s"
        packet_size = "1000 B"
        sizes = "exponential"
    "#);
    let [run] = runs.as_slice() else { panic!("one point") };
    let wait = |group| 1e3 * run.group(group, "sojourn_s.mean");
    let shown = table(
        &runs,
        &[
            ("class 2 ms", &|_| wait(0)),
            ("class 1 ms", &|_| wait(1)),
            ("class 0 ms", &|_| wait(2)),
            ("used", &|run| run.link("utilization")),
        ],
    );
    insta::assert_snapshot!(shown);
    let w0 = 0.8 * 0.8;
    for (group, above, up_to) in [(0, 0.0, 0.2), (1, 0.2, 0.5), (2, 0.5, 0.8)] {
        let expected = w0 / ((1.0 - above) * (1.0 - up_to));
        assert!((wait(group) / expected - 1.0).abs() < 0.04, "{} ms instead of {expected} ms\n{shown}", wait(group));
    }
}

/// A voice-like flow alongside bulk transfers: in its own band it waits for no more than the packet
/// in transmission.
#[test]
fn an_urgent_flow_waits_for_one_packet_at_most() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "5 s"
        duration = "20 s"

        [link.bottleneck]
        rate = "10 Mbit/s"
        delay = "10 ms"
        buffer = "100 packets"

        [[traffic]]
        kind = "cbr"
        name = "voice"
        class = 5
        rate = "64 kbit/s"
        packet_size = "200 B"

        [[traffic]]
        kind = "bulk"
        flows = 4

        [sweep]
        "link.bottleneck.queue" = [
          { kind = "tail-drop" },
          { kind = "codel" },
          { kind = "priority", bands = 2 },
          { kind = "priority", bands = 2, of = { kind = "codel" } },
        ]
    "#);
    let shown = table(
        &runs,
        &[
            ("voice ms", &|run| 1e3 * run.group(0, "sojourn_s.mean")),
            ("voice p95", &|run| 1e3 * run.group(0, "sojourn_s.p95")),
            ("bulk ms", &|run| 1e3 * run.group(1, "sojourn_s.mean")),
            ("voice lost", &|run| run.group(0, "loss_ratio")),
            ("used", &|run| run.link("utilization")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [tail_drop, codel, strict, strict_codel] = runs.as_slice() else { panic!("four queues") };
    for run in [strict, strict_codel] {
        // 1500 bytes at 10 Mbit/s take 1.2 ms.
        assert!(run.group(0, "sojourn_s.p95") < 1.21e-3, "{shown}");
        assert_eq!(run.group(0, "loss_ratio"), 0.0, "{shown}");
    }
    let bulk = |run: &super::lab::Run| run.group(1, "sojourn_s.mean");
    assert!(
        (bulk(strict) / bulk(tail_drop) - 1.0).abs() < 0.1 && (bulk(strict_codel) / bulk(codel) - 1.0).abs() < 0.15,
        "{shown}"
    );
}
