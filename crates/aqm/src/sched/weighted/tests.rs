use super::*;
use crate::algo::tail_drop::TailDrop;
use crate::qdisc::{NoSink, SimplePacket};
use std::vec::Vec;

type Plain = WeightedQueue<SimplePacket, TailDrop>;

fn packet(flow: u32, len: u32) -> SimplePacket {
    SimplePacket { flow, ..SimplePacket::new(len) }
}

fn plain(weights: &[f64]) -> Plain {
    let mut queue = Plain::new(TailDrop, Limit::NONE, WeightedQueueParams::default());
    weights.iter().enumerate().for_each(|(flow, &weight)| queue.set_weight(FlowHash(flow as u32), weight));
    queue
}

/// Bytes each flow sent in `departures` departures; every flow always waits, with packets of its
/// size.
fn shares(queue: &mut Plain, sizes: &[u32], departures: usize) -> Vec<u64> {
    for (flow, &size) in sizes.iter().enumerate() {
        (0..2).for_each(|_| queue.enqueue(Instant::ZERO, packet(flow as u32, size), &mut NoSink));
    }
    let mut sent = alloc::vec![0; sizes.len()];
    for _ in 0..departures {
        let out = queue.dequeue(Instant::ZERO, &mut NoSink).expect("all wait").packet;
        sent[out.flow as usize] += u64::from(out.len);
        queue.enqueue(Instant::ZERO, out, &mut NoSink);
    }
    sent
}

/// Kushwaha and Gupta, table 3: weights 1, 2 and 4.
#[test]
fn weights_one_two_four_share_seven_packets() {
    let mut queue = plain(&[1.0, 2.0, 4.0]);
    for _ in 0..10 {
        assert_eq!(shares(&mut queue, &[1000; 3], 7), [1000, 2000, 4000]);
        while queue.dequeue(Instant::ZERO, &mut NoSink).is_some() {}
    }
    assert_eq!(shares(&mut queue, &[1000; 3], 7_000), [1_000_000, 2_000_000, 4_000_000]);
}

/// Kushwaha and Gupta, table 5: equal weights, packets of 1000 and 500 bytes.
#[test]
fn equal_weights_share_bytes_whatever_the_packets() {
    let sent = shares(&mut plain(&[1.0, 1.0]), &[1000, 500], 3_000);
    assert_eq!(sent[0], sent[1]);
}

/// Served bytes over weight differ by no more than one packet over its weight.
#[test]
fn service_stays_within_one_packet_of_its_share() {
    let (weights, sizes) = ([1.0, 3.0, 0.7, 5.0], [1500, 300, 700, 64]);
    let mut queue = plain(&weights);
    for departures in [100, 1_000, 10_000] {
        let sent = shares(&mut queue, &sizes, departures);
        while queue.dequeue(Instant::ZERO, &mut NoSink).is_some() {}
        let served: Vec<f64> = sent.iter().zip(weights).map(|(&bytes, weight)| bytes as f64 / weight).collect();
        for (i, a) in served.iter().enumerate() {
            for (j, b) in served.iter().enumerate() {
                let bound = f64::from(sizes[i]) / weights[i] + f64::from(sizes[j]) / weights[j];
                assert!((a - b).abs() <= bound, "{served:?} after {departures}");
            }
        }
    }
}

#[test]
fn a_flow_that_returns_has_no_credit_for_its_absence() {
    let mut queue = plain(&[1.0, 1.0]);
    assert_eq!(shares(&mut queue, &[1000], 1_000), [1_000_000]);
    let sent = shares(&mut queue, &[1000, 1000], 100);
    assert!(sent[0].abs_diff(sent[1]) <= 1000, "{sent:?}");
}

#[test]
fn flows_never_share_a_queue_until_there_are_too_many() {
    let params = WeightedQueueParams { flows: 100, ..WeightedQueueParams::default() };
    let mut queue = Plain::new(TailDrop, Limit::NONE, params);
    (0..150).for_each(|flow| queue.enqueue(Instant::ZERO, packet(flow, 100), &mut NoSink));
    assert_eq!(queue.table.flows.len(), 100);
    assert_eq!(queue.view().packets, Packets::new(150));
    let mut served = 0;
    while queue.dequeue(Instant::ZERO, &mut NoSink).is_some() {
        served += 1;
    }
    assert_eq!(served, 150);
}

#[test]
fn a_limit_of_its_own_keeps_a_flood_from_the_others() {
    let params = WeightedQueueParams { flow_limit: Limit::packets(5), ..WeightedQueueParams::default() };
    let mut queue = Plain::new(TailDrop, Limit::packets(10), params);
    (0..20).for_each(|_| queue.enqueue(Instant::ZERO, packet(0, 1000), &mut NoSink));
    (0..20).for_each(|_| queue.enqueue(Instant::ZERO, packet(1, 1000), &mut NoSink));
    assert_eq!(queue.view().packets, Packets::new(10));
    assert_eq!(shares_left(&mut queue), [5, 5]);
}

fn shares_left(queue: &mut Plain) -> [u32; 2] {
    let mut left = [0; 2];
    while let Some(out) = queue.dequeue(Instant::ZERO, &mut NoSink) {
        left[out.packet.flow as usize] += 1;
    }
    left
}

#[test]
fn the_round_goes_on_behind_the_flow_served_last() {
    let mut eligible = Eligible::default();
    [3, 64, 130].iter().for_each(|&flow| eligible.insert(flow));
    assert_eq!([0, 3, 4, 64, 65, 131, 200, 1000].map(|from| eligible.next(from)), [3, 3, 64, 64, 130, 3, 3, 3].map(Some));
    [3, 64, 130].iter().for_each(|&flow| eligible.remove(flow));
    assert_eq!(eligible.next(0), None);
}
