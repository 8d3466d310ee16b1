use super::*;
use crate::algo::codel::CoDel;
use crate::algo::tail_drop::TailDrop;
use crate::aqm::Reason;
use crate::qdisc::{Dropped, NoSink, SimplePacket};
use std::vec::Vec;

type Plain = FairQueue<SimplePacket, TailDrop>;

fn packet(flow: u32, len: u32) -> SimplePacket {
    SimplePacket { flow, len, ..SimplePacket::new(len) }
}

fn plain(limit: Limit, params: FairQueueParams) -> Plain {
    FairQueue::new(TailDrop, limit, params)
}

/// Flows that fall into different queues.
fn separate_flows_of(bucket: impl Fn(u32) -> u32, count: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    let mut is_free = |flow: &u32| {
        let bucket = bucket(*flow);
        let free = !taken.contains(&bucket);
        taken.push(bucket);
        free
    };
    (0..).filter(|flow| is_free(flow)).take(count).collect()
}

fn separate_flows(queue: &Plain, count: usize) -> Vec<u32> {
    separate_flows_of(|flow| queue.bucket(FlowHash(flow)), count)
}

#[derive(Default)]
struct Drops(Vec<(u32, Reason)>);

impl Sink<SimplePacket> for Drops {
    fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
        self.0.push((packet.flow, drop.reason));
    }
    fn marked(&mut self, _: &SimplePacket, _: Reason) {}
}

/// RFC 8290 §5.3: with 100 flows in 1024 queues a flow has a queue of its own with probability (1 -
/// 1/1024)^99 = 90.8 %.
#[test]
fn a_hundred_flows_mostly_have_a_queue_of_their_own() {
    let salts = 2_000;
    let mut alone = 0;
    for salt in 0..salts {
        let queue = plain(Limit::NONE, FairQueueParams::default()).with_rng(Rng::new(salt));
        let mut used = alloc::vec![0u32; 1024];
        (0..100).for_each(|flow| used[queue.bucket(FlowHash(flow)) as usize] += 1);
        alone += used.iter().filter(|&&n| n == 1).count();
    }
    let share = alone as f64 / (100.0 * salts as f64);
    assert!((share - 0.908).abs() < 0.003, "{share}");
}

#[test]
fn every_number_of_queues_is_filled_evenly() {
    for flows in [1, 7, 1000, 65_536] {
        let queue = plain(Limit::NONE, FairQueueParams { flows, ..FairQueueParams::default() });
        let mut used = alloc::vec![0u32; flows as usize];
        (0..flows * 20).for_each(|flow| used[queue.bucket(FlowHash(flow)) as usize] += 1);
        // Poisson with mean 20: fewer than 1 or more than 60 would be one in many millions.
        assert!(used.iter().all(|&n| n > 0 && n < 60), "{flows} queues");
    }
}

#[test]
fn flows_share_bytes_of_frames_not_packets() {
    let mut queue = plain(Limit::NONE, FairQueueParams::default());
    let flows = separate_flows(&queue, 2);
    for _ in 0..3_000 {
        queue.enqueue(Instant::ZERO, packet(flows[0], 1500), &mut NoSink);
        queue.enqueue(Instant::ZERO, packet(flows[1], 500), &mut NoSink);
    }
    let mut sent = [0u64; 2];
    for _ in 0..1_000 {
        let out = queue.dequeue(Instant::ZERO, &mut NoSink).expect("both flows wait").packet;
        sent[usize::from(out.flow == flows[1])] += u64::from(out.len) + 14;
    }
    assert!(sent[0].abs_diff(sent[1]) <= 2 * 1514, "{sent:?}");
}

#[test]
fn a_new_flow_goes_first_and_only_once() {
    let mut queue = plain(Limit::NONE, FairQueueParams::default());
    let flows = separate_flows(&queue, 2);
    (0..10).for_each(|_| queue.enqueue(Instant::ZERO, packet(flows[0], 1500), &mut NoSink));
    // The old flow has used its first quantum and waits in the old list.
    let mut order = Vec::new();
    for n in 0..6 {
        if n == 2 {
            (0..4).for_each(|_| queue.enqueue(Instant::ZERO, packet(flows[1], 1500), &mut NoSink));
        }
        order.push(queue.dequeue(Instant::ZERO, &mut NoSink).expect("packets wait").packet.flow == flows[1]);
    }
    // Each turn is one packet of 1500 bytes with its header, the first as well.
    assert_eq!(order, [false, false, true, true, false, true]);
}

#[test]
fn of_equally_fat_flows_the_one_in_the_lowest_queue_loses() {
    for order in [[0, 1], [1, 0]] {
        let params = FairQueueParams { victim: Victim::Fattest { batch: 1 }, ..FairQueueParams::default() };
        let mut queue = plain(Limit::packets(3), params);
        let mut flows = separate_flows(&queue, 2);
        flows.sort_by_key(|flow| queue.bucket(FlowHash(*flow)));
        let mut drops = Drops::default();
        (0..2).for_each(|_| order.iter().for_each(|&flow| queue.enqueue(Instant::ZERO, packet(flows[flow], 1000), &mut drops)));
        assert_eq!(drops.0, [(flows[0], Reason::OverLimit)], "{order:?}");
    }
}

#[test]
fn over_the_limit_the_fattest_flow_loses_from_its_head() {
    let params = FairQueueParams { victim: Victim::Fattest { batch: 3 }, ..FairQueueParams::default() };
    let mut queue = plain(Limit::packets(10), params);
    let flows = separate_flows(&queue, 2);
    let mut drops = Drops::default();
    (0..8).for_each(|_| queue.enqueue(Instant::ZERO, packet(flows[0], 1000), &mut drops));
    (0..3).for_each(|_| queue.enqueue(Instant::ZERO, packet(flows[1], 100), &mut drops));
    assert_eq!(drops.0, [(flows[0], Reason::OverLimit); 3]);
    assert_eq!(queue.view().packets, Packets::new(8));
}

#[test]
fn no_more_than_half_of_the_fattest_flow_goes_at_once() {
    let mut queue = plain(Limit::packets(10), FairQueueParams::default());
    let mut drops = Drops::default();
    (0..11).for_each(|_| queue.enqueue(Instant::ZERO, packet(1, 1000), &mut drops));
    assert_eq!(drops.0.len(), 6);
}

#[test]
fn rounds_of_packets_favour_large_ones() {
    let params = FairQueueParams { share: Share::Packets, ..FairQueueParams::default() };
    let mut queue = plain(Limit::NONE, params);
    let flows = separate_flows(&queue, 2);
    for _ in 0..100 {
        queue.enqueue(Instant::ZERO, packet(flows[0], 1500), &mut NoSink);
        queue.enqueue(Instant::ZERO, packet(flows[1], 500), &mut NoSink);
    }
    let order: Vec<u32> =
        (0..8).map(|_| queue.dequeue(Instant::ZERO, &mut NoSink).expect("both flows wait").packet.flow).collect();
    assert_eq!(order, [flows[0], flows[1]].repeat(4));
}

#[test]
fn the_longest_flow_makes_room_with_its_newest_packet() {
    let params = FairQueueParams { victim: Victim::Longest, ..FairQueueParams::default() };
    let mut queue = plain(Limit::packets(10), params);
    let flows = separate_flows(&queue, 2);
    let mut drops = Drops::default();
    let numbered = |id, flow, len| SimplePacket { id, ..packet(flow, len) };
    (0..6).for_each(|id| queue.enqueue(Instant::ZERO, numbered(id, flows[0], 100), &mut drops));
    (6..11).for_each(|id| queue.enqueue(Instant::ZERO, numbered(id, flows[1], 1500), &mut drops));
    // Six small packets are longer than four large ones.
    assert_eq!(drops.0, [(flows[0], Reason::OverLimit)]);
    let left: Vec<u64> = core::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut NoSink)).map(|out| out.packet.id).collect();
    assert!(!left.contains(&5) && left.len() == 10, "{left:?}");
}

#[test]
fn the_arriving_packet_may_be_the_one_to_go() {
    let params = FairQueueParams { victim: Victim::Arriving, ..FairQueueParams::default() };
    let mut queue = plain(Limit::packets(10), params);
    let flows = separate_flows(&queue, 2);
    let mut drops = Drops::default();
    (0..10).for_each(|_| queue.enqueue(Instant::ZERO, packet(flows[0], 1000), &mut drops));
    queue.enqueue(Instant::ZERO, packet(flows[1], 100), &mut drops);
    assert_eq!(drops.0, [(flows[1], Reason::Overflow)]);
}

#[test]
fn a_packet_larger_than_the_limit_leaves_the_others_alone() {
    let params = FairQueueParams { memory_limit: Bytes::new(5_000), ..FairQueueParams::default() };
    let mut queue = plain(Limit::NONE, params);
    let mut drops = Drops::default();
    (0..4).for_each(|_| queue.enqueue(Instant::ZERO, packet(1, 1000), &mut drops));
    queue.enqueue(Instant::ZERO, packet(2, 5_001), &mut drops);
    assert_eq!(drops.0, [(2, Reason::Overflow)]);
    assert_eq!(queue.view().packets, Packets::new(4));
}

#[test]
fn a_new_salt_waits_for_an_empty_queue() {
    let params = FairQueueParams { perturbation: Some(Duration::secs(1)), ..FairQueueParams::default() };
    let mut queue = plain(Limit::NONE, params);
    let first = queue.bucket(FlowHash(77));
    let at = |secs| Instant::ZERO + Duration::secs(secs);
    queue.enqueue(at(0), packet(1, 100), &mut NoSink);
    queue.enqueue(at(2), packet(1, 100), &mut NoSink);
    assert_eq!(queue.bucket(FlowHash(77)), first);
    while queue.dequeue(at(2), &mut NoSink).is_some() {}
    queue.enqueue(at(2), packet(1, 100), &mut NoSink);
    assert_ne!(queue.bucket(FlowHash(77)), first);
}

/// The guard of RFC 8289 that spares the last packet may look at all flows or at one.
#[test]
fn the_guard_sees_the_backlog_it_was_told_to() {
    for (shown, signals) in [(ShownBacklog::Total, true), (ShownBacklog::Flow, false)] {
        let params = FairQueueParams { shown, ..FairQueueParams::default() };
        let mut queue: FairQueue<SimplePacket, CoDel> = FairQueue::new(CoDel::default(), Limit::NONE, params);
        let mut now = Instant::from_nanos(1);
        // Every queue always holds one packet, which leaves far above target as all the others go
        // first.
        let flows = separate_flows_of(|flow| queue.bucket(FlowHash(flow)), 200);
        flows.iter().for_each(|&flow| queue.enqueue(now, packet(flow, 1500), &mut NoSink));
        let mut drops = Drops::default();
        for _ in 0..20_000 {
            now += Duration::ms(1);
            let left = queue.dequeue(now, &mut drops).expect("every flow waits").packet.flow;
            for flow in drops.0.drain(..).map(|(flow, _)| flow).chain([left]) {
                queue.enqueue(now, packet(flow, 1500), &mut NoSink);
            }
        }
        assert_eq!(queue.counters().early().packets > Packets::new(100), signals, "{shown:?}: {:?}", queue.counters());
    }
}

#[test]
fn a_flow_of_fq_codel_fits_two_cache_lines() {
    assert!(size_of::<Flow<CoDel, Turn>>() <= 128, "{}", size_of::<Flow<CoDel, Turn>>());
}
