use super::*;
use crate::spec::{Size, Value};
use crate::{FlowHash, Limit, ManagedQueue, NoSink, Qdisc, SimplePacket};
use goodqueue_base::units::{Bytes, Ecn, Packets, Rate, Rng};
use std::string::ToString;
use std::vec::Vec;

fn facts() -> LinkFacts {
    LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::ZERO,
        limit: Limit::packets(100),
    }
}

/// Creates a CHOKe between 5 and 10 packets whose average is the present queue length.
fn instant(values: &[(&'static str, Value)]) -> Choke {
    let packets = |name, count| (name, Value::Size(Size::Packets(count)));
    let mut all: Vec<_> = values.to_vec();
    all.extend([packets("min_th", 5.0), packets("max_th", 10.0), ("w_q", Value::Number(1.0))]);
    Choke::build(&ParamValues::new(&Choke::KINDS[0], &all).expect("known parameters"), &facts()).expect("valid")
}

fn packet(flow: u32, ecn: Ecn) -> PacketView {
    PacketView { len: Bytes::new(1500), ecn, flow: FlowHash(flow), enqueued_at: Instant::from_nanos(9) }
}

/// Judges a packet of flow 1 while packets of the flows in `waiting` wait; `None` without a
/// comparison.
fn judge(choke: &mut Choke, waiting: &[u32], rng: &mut Rng) -> Option<Comparison> {
    let queue = QueueView { backlog: Bytes::new(1500 * waiting.len() as u64), packets: Packets::new(waiting.len() as u64) };
    let mut env = Env { now: Instant::from_nanos(9), link_rate: facts().rate, overhead: Bytes::ZERO, rng };
    let arriving = packet(1, Ecn::Ect0);
    if choke.on_arrival(&mut env, arriving, queue) != Verdict::Compare {
        return None;
    }
    let at = |place: usize| waiting.get(place).map(|&flow| packet(flow, Ecn::Ect0));
    Some(choke.on_comparison(&mut env, arriving, queue, &at))
}

#[test]
fn up_to_min_th_nobody_is_compared() {
    let (mut choke, mut rng) = (instant(&[]), Rng::new(1));
    assert_eq!(judge(&mut choke, &[1; 5], &mut rng), None);
    assert!(matches!(judge(&mut choke, &[1; 6], &mut rng), Some(Comparison::DropBoth(_, Reason::Match))));
}

#[test]
fn every_waiting_packet_is_as_likely_to_be_met() {
    let (mut choke, mut rng) = (instant(&[]), Rng::new(2));
    let mut met = [0u32; 8];
    for _ in 0..8_000 {
        let Some(Comparison::DropBoth(place, _)) = judge(&mut choke, &[1; 8], &mut rng) else { panic!("all are of one flow") };
        met[place] += 1;
    }
    assert!(met.iter().all(|&count| (900..1100).contains(&count)), "{met:?}");
}

#[test]
fn between_the_thresholds_strangers_are_signalled_as_by_red() {
    let (mut choke, mut rng) = (instant(&[("max_p", Value::Number(0.05))]), Rng::new(3));
    // Four fifths of the way: 0.04. With even spacing gaps are uniform from 1 to 25 packets, 13 on
    // average.
    let verdicts: Vec<_> = (0..100_000).map(|_| judge(&mut choke, &[2; 9], &mut rng)).collect();
    assert_eq!(verdicts[0], Some(Comparison::Judged(Verdict::Pass)), "the first packet in the band");
    let signals = verdicts.iter().filter(|&&verdict| verdict == Some(Comparison::Judged(Verdict::Signal(Reason::Early)))).count();
    assert!((100_000 / 14..100_000 / 12).contains(&signals), "{signals}");
}

#[test]
fn above_max_th_all_are_signalled_or_dropped() {
    for (harddrop, expected) in [(false, Verdict::Signal(Reason::Early)), (true, Verdict::Drop(Reason::Early))] {
        let (mut choke, mut rng) = (instant(&[("harddrop", Value::Switch(harddrop))]), Rng::new(4));
        assert!((0..100).all(|_| judge(&mut choke, &[2; 11], &mut rng) == Some(Comparison::Judged(expected))));
    }
}

#[test]
fn an_empty_queue_holds_nobody_to_meet() {
    let mut choke = instant(&[]);
    choke.zone = Zone::Between;
    let queue = QueueView::default();
    let mut rng = Rng::new(5);
    let before = rng.clone();
    let mut env = Env { now: Instant::from_nanos(9), link_rate: None, overhead: Bytes::ZERO, rng: &mut rng };
    let judged = choke.on_comparison(&mut env, packet(1, Ecn::Ect0), queue, &|_| None);
    assert_eq!((judged, rng), (Comparison::Judged(Verdict::Pass), before), "nothing is drawn");
}

/// A queue in the zone where every packet is dropped cannot lock itself up: while it stays empty
/// its average falls, whichever flow a packet belongs to.
#[test]
fn a_drop_at_an_empty_queue_leaves_it_idle() {
    let packets = |name, count| (name, Value::Size(Size::Packets(count)));
    let values = [packets("min_th", 5.0), packets("max_th", 10.0), ("w_q", Value::Number(0.002))];
    let choke = Choke::build(&ParamValues::new(&Choke::KINDS[0], &values).expect("known parameters"), &facts()).expect("valid");
    let mut queue = ManagedQueue::new(choke, Limit::packets(100)).with_rng(Rng::new(8));
    let arrive = |queue: &mut ManagedQueue<SimplePacket, Choke>, ns: u64, flow: u32| {
        queue.enqueue(Instant::from_nanos(ns), SimplePacket { flow, ..SimplePacket::new(1500) }, &mut NoSink);
        queue.view().packets.get()
    };
    (0..50_000).for_each(|flow| _ = arrive(&mut queue, 1 + u64::from(flow), flow));
    while queue.dequeue(Instant::from_nanos(1_000_000), &mut NoSink).is_some() {}
    assert_eq!(arrive(&mut queue, 2_000_000, 1), 0, "dropped: the average is {}", queue.aqm().red.average());
    assert_eq!(arrive(&mut queue, 1_002_000_000, 1), 1, "after a second of silence the average is {}", queue.aqm().red.average());
}

#[test]
fn thresholds_out_of_order_are_refused() {
    let packets = |name, count| (name, Value::Size(Size::Packets(count)));
    let values = [packets("min_th", 9.0), packets("max_th", 8.0)];
    let refused = Choke::build(&ParamValues::new(&Choke::KINDS[0], &values).expect("known parameters"), &facts());
    assert_eq!(
        refused.expect_err("a contradiction").to_string(),
        "max_th: 8 packets is below min_th (9 packets): allowed from min_th"
    );
}

/// Share of the departures for a flow that offers `load` times the rate of the link, alongside many
/// flows that together send just enough to keep some 40 packets waiting.
fn share_of_a_flood(load: f64) -> f64 {
    let packets = |name, count| (name, Value::Size(Size::Packets(count)));
    let values = [packets("min_th", 20.0), packets("max_th", 60.0), ("w_q", Value::Number(0.02))];
    let choke = Choke::build(&ParamValues::new(&Choke::KINDS[0], &values).expect("known parameters"), &facts()).expect("valid");
    let mut queue = ManagedQueue::new(choke, Limit::packets(300)).with_rng(Rng::new(6));
    let mut chance = Rng::new(7);
    let (mut id, mut flood, mut others, mut polite) = (0, 0, 0, 0.7);
    for turn in 0..60_000 {
        let now = Instant::from_nanos(1 + turn * 1_200_000);
        // One departure per iteration; both kinds arrive in random order.
        let mut coming: Vec<u32> = [load, polite]
            .iter()
            .zip([0, 1])
            .flat_map(|(&rate, flow)| {
                let count = rate as u32 + u32::from(chance.fires(rate - f64::from(rate as u32)));
                (0..count).map(move |_| flow)
            })
            .collect();
        while !coming.is_empty() {
            let flow = coming.swap_remove(chance.below(coming.len() as u64) as usize) * (1 + id as u32);
            queue.enqueue(now, SimplePacket { id, flow, ..SimplePacket::new(1500) }, &mut NoSink);
            id += 1;
        }
        let step: f64 = if queue.view().packets > Packets::new(40) { -0.002 } else { 0.002 };
        polite = (polite + step).clamp(0.05, 1.5);
        let departure = queue.dequeue(now, &mut NoSink);
        match departure.map(|departure| departure.packet.flow) {
            Some(0) if turn > 10_000 => flood += 1,
            Some(_) if turn > 10_000 => others += 1,
            _ => {}
        }
    }
    f64::from(flood) / f64::from(flood + others)
}

/// Tang, Wang and Low 2004: whatever one flow offers alongside many responsive ones, its share of
/// the link is at most 1 / (e + 1) = 0.269; the maximum is a little above the rate of the link, and
/// the share vanishes as the flow offers more.
#[test]
fn a_flood_gets_at_most_one_in_e_plus_one() {
    let shares = [0.5, 1.0, 1.2, 2.0, 4.0, 8.0].map(share_of_a_flood);
    assert!(shares.iter().all(|&share| share < 1.0 / (core::f64::consts::E + 1.0) + 0.02), "{shares:?}");
    assert!(shares[1] > 0.2 && shares[5] < 0.5 * shares[3] && shares[3] < shares[1], "{shares:?}");
}
