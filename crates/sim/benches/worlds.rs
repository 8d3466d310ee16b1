//! Whole worlds: bottleneck packets per second for the cases of `tools/bench/peers`, and growth
//! with the number of flows.
//!
//! `cargo bench -p goodqueue-sim`. The counter is packets that left the bottleneck, warm-up
//! included.

#[path = "../tests/support/mod.rs"]
mod support;

use divan::counter::ItemsCount;
use goodqueue_aqm::Limit;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_sim::WorldSpec;
use support::{bottleneck, bulk, dumbbell, queue, run};

fn main() {
    divan::main();
}

/// Flows, control, rate, one-way delay, queue, limit in packets, measured seconds.
fn spec(flows: usize, cc: &'static str, rate: Rate, one_way: Duration, kind: &str, limit: u64, seconds: u64) -> WorldSpec {
    let link = bottleneck(rate, one_way, queue(kind, Limit::packets(limit)));
    dumbbell(link, vec![bulk(cc); flows], Duration::secs(5), Duration::secs(10), Duration::secs(seconds))
}

fn measure(bencher: divan::Bencher, spec: &WorldSpec) {
    let packets = run(spec).links[0].departed_whole_run;
    bencher.counter(ItemsCount::new(packets)).bench_local(|| run(spec).fingerprint);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn s1_16_cubic_10_mbit(bencher: divan::Bencher) {
    measure(bencher, &spec(16, "cubic", Rate::mbit(10), Duration::ms(5), "tail-drop", 30, 100));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn s2_16_reno_10_mbit(bencher: divan::Bencher) {
    measure(bencher, &spec(16, "reno", Rate::mbit(10), Duration::ms(50), "tail-drop", 30, 100));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn s2c_1_cubic_10_mbit(bencher: divan::Bencher) {
    measure(bencher, &spec(1, "cubic", Rate::mbit(10), Duration::ms(50), "tail-drop", 30, 100));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn s3_16_cubic_100_mbit_codel(bencher: divan::Bencher) {
    measure(bencher, &spec(16, "cubic", Rate::mbit(100), Duration::ms(50), "codel", 6667, 100));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn s4_36_cubic_1_gbit(bencher: divan::Bencher) {
    measure(bencher, &spec(36, "cubic", Rate::gbit(1), Duration::ms(25), "tail-drop", 208, 20));
}

/// Cost a packet as flows grow, each with its own megabit of a link with a BDP of buffer.
#[divan::bench(args = [16, 100, 1_000, 10_000], sample_count = 2, sample_size = 1)]
fn growth_with_flows(bencher: divan::Bencher, flows: usize) {
    let mbit = flows as u64;
    let bdp = mbit * 1_000_000 / 12_000 / 20;
    let seconds = 2_000 / mbit.min(1_000);
    measure(bencher, &spec(flows, "cubic", Rate::mbit(mbit), Duration::ms(25), "tail-drop", bdp, seconds));
}
