//! Runs TCP flows through one bottleneck and prints packets through it; time it from outside.
//!
//! `cargo run --release --example tcp_cost -- FLOWS CC MBIT ONE_WAY_MS BUFFER_PACKETS KIND SECONDS`

#[path = "../tests/support/mod.rs"]
mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Duration, Rate};
use support::{bottleneck, bulk, dumbbell, loss, queue, run, utilization};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(default);
    let wanted = words.get(1).map_or("cubic", String::as_str);
    let cc = goodqueue_tcp::kinds().iter().map(|spec| spec.kind).find(|kind| *kind == wanted).expect("a congestion control");
    let kind = words.get(5).map_or("tail-drop", String::as_str);
    let queue = queue(kind, Limit::packets(number(4, 30)));
    let link = bottleneck(Rate::mbit(number(2, 10)), Duration::us(number(3, 5) * 1000), queue);
    let flows = vec![bulk(cc); number(0, 16) as usize];
    let spec = dumbbell(link, flows, Duration::secs(5), Duration::secs(10), Duration::secs(number(6, 100)));
    let outcome = run(&spec);
    println!(
        "{} packets, {} events, utilization {:.2} %, mean queue {:.2}, loss {:.3} %, {} timeouts",
        outcome.links[0].departed_whole_run,
        outcome.events,
        100.0 * utilization(&outcome),
        outcome.links[0].queue_packets,
        100.0 * loss(&outcome),
        outcome.flows.iter().filter_map(|f| f.timeouts).sum::<u64>()
    );
}
