//! cake: places in the round, shares of hosts, tins, the filter.

use super::*;
use crate::ack::{PureAck, SackRange};
use crate::aqm::{Endpoints, FlowHash, HostHash};
use crate::{NoSink, SimplePacket};
use goodqueue_base::units::{Bytes, Class, Duration, Ecn};
use std::vec::Vec;

/// A packet that says where it belongs.
#[derive(Clone, Copy, Debug)]
struct Letter {
    id: u64,
    len: u64,
    flow: u32,
    class: u8,
    hosts: (u32, u32),
    ack: Option<PureAck>,
}

impl Packet for Letter {
    fn len(&self) -> Bytes {
        Bytes::new(self.len)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> FlowHash {
        FlowHash(self.flow)
    }
    fn class(&self) -> Class {
        Class::new(self.class)
    }
    fn endpoints(&self) -> Endpoints {
        Endpoints { source: HostHash(self.hosts.0), destination: HostHash(self.hosts.1) }
    }
    fn pure_ack(&self) -> Option<PureAck> {
        self.ack
    }
}

fn letter(flow: u32, hosts: (u32, u32)) -> Letter {
    Letter { id: 0, len: 1000, flow, class: 0, hosts, ack: None }
}

fn cake(isolation: Isolation, tins: Tins) -> Cake<Letter> {
    Cake::new(CakeParams { isolation, tins, ..CakeParams::default() }, Limit::NONE)
}

/// Packets of each flow among `count` departures, while every flow always has packets waiting.
fn shares(queue: &mut Cake<Letter>, flows: &[Letter], count: usize) -> Vec<usize> {
    let now = Instant::from_nanos(1);
    let mut left = alloc::vec![0; flows.len()];
    flows.iter().for_each(|&flow| (0..3).for_each(|_| queue.enqueue(now, flow, &mut NoSink)));
    for _ in 0..count {
        let departure = queue.dequeue(now, &mut NoSink).expect("all are backlogged");
        let place = flows.iter().position(|flow| flow.flow == departure.packet.flow).expect("one of them");
        left[place] += 1;
        queue.enqueue(now, flows[place], &mut NoSink);
    }
    left
}

/// Four flows from host 1 to as many hosts, and one from host 2.
fn four_against_one() -> Vec<Letter> {
    (0..4).map(|n| letter(n, (1, 10 + n))).chain([letter(9, (2, 20))]).collect()
}

fn first_host(isolation: Isolation) -> f64 {
    let shares = shares(&mut cake(isolation, Tins::BestEffort), &four_against_one(), 8000);
    shares[..4].iter().sum::<usize>() as f64 / 8000.0
}

#[test]
fn flows_or_hosts_share_equally_as_isolation_says() {
    for (isolation, share) in [
        (Isolation::Flows, 0.8),
        (Isolation::DualDestination, 0.8),
        (Isolation::Destinations, 0.8),
        (Isolation::Hosts, 0.8),
        (Isolation::DualSource, 0.5),
        (Isolation::Sources, 0.5),
        (Isolation::Triple, 0.5),
    ] {
        let found = first_host(isolation);
        assert!((found - share).abs() < 0.01, "{isolation:?}: {found}");
    }
}

#[test]
fn triple_isolation_is_fair_at_the_busier_end() {
    // Two flows between hosts 1 and 10, one from 1 to 11, one from 2 to 10: each end of the first
    // two has three.
    let flows = [letter(0, (1, 10)), letter(1, (1, 10)), letter(2, (1, 11)), letter(3, (2, 10)), letter(4, (3, 12))];
    let found = shares(&mut cake(Isolation::Triple, Tins::BestEffort), &flows, 14_000);
    for (found, expected) in found.iter().zip([2000, 2000, 2000, 2000, 6000]) {
        assert!(found.abs_diff(expected) < 100, "{found} instead of {expected}");
    }
}

#[test]
fn tins_share_by_their_weights() {
    let with = |class| Letter { class, ..letter(u32::from(class), (0, 0)) };
    let flows = [with(0), with(1), with(5)];
    let found = shares(&mut cake(Isolation::Flows, Tins::Three), &flows, 13_440);
    for (found, expected) in found.iter().zip([10_240, 640, 2560]) {
        assert!(found.abs_diff(expected) <= 20, "{found} instead of {expected}");
    }
}

#[test]
fn classes_go_to_the_tins_of_linux() {
    let of = |tins: Tins| (0..8).map(|class| tins.of(Class::new(class))).collect::<Vec<_>>();
    assert_eq!(of(Tins::Eight), [2, 1, 5, 3, 6, 6, 7, 7]);
    assert_eq!(of(Tins::Four), [0, 1, 2, 2, 3, 3, 3, 3]);
    for tins in [Tins::BestEffort, Tins::Precedence, Tins::Three, Tins::Four, Tins::Eight] {
        assert!(of(tins).iter().all(|&tin| tin < tins.weights().len()), "{tins:?}");
    }
}

#[test]
fn a_sparse_flow_goes_before_bulk_ones() {
    let mut queue = cake(Isolation::Triple, Tins::BestEffort);
    shares(&mut queue, &four_against_one(), 100);
    let now = Instant::from_nanos(2);
    queue.enqueue(now, letter(77, (5, 50)), &mut NoSink);
    assert_eq!(queue.dequeue(now, &mut NoSink).map(|departure| departure.packet.flow), Some(77));
}

#[test]
fn the_last_packet_of_a_queue_is_never_dropped_on_departure() {
    let mut queue = cake(Isolation::Flows, Tins::BestEffort);
    let mut left = 0;
    for round in 0..2000u64 {
        let at = Instant::ZERO + Duration::ms(100) * round;
        queue.enqueue(at, letter(1, (1, 1)), &mut NoSink);
        left += usize::from(queue.dequeue(at + Duration::ms(90), &mut NoSink).is_some());
    }
    assert_eq!(left, 2000);
}

#[test]
fn a_queue_decays_until_cobalt_rests() {
    let mut queue = cake(Isolation::Flows, Tins::BestEffort);
    let count = |queue: &Cake<Letter>| (queue.tins[0].sparse, queue.tins[0].bulk, queue.tins[0].decaying);
    let mut now = Instant::from_nanos(1);
    queue.enqueue(now, letter(1, (1, 1)), &mut NoSink);
    assert!(queue.dequeue(now, &mut NoSink).is_some());
    assert_eq!(count(&queue), (1, 0, 0));
    // The next departure finds it empty; COBALT looks an interval ahead.
    let next = |queue: &mut Cake<Letter>, now| {
        queue.enqueue(now, letter(2, (1, 1)), &mut NoSink);
        queue.enqueue(now, letter(2, (1, 1)), &mut NoSink);
        assert!(queue.dequeue(now, &mut NoSink).is_some() && queue.dequeue(now, &mut NoSink).is_some());
    };
    next(&mut queue, now);
    assert_eq!(count(&queue), (1, 0, 1));
    now += Duration::ms(101);
    next(&mut queue, now);
    assert_eq!(queue.tins[0].decaying, 0);
}

#[test]
fn the_quantum_follows_the_rate() {
    let params = CakeParams::default();
    for (rate, quantum) in [(None, 1514), (Some(Rate::mbit(1)), 300), (Some(Rate::mbit(20)), 610), (Some(Rate::gbit(1)), 1514)] {
        assert_eq!(params.quantum(rate), quantum);
    }
}

fn ack(number: u64, echo: u8) -> PureAck {
    PureAck { number, echo, ..PureAck::default() }
}

/// Returns the packets left of a line of acknowledgements of flow 1, data packets (`None`) among
/// them.
fn left(filter: AckFilter, line: &[Option<PureAck>]) -> Vec<u64> {
    let params = CakeParams { ack_filter: filter, ..CakeParams::default() };
    let mut queue = Cake::new(params, Limit::NONE);
    let now = Instant::from_nanos(1);
    for (id, &ack) in line.iter().enumerate() {
        queue.enqueue(now, Letter { id: id as u64, ack, ..letter(1, (1, 1)) }, &mut NoSink);
    }
    let removed = queue.counters().dropped(Reason::Redundant).packets.get();
    let left: Vec<u64> = core::iter::from_fn(|| queue.dequeue(now, &mut NoSink)).map(|departure| departure.packet.id).collect();
    assert_eq!(removed as usize + left.len(), line.len());
    assert!(queue.counters().conserves(queue.view()));
    left
}

#[test]
fn the_filter_leaves_one_beside_the_newest_or_none() {
    let line = [1, 2, 3, 4].map(|number| Some(ack(number, 0)));
    assert_eq!(left(AckFilter::Off, &line), [0, 1, 2, 3]);
    assert_eq!(left(AckFilter::Normal, &line), [2, 3]);
    assert_eq!(left(AckFilter::Aggressive, &line), [3]);
}

#[test]
fn changes_of_the_congestion_echo_are_kept() {
    let line = [(1, 0), (2, 2), (3, 2), (4, 2), (5, 0)].map(|(number, echo)| Some(ack(number, echo)));
    assert_eq!(left(AckFilter::Normal, &line), [0, 3, 4]);
    assert_eq!(left(AckFilter::Aggressive, &line), [0, 3, 4]);
}

#[test]
fn duplicates_and_data_are_kept() {
    assert_eq!(left(AckFilter::Aggressive, &[Some(ack(7, 0)); 4]), [0, 1, 2, 3]);
    let line = [Some(ack(1, 0)), None, Some(ack(2, 0)), None, Some(ack(3, 0))];
    assert_eq!(left(AckFilter::Normal, &line), [1, 2, 3, 4]);
    assert_eq!(left(AckFilter::Aggressive, &line[..3]), [0, 1, 2], "a single one goes only from right before the newest");
    let reports = [(3, 4), (3, 5), (3, 6)].map(|(start, end)| {
        Some(PureAck { sack: [SackRange { start, end }, SackRange::default(), SackRange::default()], ..ack(1, 0) })
    });
    assert_eq!(left(AckFilter::Normal, &reports), [1, 2]);
}

#[test]
fn a_packet_larger_than_the_limit_is_refused() {
    let mut queue = Cake::new(CakeParams::default(), Limit::bytes(1500));
    queue.enqueue(Instant::from_nanos(1), SimplePacket::new(1501), &mut NoSink);
    queue.enqueue(Instant::from_nanos(1), SimplePacket::new(1500), &mut NoSink);
    assert_eq!((queue.counters().overflow().packets, queue.view().packets), (Packets::new(1), Packets::new(1)));
}

#[test]
fn its_shaper_lets_packets_go_at_the_rate_framing_included() {
    let framing = Framing::named("pppoe-ptm").expect("a keyword");
    let params = CakeParams { rate: Some(Rate::mbit(8)), framing, ..CakeParams::default() };
    let mut queue = Cake::new(params, Limit::NONE);
    let at = |nanos: u64| Instant::from_nanos(1_000_000_000 + nanos);
    (0..3).for_each(|_| queue.enqueue(at(0), Letter { len: 1000, ..letter(1, (1, 2)) }, &mut NoSink));
    assert!(queue.dequeue(at(0), &mut NoSink).is_some());
    assert_eq!(queue.next_timer(), None, "nobody asked in vain");
    // 1000 bytes and 30 of header in PTM are 1047 bytes: a microsecond each.
    assert!(queue.dequeue(at(1_046_999), &mut NoSink).is_none());
    assert_eq!(queue.next_timer(), Some(at(1_047_000)));
    queue.handle_timer(at(1_047_000));
    assert_eq!(queue.next_timer(), None);
    assert!(queue.dequeue(at(1_047_000), &mut NoSink).is_some());
    assert_eq!(queue.view().packets, Packets::new(1));
}

#[test]
fn its_memory_limit_is_kept_besides_the_limit() {
    let mut queue = Cake::new(CakeParams { memlimit: Bytes::new(2500), ..CakeParams::default() }, Limit::packets(10));
    (0..5).for_each(|_| queue.enqueue(Instant::ZERO, Letter { len: 1000, ..letter(1, (1, 2)) }, &mut NoSink));
    assert_eq!(queue.view().packets, Packets::new(2));
}
