//! Figures at the edges of their definitions.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_sim::{FlowSpec, Opportunities, RateSpec, SourceSpec, World, WorldSpec};
use goodqueue_tcp::{Data, SenderConfig};
use std::sync::Arc;
use support::{bottleneck, dumbbell, queue, run};

/// Packets of 1000 bytes, faster than a link on which one opportunity per second carries 1500
/// bytes.
fn recorded(duration: Duration) -> WorldSpec {
    let source = SourceSpec::Cbr { rate: Rate::mbit(1), packet_size: Bytes::new(1000), ecn: Ecn::NotEct };
    let mut link = bottleneck(Rate::mbit(1), Duration::ms(10), queue("tail-drop", Limit::packets(10)));
    let opportunities = vec![(Duration::secs(1), Bytes::new(1500))];
    link.rate = RateSpec::Recorded(Arc::new(Opportunities::new(opportunities, Duration::secs(1)).expect("a good recording")));
    dumbbell(link, vec![source], Duration::ZERO, Duration::ZERO, duration)
}

#[test]
fn a_recorded_link_counts_a_packet_when_its_last_byte_has_left() {
    for (duration, bits) in [(Duration::ms(1500), 8_000.0), (Duration::ms(2500), 24_000.0), (Duration::ms(3500), 32_000.0)] {
        let outcome = run(&recorded(duration));
        let link = &outcome.links[0];
        assert_eq!(link.sent_bits, bits, "after {duration}");
        assert!(link.sent_bits <= link.capacity_bits, "after {duration}: {} of {}", link.sent_bits, link.capacity_bits);
    }
}

#[test]
fn transfer_after_a_rate_step_is_compared_with_its_own_rate() {
    let sender = SenderConfig { data: Data::Bytes(Bytes::new(1_000_000)), ..SenderConfig::default() };
    let SourceSpec::Tcp { receiver, header, .. } = SourceSpec::bulk("cubic") else { panic!("bulk is TCP") };
    let source = SourceSpec::Tcp { sender, receiver, header };
    let at = |seconds| Instant::ZERO + Duration::secs(seconds);
    let mut link = bottleneck(Rate::mbit(1), Duration::ms(10), queue("tail-drop", Limit::packets(1000)));
    link.rate = RateSpec::Steps(vec![(at(0), Rate::mbit(1)), (at(5), Rate::mbit(100))]);
    let mut spec = dumbbell(link, vec![source], Duration::ZERO, Duration::ZERO, Duration::secs(20));
    let slowdown = |spec: &WorldSpec| {
        let outcome = run(spec);
        let transfers = outcome.groups[0].transfers.as_ref().expect("a transfer");
        assert_eq!(transfers.complete, 1);
        transfers.slowdown_millionths.mean() / 1e6
    };
    for start_ms in [0, 4_000, 4_990, 5_000, 6_000] {
        let flow = FlowSpec { start: Instant::ZERO + Duration::ms(start_ms), ..spec.flows[0].clone() };
        spec.flows = vec![flow];
        let slowdown = slowdown(&spec);
        assert!((1.0..8.0).contains(&slowdown), "{slowdown} for a transfer at {start_ms} ms");
    }
}

#[test]
fn a_world_that_lasts_longer_than_its_times_reach_is_refused() {
    let link = || bottleneck(Rate::mbit(1), Duration::ms(10), queue("tail-drop", Limit::packets(10)));
    let year = Duration::secs(365 * 86_400);
    // Two queues and a few lanes share eight times, more queues share 32.
    let mut spec = dumbbell(link(), vec![support::bulk("cubic")], Duration::ZERO, Duration::ZERO, year * 10);
    assert!(World::new(&spec).is_ok());
    spec.links.extend((0..8).map(|_| link()));
    let fault = World::new(&spec).err().expect("ten years are too long").to_string();
    assert!(fault.starts_with("world: it ends at 315360000 s, but with so many links at most 144115188.0"), "{fault}");
}
