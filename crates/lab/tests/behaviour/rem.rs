//! Athuraliya et al.: the queue settles at its target and the link stays full whatever the number
//! of users; more of them only raise the price, and with it the share of marks.

use super::lab::{run, table};

const USERS: &str = r#"
goodqueue = 1
warmup = "120 s"
duration = "60 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "200 packets"
queue = { kind = "rem", ecn = true, mean_pktsize = "1500 B" }

[[traffic]]
kind = "bulk"
cc = "reno"
ecn = true
# All handshakes pass before there is a queue: one that is lost would be repeated without asking for ECN.
start = "uniform 0 s .. 50 ms"
# Segments leave one by one, as in the simulator of its authors.
gso = false

[sweep]
"traffic.0.flows" = [8, 16, 32]
"#;

#[test]
fn the_queue_settles_at_its_target_whatever_the_number_of_users() {
    let runs = run(USERS);
    let price = |run: &super::lab::Run| run.mean("gauge:price", 120.0..180.0);
    insta::assert_snapshot!(table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean packets", &|run| run.link("queue_packets")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marks %", &|run| 100.0 * run.link("mark_ratio")),
            ("price", &price),
        ],
    ));
    for run in &runs {
        let packets = run.link("queue_packets");
        assert!((10.0..35.0).contains(&packets), "{packets} packets wait with {} users", run.label);
        assert!(run.link("utilization") > 0.97);
        assert_eq!(run.link("drop_ratio"), 0.0);
    }
    assert!(runs.is_sorted_by(|fewer, more| 1.5 * price(fewer) < price(more)));
}
