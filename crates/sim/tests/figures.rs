//! Figures at the edges of their definitions.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_sim::{FlowSpec, LinkSpec, Opportunities, Outcome, RateSpec, SourceSpec, World, WorldSpec};
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
        transfers.slowdown_millionths.mean().expect("one") / 1e6
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

/// Two lines with a flow each, in both directions behind a queue.
fn two_lines(counts_with: Option<u32>) -> WorldSpec {
    let link = bottleneck(Rate::mbit(5), Duration::ms(10), queue("codel", Limit::packets(50)));
    let mut spec = dumbbell(link, vec![SourceSpec::bulk("cubic"); 2], Duration::ms(200), Duration::secs(1), Duration::secs(5));
    let number = spec.links.len() as u32;
    spec.links.push(LinkSpec { counts_with, ..spec.links[0].clone() });
    spec.flows[1].forward[1] = number;
    spec.recording.sample_every = Some(Duration::secs(1));
    spec
}

#[test]
fn links_that_count_as_one_have_the_sums_of_their_figures() {
    let (apart, together) = (run(&two_lines(None)), run(&two_lines(Some(0))));
    let ([one, two], [sum]) = (&apart.links[..], &together.links[..]) else { panic!("two links, and one") };
    assert_eq!(apart.fingerprint, together.fingerprint);
    assert_eq!(sum.counters, one.counters.clone() + two.counters.clone());
    assert_eq!(sum.sent_bits, one.sent_bits + two.sent_bits);
    assert_eq!(sum.capacity_bits, one.capacity_bits + two.capacity_bits);
    assert!((sum.queue_packets - (one.queue_packets + two.queue_packets) / 2.0).abs() < 1e-9);
    assert_eq!(sum.loss_events, Some(one.loss_events.unwrap() + two.loss_events.unwrap()));
    assert_eq!(sum.sojourn.len(), one.sojourn.len() + two.sojourn.len());
    assert_eq!(sum.group_bits, [(0, one.group_bits[0].1 + two.group_bits[0].1)]);
    let throughput = |outcome: &Outcome, series: usize| outcome.series[series].columns[3].values.clone();
    let [first, second] = [0, 1].map(|series| throughput(&apart, series));
    let added: Vec<f64> = first.iter().zip(second).map(|(one, two)| one + two).collect();
    assert_eq!((throughput(&together, 0), together.series.len() + 1), (added, apart.series.len()));
}
