//! Outcomes made by hand, for tests.

use goodqueue_aqm::{Counters, Reason, Tally};
use goodqueue_base::units::{Bytes, Duration, Instant, Packets};
use goodqueue_sim::trace::TimeCounts;
use goodqueue_sim::{FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn};
use std::sync::Arc;

fn tally(packets: u64) -> Tally {
    Tally { packets: Packets::new(packets), bytes: Bytes::new(packets * 1500) }
}

/// Ten seconds of a 10 Mbit/s link under two bulk flows and a silent one; `run` shifts some of the
/// figures.
pub(crate) fn outcome(run: u64) -> Outcome {
    let mut counters = Counters::default();
    (counters.arrived, counters.departed) = (tally(8192), tally(8100));
    for (reason, count) in [(Reason::Overflow, 20), (Reason::Early, 50), (Reason::Head, 10)] {
        for _ in 0..count {
            counters.drop_for(reason, Bytes::new(1500));
        }
    }
    let mut sojourn = TimeCounts::new();
    (1..=100).for_each(|millis| sojourn.add(Duration::ms(millis)));
    let mut rtt = TimeCounts::new();
    (0..500).for_each(|_| rtt.add(Duration::ms(20 + run)));
    let flow = |index: u32, delivered_bytes: u64, sent_packets: u64| FlowOutcome {
        group: 0,
        index,
        weight: 1.0,
        delivered_bytes,
        sent_packets,
        retransmitted_packets: 41 * sent_packets / 4000,
        dropped_packets: Some(sent_packets / 100),
        marked_packets: Some(0),
        completion: None,
        timeouts: Some(u64::from(index == 1)),
        loss_runs: 2,
        longest_loss_run: 3,
        is_probe: false,
    };
    Outcome {
        groups: vec![GroupOutcome {
            name: "bulk".to_owned(),
            rtt,
            sojourn: sojourn.clone(),
            transfers: None,
            videos: Vec::new(),
            one_way_delay: TimeCounts::new(),
            calls: Vec::new(),
        }],
        links: vec![LinkOutcome {
            name: "bottleneck".to_owned(),
            counters,
            sent_bits: 97.2e6,
            capacity_bits: 100e6,
            queue_packets: 12.5 + run as f64,
            queue_bytes: 18_750.0,
            sojourn_sum_s: 8100.0 * 0.0125,
            sojourn,
            departed_whole_run: 9000,
            group_bits: vec![(0, 3e6), (1, 1e6)],
            loss_events: Some(4),
            rate_changes: Some(0),
            loss_synchronization: Some(0.5),
            settling: None,
        }],
        flows: vec![flow(0, 6_000_000, 4000), flow(1, 5_000_000, 4000), flow(2, 0, 0)],
        series: vec![Series {
            subject: "link:bottleneck".to_owned(),
            times: Arc::new(vec![Instant::ZERO, Instant::ZERO + Duration::ms(100)]),
            columns: vec![
                SeriesColumn { name: "queue_packets".to_owned(), values: vec![0.0, 7.0] },
                SeriesColumn { name: "sojourn_s".to_owned(), values: vec![f64::NAN, 0.005] },
            ],
        }],
        packets: Vec::new(),
        fingerprint: 0xfeed + run,
        events: 123_456,
        complete: true,
    }
}
