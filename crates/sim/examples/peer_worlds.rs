//! The worlds of `bench/peers` without a scenario's reading and a result's writing, for profilers.
//!
//! `cargo run --release --example peer_worlds -- s1|s2|s2c|s3|s3-codel|s4 [SECONDS]`

#[path = "../tests/support/mod.rs"]
mod support;

use goodqueue_aqm::Limit;
use goodqueue_sim::LinkSpec;
use goodqueue_units::{Duration, Rate};
use support::{bottleneck, bulk, dumbbell, loss, queue, run, utilization};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let case = words.first().map_or("s4", String::as_str);
    let (flows, cc, rate, delay_us, kind, packets, seconds) = match case {
        "s1" => (16, "cubic", 10, 5_000, "tail-drop", 30, 110),
        "s2" => (16, "reno", 10, 50_000, "tail-drop", 30, 110),
        "s2c" => (1, "cubic", 10, 50_000, "tail-drop", 30, 110),
        "s3" => (16, "cubic", 100, 50_000, "ared", 833, 110),
        "s3-codel" => (16, "cubic", 100, 50_000, "codel", 833, 110),
        "s4" => (36, "cubic", 1_000, 24_800, "tail-drop", 208, 20),
        other => panic!("{other} is no case: allowed s1, s2, s2c, s3, s3-codel, s4"),
    };
    let seconds: u64 = words.get(1).map_or(seconds, |word| word.parse().expect("whole seconds"));
    let measured = seconds.checked_sub(10).expect("the warm-up alone has 10 seconds");
    let link = bottleneck(Rate::mbit(rate), Duration::us(delay_us), queue(kind, Limit::packets(packets)));
    let sources = vec![bulk(cc); flows];
    let mut spec = dumbbell(link, sources, Duration::secs(5), Duration::secs(10), Duration::secs(measured));
    // Acknowledgements return over a wire, as those of a scenario do.
    spec.links[1] = LinkSpec::wire("return", Rate::mbit(rate), Duration::us(delay_us));
    let outcome = run(&spec);
    println!(
        "{case}: {} packets, {} events, utilization {:.2} %, mean queue {:.2}, loss {:.3} %, fingerprint {:016x}",
        outcome.links[0].departed_whole_run,
        outcome.events,
        100.0 * utilization(&outcome),
        outcome.links[0].queue_packets,
        100.0 * loss(&outcome),
        outcome.fingerprint,
    );
}
