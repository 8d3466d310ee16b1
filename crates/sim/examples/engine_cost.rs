//! Runs many Poisson sources through one bottleneck, no TCP: the cost of the engine alone.
//!
//! `cargo run --release --example engine_cost -- SOURCES KIND SECONDS` prints packets through the
//! bottleneck; time it from outside.

#[path = "../tests/support/mod.rs"]
mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Rate};
use goodqueue_sim::{SizeLaw, SourceSpec};
use support::{bottleneck, dumbbell, queue, run};

fn main() {
    let mut words = std::env::args().skip(1);
    let sources: u64 = words.next().and_then(|w| w.parse().ok()).unwrap_or(16);
    let kind = words.next().unwrap_or_else(|| "tail-drop".into());
    let seconds: u64 = words.next().and_then(|w| w.parse().ok()).unwrap_or(60);
    let source = SourceSpec::Poisson {
        rate: Rate::bit_s(1_100_000_000 / sources),
        packet_size: Bytes::new(1500),
        sizes: SizeLaw::Fixed,
        ecn: Ecn::NotEct,
    };
    let link = bottleneck(Rate::gbit(1), Duration::ms(10), queue(&kind, Limit::packets(1000)));
    let spec = dumbbell(link, vec![source; sources as usize], Duration::ZERO, Duration::secs(1), Duration::secs(seconds));
    let outcome = run(&spec);
    println!("{} packets, {} events", outcome.links[0].departed_whole_run, outcome.events);
}
