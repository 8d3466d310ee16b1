use super::fairness::drop_share;
use super::*;
use crate::results::record::sample;
use goodqueue_aqm::Counters;
use goodqueue_base::units::Bytes;
use goodqueue_sim::trace::nearest_rank;

#[test]
fn a_link_by_hand() {
    let outcome = sample::outcome(1);
    let figures = RunFigures::of(&outcome, Duration::secs(10), &[]);
    let link = |name| figures.links[0].value(name);
    // 8 100 packets sent out of 8 192 that arrived; 20 overflowed, 60 were dropped early; 12 still
    // wait.
    assert_eq!(link("utilization"), Some(0.972));
    assert_eq!(link("throughput_bit_s"), Some(9.72e6));
    assert_eq!(link("drop_ratio"), Some(80.0 / 8192.0));
    assert_eq!(link("drop_ratio_bytes"), Some(80.0 / 8192.0), "all packets are equally long");
    assert_eq!(link("drops.overflow"), Some(20.0));
    assert_eq!(link("drops.early"), Some(60.0));
    assert_eq!(link("mark_ratio"), None, "no packet was ECN-capable");
    assert_eq!(link("signal_ratio"), Some(60.0 / 8192.0));
    // 100 samples of 1 ms, 2 ms, … 100 ms.
    for (name, expected) in [
        ("sojourn_s.p05", 0.005),
        ("sojourn_s.p25", 0.025),
        ("sojourn_s.p50", 0.05),
        ("sojourn_s.p95", 0.095),
        ("sojourn_s.max", 0.1),
    ] {
        let got = link(name).unwrap();
        assert!((got / expected - 1.0).abs() < 1e-3, "{name} {got}");
    }
}

#[test]
fn ratios_of_packets_and_of_bytes_are_not_mixed_up() {
    let mut outcome = sample::outcome(1);
    let link = &mut outcome.links[0];
    link.counters.arrived.bytes = Bytes::new(1_000_000);
    link.counters.arrived_ect.packets = goodqueue_base::units::Packets::new(100);
    link.counters.marked.packets = goodqueue_base::units::Packets::new(25);
    let figures = RunFigures::of(&outcome, Duration::secs(10), &[]);
    let link = |name| figures.links[0].value(name);
    assert_eq!(link("drop_ratio"), Some(80.0 / 8192.0));
    assert_eq!(link("drop_ratio_bytes"), Some(0.12));
    assert_eq!(link("mark_ratio"), Some(0.25));
    assert_eq!(link("signal_ratio"), Some(85.0 / 8192.0));
    assert_eq!(link("marked_packets"), Some(25.0));
    assert_eq!((link("arrived_packets"), link("departed_packets")), (Some(8192.0), Some(8100.0)));
    assert_eq!((link("queue_packets"), link("queue_bytes")), (Some(13.5), Some(18_750.0)));
    assert_eq!(link("sojourn_s.mean"), Some(0.0125));
    assert_eq!((link("loss_events"), link("loss_synchronization")), (Some(4.0), Some(0.5)));
    assert_eq!((link("settle.changes"), link("settle.sojourn_s")), (Some(0.0), None));
}

#[test]
fn what_a_host_does_not_know_is_undefined() {
    let mut outcome = sample::outcome(1);
    let link = &mut outcome.links[0];
    (link.loss_events, link.rate_changes, link.capacity_bits) = (None, None, 0.0);
    link.group_bits.clear();
    for flow in &mut outcome.flows {
        (flow.dropped_packets, flow.marked_packets, flow.timeouts) = (None, None, None);
    }
    let figures = RunFigures::of(&outcome, Duration::secs(10), &[]);
    for name in ["loss_events", "settle.changes", "utilization"] {
        assert_eq!(figures.links[0].value(name), None, "{name}");
    }
    for name in ["loss_ratio", "loss_run_packets.mean", "loss_gap_packets", "mark_ratio", "timeouts"] {
        assert_eq!(figures.groups[0].value(name), None, "{name}");
    }
    assert!(figures.links[0].group_share.iter().all(Option::is_none));
    assert_eq!(figures.jain[2], None, "shares of drops");
    assert!(figures.links[0].value("drop_ratio").is_some(), "the queue knows its drops");
}

#[test]
fn every_figure_has_one_name_and_a_heading() {
    let links = LINK_METRICS.iter().map(|metric| metric.about);
    let all = [links.collect::<Vec<_>>(), GROUP_METRICS.iter().map(|metric| metric.about).collect()];
    for metrics in all {
        for (place, about) in metrics.iter().enumerate() {
            assert!(metrics[..place].iter().all(|other| other.name != about.name), "{} twice", about.name);
            assert!(!about.label.is_empty() && !about.doc.is_empty(), "{}", about.name);
        }
    }
}

#[test]
fn a_group_by_hand() {
    let figures = RunFigures::of(&sample::outcome(1), Duration::secs(10), &[]);
    let group = |name| figures.groups[0].value(name);
    assert_eq!(group("goodput_bit_s"), Some((6_000_000 + 5_000_000) as f64 * 0.8));
    // The group is alone on the link, and its packets waited as the link says.
    assert!((group("sojourn_s.mean").unwrap() / 0.0505 - 1.0).abs() < 1e-3);
    assert!((group("sojourn_s.p95").unwrap() / 0.095 - 1.0).abs() < 1e-3);
    assert_eq!(group("loss_ratio"), Some(80.0 / 8000.0));
    assert_eq!(group("retransmitted_ratio"), Some(82.0 / 8000.0));
    assert_eq!(group("completion_s.p50"), None);
    assert_eq!(figures.flows[1].goodput_bit_s, Some(4e6));
}

#[test]
fn drops_in_proportion_are_fair_and_no_drops_are_undefined() {
    let mut flows = sample::outcome(1).flows;
    for (flow, sent, dropped) in [(0, 1000, 10), (1, 3000, 30), (2, 0, 0)] {
        flows[flow].sent_packets = sent;
        flows[flow].dropped_packets = Some(dropped);
    }
    assert_eq!(drop_share(&flows), Some(1.0));
    flows[1].dropped_packets = Some(0);
    assert_eq!(drop_share(&flows), Some(0.5));
    flows[0].dropped_packets = Some(0);
    assert_eq!(drop_share(&flows), None);
}

#[test]
fn probes_want_no_share() {
    let mut outcome = sample::outcome(1);
    let without = RunFigures::of(&outcome, Duration::secs(10), &[]);
    let probe =
        FlowOutcome { sent_packets: 100, dropped_packets: Some(7), is_probe: true, weight: 1.0, ..FlowOutcome::default() };
    outcome.flows.push(probe);
    let with = RunFigures::of(&outcome, Duration::secs(10), &[]);
    assert_eq!(with.jain, without.jain);
    assert_eq!(with.flows.len(), without.flows.len() + 1);
}

#[test]
fn nearest_rank_is_the_smallest_value_that_is_enough() {
    let spans: Vec<Duration> = (1..=20).map(Duration::secs).collect();
    assert_eq!(nearest_rank(&spans, 50), Some(Duration::secs(10)));
    assert_eq!(nearest_rank(&spans, 95), Some(Duration::secs(19)));
    assert_eq!(nearest_rank(&spans[..1], 95), Some(Duration::secs(1)));
    assert_eq!(nearest_rank::<Duration>(&[], 95), None);
}

#[test]
fn a_run_in_which_nothing_happened_has_no_ratios() {
    let mut outcome = sample::outcome(1);
    outcome.links[0].counters = Counters::default();
    outcome.links[0].sojourn.clear();
    outcome.links[0].capacity_bits = 0.0;
    outcome.flows.clear();
    let figures = RunFigures::of(&outcome, Duration::secs(10), &[]);
    for name in ["utilization", "drop_ratio", "sojourn_s.mean", "sojourn_s.p95", "sojourn_s.max"] {
        assert_eq!(figures.links[0].value(name), None, "{name}");
    }
    assert!(figures.jain.iter().all(Option::is_none));
}
