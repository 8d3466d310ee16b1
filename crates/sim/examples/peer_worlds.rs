//! The worlds of `tools/bench/peers`, and three others, without a scenario's reading and a result's
//! writing, for profilers.
//!
//! `cargo run --release --example peer_worlds -- s1|s2|s2c|s3|s3-codel|s4|web|flows|poisson
//! [SECONDS]`
//!
//! `web` has 20 flows of 500 connections per second. `flows` is 10,000 CUBIC flows whose
//! acknowledgements return through a queue. `poisson` has no TCP: the cost of the engine alone.

#[path = "../tests/support/mod.rs"]
mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Rate};
use goodqueue_sim::{HttpVersion, LinkSpec, SessionSpec, SizeLaw, SourceSpec, WebSpec, WorldSpec};
use goodqueue_tcp::{ReceiverConfig, SenderConfig};
use support::{bottleneck, bulk, dumbbell, loss, queue, run, utilization};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let case = words.first().map_or("s4", String::as_str);
    let seconds: Option<u64> = words.get(1).map(|word| word.parse().expect("whole seconds"));
    let spec = match case {
        "web" => web(seconds.unwrap_or(25)),
        "flows" => flows(seconds.unwrap_or(12)),
        "poisson" => poisson(seconds.unwrap_or(60)),
        _ => peer(case, seconds),
    };
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

fn peer(case: &str, seconds: Option<u64>) -> WorldSpec {
    let (flows, cc, rate, delay_us, kind, packets, usual) = match case {
        "s1" => (16, "cubic", 10, 5_000, "tail-drop", 30, 110),
        "s2" => (16, "reno", 10, 50_000, "tail-drop", 30, 110),
        "s2c" => (1, "cubic", 10, 50_000, "tail-drop", 30, 110),
        "s3" => (16, "cubic", 100, 50_000, "ared", 833, 110),
        "s3-codel" => (16, "cubic", 100, 50_000, "codel", 833, 110),
        "s4" => (36, "cubic", 1_000, 24_800, "tail-drop", 208, 20),
        other => panic!("{other} is no case: allowed s1, s2, s2c, s3, s3-codel, s4, web, flows, poisson"),
    };
    let measured = seconds.unwrap_or(usual).checked_sub(10).expect("the warm-up alone has 10 seconds");
    let link = bottleneck(Rate::mbit(rate), Duration::us(delay_us), queue(kind, Limit::packets(packets)));
    let mut spec = dumbbell(link, vec![bulk(cc); flows], Duration::secs(5), Duration::secs(10), Duration::secs(measured));
    spec.links[1] = return_wire(Rate::mbit(rate), Duration::us(delay_us));
    spec
}

/// Acknowledgements return over a wire, as those of a scenario do.
fn return_wire(rate: Rate, delay: Duration) -> LinkSpec {
    LinkSpec::wire("return", rate, delay)
}

fn web(seconds: u64) -> WorldSpec {
    const FLOWS: usize = 20;
    let (rate, delay) = (Rate::gbit(2), Duration::ms(120));
    let model = SessionSpec::Web(WebSpec {
        connections_per_s: 500.0,
        version: HttpVersion::Http10,
        server_delay_scale: Duration::us(3_279),
    });
    let session = SourceSpec::Session {
        model,
        sender: SenderConfig::default(),
        receiver: ReceiverConfig::default(),
        header: Bytes::new(52),
    };
    let link = bottleneck(rate, delay, queue("tail-drop", Limit::packets(16_666)));
    let mut spec = dumbbell(link, vec![session; FLOWS], Duration::ZERO, Duration::ZERO, Duration::secs(seconds));
    spec.links[1] = return_wire(rate, delay);
    // Each flow is as far from its sender as no other: 0 to 600 ms there and back.
    for (place, flow) in spec.flows.iter().enumerate() {
        for link in [flow.forward[0], flow.reverse[2]] {
            spec.links[link as usize].delay += Duration::ms(15 * place as u64);
        }
    }
    spec
}

fn flows(seconds: u64) -> WorldSpec {
    const FLOWS: usize = 10_000;
    let rate = Rate::gbit(10);
    let link = bottleneck(rate, Duration::ms(25), queue("tail-drop", Limit::packets(41_666)));
    let measured = seconds.checked_sub(10).expect("the warm-up alone has 10 seconds");
    dumbbell(link, vec![bulk("cubic"); FLOWS], Duration::secs(5), Duration::secs(10), Duration::secs(measured))
}

fn poisson(seconds: u64) -> WorldSpec {
    const SOURCES: usize = 16;
    let rate = Rate::bit_s(1_100_000_000 / SOURCES as u64);
    let source = SourceSpec::Poisson { rate, packet_size: Bytes::new(1500), sizes: SizeLaw::Fixed, ecn: Ecn::NotEct };
    let link = bottleneck(Rate::gbit(1), Duration::ms(10), queue("tail-drop", Limit::packets(1000)));
    dumbbell(link, vec![source; SOURCES], Duration::ZERO, Duration::secs(1), Duration::secs(seconds))
}
