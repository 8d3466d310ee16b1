use super::*;
use crate::SimplePacket;
use alloc::string::ToString;
use std::vec::Vec;

fn at(micros: u64) -> Instant {
    Instant::from_nanos(1_000) + Duration::us(micros)
}

fn packet(id: u64, ecn: Ecn) -> SimplePacket {
    SimplePacket { id, ecn, ..SimplePacket::new(1500) }
}

fn queue() -> DualPi2<SimplePacket> {
    DualPi2::new(DualPi2Params::default(), Limit::NONE)
}

/// The queue with its base probability forced to `p`.
fn queue_at(p: f64) -> DualPi2<SimplePacket> {
    let mut queue = queue();
    let Law::Source(law) = &mut queue.law else { unreachable!("the default") };
    law.base.p = p;
    law.p_classic = law.base.classic();
    law.p_coupled = law.base.coupled(2.0);
    queue
}

#[derive(Default)]
struct Seen {
    marked: Vec<(u64, Reason)>,
    dropped: Vec<u64>,
}

impl Sink<SimplePacket> for Seen {
    fn dropped(&mut self, packet: SimplePacket, _: crate::Dropped) {
        self.dropped.push(packet.id);
    }
    fn marked(&mut self, packet: &SimplePacket, reason: Reason) {
        self.marked.push((packet.id, reason));
    }
}

/// Ten thousand packets of `ecn` through a queue that always holds a hundred, while its probability
/// stays: (marked, dropped).
fn signals(queue: &mut DualPi2<SimplePacket>, ecn: Ecn) -> (usize, usize) {
    let mut seen = Seen::default();
    (0..100).for_each(|id| queue.enqueue(at(0), packet(id, ecn), &mut seen));
    for id in 100..10_100 {
        queue.enqueue(at(0), packet(id, ecn), &mut seen);
        let _ = queue.dequeue(at(0), &mut seen);
        while queue.view().packets < Packets::new(100) {
            queue.enqueue(at(0), packet(id, ecn), &mut seen);
        }
    }
    (seen.marked.len(), seen.dropped.len())
}

#[test]
fn gains_are_those_of_the_rfc() {
    // RFC 9332 appendix A.1 rounds these to 0.16 and 3.2.
    let params = DualPi2Params::with(Duration::ms(15), Duration::ms(100), Some(Duration::ms(16)), Bytes::new(1500));
    assert!((params.alpha - 0.16).abs() < 1e-12 && (params.beta - 3.0).abs() < 1e-12);
    let linux = DualPi2Params::default();
    assert_eq!((linux.t_update, linux.alpha, linux.beta), (Duration::ms(16), 0.160_156_25, 3.199_218_75));
    assert_eq!(linux.p_classic_max(), 0.25);
    let short = DualPi2Params::with(Duration::ms(15), Duration::ms(30), None, Bytes::new(1500));
    assert_eq!(short.t_update, Duration::ms(10));
}

#[test]
fn classic_signals_are_the_square_and_l4s_marks_are_coupled() {
    // RFC 9332 §2.1: p' = 10 % makes 1 % and 20 %.
    assert_eq!(signals(&mut queue_at(0.1), Ecn::Ect0), (100, 0));
    assert_eq!(signals(&mut queue_at(0.1), Ecn::Ect1).1, 0);
    let (marked, _) = signals(&mut queue_at(0.1), Ecn::Ect1);
    assert!((1999..=2001).contains(&marked), "{marked}");
    let (marked, dropped) = signals(&mut queue_at(0.1), Ecn::NotEct);
    assert!(marked == 0 && (100..=102).contains(&dropped), "{dropped}");
}

#[test]
fn overload_turns_marks_into_drops() {
    // k p = 1: an L4S packet is dropped with p p = 1/4, and marked otherwise. Classic packets that
    // could be marked are dropped as well.
    let (marked, dropped) = signals(&mut queue_at(0.5), Ecn::Ect1);
    let share = dropped as f64 / (10_000 + dropped) as f64;
    assert!((share - 0.25).abs() < 0.001, "{share}");
    assert!(marked >= 9_998, "{marked}");
    let (marked, dropped) = signals(&mut queue_at(0.5), Ecn::Ect0);
    assert!(marked == 0 && (dropped as f64 / (10_000 + dropped) as f64 - 0.25).abs() < 0.001);
    let (marked, dropped) = signals(&mut queue_at(0.49), Ecn::Ect0);
    assert!(marked > 2_000 && dropped == 0);
}

#[test]
fn l4s_packets_follow_the_ramp_unless_at_most_one_waits_behind() {
    let (min_th, range) = (Duration::us(800), Duration::us(400));
    let ramp = DualPi2Params { min_th, range, th_len: Packets::new(1), ..DualPi2Params::default() };
    let law = SourceLaw::new(ramp);
    for (micros, expected) in [(0, 0.0), (800, 0.0), (1000, 0.5), (1200, 1.0), (5000, 1.0)] {
        assert_eq!(law.ramp(Duration::us(micros)), expected);
    }
    let step = SourceLaw { params: DualPi2Params { min_th: Duration::ms(1), range: Duration::ZERO, ..law.params }, ..law };
    assert_eq!((step.ramp(Duration::ms(1)), step.ramp(Duration::us(1001))), (0.0, 1.0));

    let (mut queue, mut seen) = (DualPi2::new(ramp, Limit::NONE), Seen::default());
    (0..4).for_each(|id| queue.enqueue(at(0), packet(id, Ecn::Ect1), &mut seen));
    (0..4).for_each(|_| assert!(queue.dequeue(at(2000), &mut seen).is_some()));
    // Probability 1 adds up to more than 1 with the second packet; from the third on no more than
    // one waits behind.
    assert_eq!(seen.marked, [(1, Reason::Threshold)]);
}

#[test]
fn short_queues_are_spared_the_shared_signal() {
    let mut seen = Seen::default();
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::NotEct] {
        let mut queue = queue_at(1.0);
        for id in 0..100 {
            queue.enqueue(at(0), packet(id, ecn), &mut seen);
            queue.enqueue(at(0), packet(id, ecn), &mut seen);
            (0..2).for_each(|_| assert!(queue.dequeue(at(0), &mut seen).is_some()));
        }
    }
    assert!(seen.marked.is_empty() && seen.dropped.is_empty());
}

/// The share of classic bytes among the first thousand packets of two long queues.
fn classic_share(params: DualPi2Params) -> f64 {
    let mut queue = DualPi2::new(params, Limit::NONE);
    for id in 0..2000 {
        queue.enqueue(at(0), packet(id, Ecn::Ect1), &mut crate::NoSink);
        queue.enqueue(at(0), packet(id, Ecn::NotEct), &mut crate::NoSink);
    }
    let out = (0..1000).filter_map(|_| queue.dequeue(at(0), &mut crate::NoSink));
    out.filter(|departure| departure.packet.ecn == Ecn::NotEct).count() as f64 / 1000.0
}

#[test]
fn the_classic_queue_keeps_its_share() {
    for classic in [20, 100, 500] {
        let params = DualPi2Params { scheduler: Order::WeightedRoundRobin { classic }, ..DualPi2Params::default() };
        let share = classic_share(params);
        assert!((share - classic as f64 / 1000.0).abs() <= 0.002, "{share} of {classic}");
    }
}

#[test]
fn time_shift_lets_l4s_packets_pass_classic_ones_for_so_long() {
    let scheduler = Order::TimeShifted(Duration::ms(50));
    let mut queue = DualPi2::new(DualPi2Params { scheduler, ..DualPi2Params::default() }, Limit::NONE);
    let arrivals = [(0, Ecn::NotEct), (49_000, Ecn::Ect1), (50_000, Ecn::Ect1), (50_001, Ecn::Ect1)];
    for (id, (time, ecn)) in (0..).zip(arrivals) {
        queue.enqueue(at(time), packet(id, ecn), &mut crate::NoSink);
    }
    let out = core::iter::from_fn(|| queue.dequeue(at(50_001), &mut crate::NoSink)).map(|departure| departure.packet.id);
    assert_eq!(out.collect::<Vec<_>>(), [1, 2, 0, 3]);
}

#[test]
fn without_marking_it_is_one_queue() {
    let mut queue = queue();
    queue.books.ecn = EcnPolicy::Drop;
    for (id, ecn) in (0..).zip([Ecn::NotEct, Ecn::Ect1, Ecn::Ce, Ecn::Ect0]) {
        queue.enqueue(at(0), packet(id, ecn), &mut crate::NoSink);
    }
    let out = core::iter::from_fn(|| queue.dequeue(at(10), &mut crate::NoSink)).map(|departure| departure.packet.id);
    assert_eq!(out.collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn updates_stop_when_nothing_is_left_to_forget() {
    let mut queue = queue();
    assert_eq!(queue.next_timer(), None);
    queue.enqueue(at(0), packet(0, Ecn::Ect0), &mut crate::NoSink);
    let first = queue.next_timer().expect("awake");
    assert!(first <= at(16_000));
    let mut now = first + Duration::ms(150);
    queue.handle_timer(now);
    assert!(matches!(&queue.law, Law::Source(law) if law.base.p > 0.0));
    let grid = |tick: Instant| tick.since(first).as_nanos() % 16_000_000;
    assert_eq!(queue.next_timer().map(grid), Some(0), "a late update runs once, and the next is in step again");
    let _ = queue.dequeue(now, &mut crate::NoSink);
    let mut updates = 0;
    while let Some(due) = queue.next_timer() {
        now = due;
        queue.handle_timer(now);
        updates += 1;
        assert!(updates < 10_000, "never rests");
    }
    queue.enqueue(now + Duration::ms(1), packet(1, Ecn::Ect0), &mut crate::NoSink);
    assert_eq!(queue.next_timer().map(grid), Some(0));
}

#[test]
fn refuses_settings_of_the_other_scheduler() {
    use crate::spec::{LinkFacts, ParamValues, Value};
    let link = LinkFacts { rate: None, delay: Duration::ZERO, mtu: Bytes::new(1500), overhead: Bytes::ZERO, limit: Limit::NONE };
    let build = |values: &[_]| DualPi2Params::build(&ParamValues::new(&KIND, values).expect("within range"), &link);
    let error = build(&[("tshift", Value::Duration(Duration::ms(30)))]).expect_err("wrr has no tshift");
    assert_eq!(error.to_string(), "tshift: has no meaning with scheduler = \"wrr\"");
    let shifted = build(&[("scheduler", Value::Choice("time-shifted"))]).expect("good");
    assert_eq!(shifted.scheduler, Order::TimeShifted(Duration::ms(50)));
    assert_eq!(build(&[]).expect("defaults"), DualPi2Params::default());
}
