//! Pan, Prabhakar and Psounis: alongside 32 TCP connections, a flood that RED lets take nearly
//! everything gets about a quarter; Tang, Wang and Low: at most 1 / (e + 1), and the less the more
//! it sends.

use super::lab::{Run, run, table};

/// The authors' line, thresholds and buffer: 1 Mbit/s, 100, 200 and 300 packets.
const FLOOD: &str = r#"
goodqueue = 1
warmup = "50 s"
duration = "100 s"

[link.bottleneck]
rate = "1 Mbit/s"
delay = "1 ms"
mtu = "1000 B"
buffer = "300 packets"

[access]
rate = "10 Mbit/s"
delay = "1 ms"

[[traffic]]
kind = "bulk"
cc = "reno"
flows = 32
start = "uniform 0 s .. 5 s"
# Segments leave one by one, as in the simulator of its authors.
gso = false

[[traffic]]
kind = "cbr"
rate = "2 Mbit/s"
start = "10 s"

[sweep]
"link.bottleneck.queue" = [
  { kind = "tail-drop" },
  { kind = "red", min_th = "100 packets", max_th = "200 packets", max_p = 0.02, w_q = 0.002, gentle = false, wait = false },
  { kind = "choke", min_th = "100 packets", max_th = "200 packets", max_p = 0.02, w_q = 0.002 },
]
"traffic.1.rate" = ["1.1 Mbit/s", "2 Mbit/s", "8 Mbit/s"]
"#;

/// The flood's part of what arrives.
fn share(run: &Run) -> f64 {
    run.goodput(1) / (run.goodput(0) + run.goodput(1))
}

#[test]
fn a_flood_gets_a_quarter_at_most() {
    let runs = run(FLOOD);
    let shown = table(
        &runs,
        &[
            ("flood %", &|run| 100.0 * share(run)),
            ("TCP kbit/s", &|run| run.goodput(0) / 1e3),
            ("used %", &|run| 100.0 * run.link("utilization")),
            ("p50 ms", &|run| 1e3 * run.link("sojourn_s.p50")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [_, red, choke] = runs.as_chunks::<3>().0 else { panic!("three queues at three rates") };
    assert!(red.iter().all(|run| share(run) > 0.75), "{shown}");
    assert!(choke.iter().all(|run| share(run) < 0.269 + 0.02 && run.link("utilization") > 0.99), "{shown}");
    assert!(share(&choke[2]) < 0.5 * share(&choke[1]) && share(&choke[1]) < share(&choke[0]), "{shown}");
}
