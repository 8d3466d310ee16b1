use super::*;
use crate::algo::tail_drop::TailDrop;
use crate::{ManagedQueue, NoSink, SimplePacket};
use std::string::ToString;
use std::vec::Vec;

type Tails = Htb<SimplePacket, ManagedQueue<SimplePacket, TailDrop>>;

const MBIT: u64 = 1_000_000;

fn class(parent: Option<u32>, rate: u64, ceil: u64, priority: u8) -> HtbClass {
    let (rate, ceil) = (Rate::bit_s(rate * MBIT), Rate::bit_s(ceil * MBIT));
    let burst = |rate: Rate| Duration::ns(1600 * 8_000_000_000 / rate.as_bit_s());
    HtbClass { parent, rate, ceil, burst: burst(rate), cburst: burst(ceil), quantum: Bytes::new(1500), priority }
}

fn queues(classes: usize) -> Vec<Option<Box<ManagedQueue<SimplePacket, TailDrop>>>> {
    (0..classes).map(|_| Some(Box::new(ManagedQueue::new(TailDrop, Limit::packets(1000))))).collect()
}

fn htb(classes: &[HtbClass]) -> Tails {
    let params = HtbParams { default: None, direct: Limit::packets(10), header: Bytes::ZERO, framing: Framing::default() };
    let mut htb = Htb::new(classes, params, queues(classes.len())).expect("a tree");
    for leaf in 0..classes.len() as u32 {
        htb.name(leaf, &leaf.to_string());
        htb.set_leaf(FlowHash(leaf), &leaf.to_string());
    }
    htb
}

fn packet(flow: u32) -> SimplePacket {
    SimplePacket { flow, ..SimplePacket::new(1000) }
}

/// Bytes that each flow gets in `span` while all of `flows` have packets, over a link without end.
fn shares(htb: &mut Tails, flows: &[u32], span: Duration) -> Vec<u64> {
    let mut bytes = std::vec![0; 16];
    let mut now = Instant::ZERO;
    for flow in flows {
        (0..900).for_each(|_| htb.enqueue(now, packet(*flow), &mut NoSink));
    }
    while now <= Instant::ZERO + span {
        while let Some(departure) = htb.dequeue(now, &mut NoSink) {
            bytes[departure.packet.flow as usize] += 1000;
            htb.enqueue(now, packet(departure.packet.flow), &mut NoSink);
        }
        now = htb.next_timer().expect("packets wait").max(now + Duration::ns(1));
        htb.handle_timer(now);
    }
    assert!(htb.counters().conserves(htb.view()));
    bytes
}

/// A share in Mbit/s over ten seconds.
fn mbit(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / 10.0 / 1e6
}

fn assert_shares(htb: &mut Tails, flows: &[u32], wanted: &[(usize, f64)]) {
    let found = shares(htb, flows, Duration::secs(10));
    for (flow, share) in wanted {
        let got = mbit(found[*flow]);
        assert!((got - share).abs() < 0.02 * share + 0.002, "flow {flow}: {got} instead of {share}");
    }
}

#[test]
fn a_lone_class_gets_its_rate_and_not_its_ceiling() {
    assert_shares(&mut htb(&[class(None, 2, 8, 0)]), &[0], &[(0, 2.0)]);
}

#[test]
fn what_one_leaves_the_others_get_by_turns_up_to_their_ceilings() {
    let classes = [class(None, 10, 10, 0), class(Some(0), 2, 10, 0), class(Some(0), 3, 4, 0), class(Some(0), 5, 10, 0)];
    assert_shares(&mut htb(&classes), &[1, 2, 3], &[(1, 2.0), (2, 3.0), (3, 5.0)]);
    // The third is silent: its 5 go to the others by equal turns, until one is at its ceiling.
    assert_shares(&mut htb(&classes), &[1, 2], &[(1, 6.0), (2, 4.0)]);
}

#[test]
fn the_excess_goes_to_the_most_urgent_first() {
    let classes = [class(None, 10, 10, 0), class(Some(0), 2, 10, 1), class(Some(0), 2, 10, 0)];
    assert_shares(&mut htb(&classes), &[1, 2], &[(1, 2.0), (2, 8.0)]);
}

#[test]
fn borrowing_goes_through_all_classes_above() {
    let classes = [
        class(None, 10, 10, 0),
        class(Some(0), 4, 10, 0),
        class(Some(0), 6, 10, 0),
        class(Some(1), 1, 10, 0),
        class(Some(1), 3, 5, 0),
        class(Some(2), 6, 10, 0),
    ];
    assert_shares(&mut htb(&classes), &[3, 4, 5], &[(3, 1.0), (4, 3.0), (5, 6.0)]);
    assert_shares(&mut htb(&classes), &[3, 5], &[(3, 4.0), (5, 6.0)]);
    assert_shares(&mut htb(&classes), &[3, 4], &[(3, 5.0), (4, 5.0)]);
}

#[test]
fn many_sites_that_borrow_at_once_all_get_their_turns() {
    const SITES: u32 = 40;
    let site = |_| class(Some(0), 1, 100, 0);
    let mut classes = std::vec![class(None, 100, 100, 0)];
    classes.extend((1..=SITES).map(site));
    classes.extend((1..=SITES).map(|site| class(Some(site), 1, 100, 0)));
    let mut htb = htb(&classes);
    for round in 0..50 {
        (1..=SITES).for_each(|site| htb.enqueue(Instant::ZERO, packet(SITES + site), &mut NoSink));
        assert!(round > 0 || htb.dequeue(Instant::ZERO, &mut NoSink).is_some());
    }
    let mut now = Instant::ZERO;
    let mut left = 0;
    while !htb.view().packets.is_zero() {
        while htb.dequeue(now, &mut NoSink).is_some() {
            left += 1;
        }
        let next = htb.next_timer().unwrap_or(now);
        // All buckets together let 80 kB out at once, which take 6.4 ms.
        assert!(next <= now + Duration::us(6400) || htb.view().packets.is_zero(), "nothing leaves from {now} to {next}");
        now = next.max(now + Duration::ns(1));
        htb.handle_timer(now);
    }
    assert_eq!(left, 50 * SITES - 1);
    assert!(now <= Instant::ZERO + Duration::ms(165), "2 MB at 100 Mbit/s take 160 ms: {now}");
}

#[test]
fn a_class_at_the_root_is_bound_by_its_parent_alone() {
    let classes = [class(None, 2, 2, 0), class(None, 3, 3, 0)];
    assert_shares(&mut htb(&classes), &[0, 1], &[(0, 2.0), (1, 3.0)]);
}

#[test]
fn flows_without_a_leaf_leave_first_and_unshaped() {
    let mut htb = htb(&[class(None, 1, 1, 0)]);
    (0..3).for_each(|_| htb.enqueue(Instant::ZERO, packet(0), &mut NoSink));
    (0..12).for_each(|_| htb.enqueue(Instant::ZERO, packet(77), &mut NoSink));
    let left: Vec<u32> = core::iter::from_fn(|| htb.dequeue(Instant::ZERO, &mut NoSink)).map(|d| d.packet.flow).collect();
    assert_eq!(left, [[77; 10].as_slice(), &[0, 0]].concat(), "a bucket of 1600 bytes lets two packets out");
    assert_eq!(htb.counters().overflow().packets.get(), 2);
    assert_eq!(htb.next_timer(), Some(Instant::from_nanos(3_200_000)), "400 bytes are owed");
    assert!(htb.counters().conserves(htb.view()));
}

#[test]
fn trees_with_a_fault_are_refused() {
    let new = |classes: &[HtbClass]| {
        let params = HtbParams { default: None, direct: Limit::packets(0), header: Bytes::ZERO, framing: Framing::default() };
        Tails::new(classes, params, queues(classes.len())).map(|_| ())
    };
    assert_eq!(new(&[class(Some(1), 1, 1, 0)]), Err(HtbFault::Parent(0)));
    assert_eq!(new(&[class(Some(1), 1, 1, 0), class(Some(0), 1, 1, 0)]), Err(HtbFault::Circle(0)));
    assert_eq!(new(&[class(Some(1), 1, 1, 0), class(None, 1, 1, 0)]), Ok(()), "parents may come later");
    let chain: Vec<HtbClass> = (0..9).map(|number: u32| class(number.checked_sub(1), 1, 1, 0)).collect();
    assert_eq!(new(&chain), Err(HtbFault::TooDeep(8)));
    assert_eq!(new(&chain[..8]), Ok(()));
}
