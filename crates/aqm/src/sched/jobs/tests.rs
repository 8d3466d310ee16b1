use super::*;
use crate::qdisc::{NoSink, SimplePacket};
use goodqueue_base::units::Class;
use std::vec::Vec;

fn packet(class: u8, id: u32) -> SimplePacket {
    SimplePacket { id: id.into(), flow: class.into(), class: Class::new(class), ..SimplePacket::new(1000) }
}

fn queue(promises: Vec<Promise>, packets: u64) -> Jobs<SimplePacket> {
    let params = JobsParams { promises, separate: false, drop: DropEnd::Tail, sampling: 1, shares_pain: false, projection: None };
    let limit = Limit { packets: Packets::new(packets), bytes: Bytes::new(1_000_000_000) };
    let mut queue = Jobs::new(params, limit, Bytes::new(1500));
    // A packet a millisecond.
    queue.set_link_rate(Instant::ZERO, Some(Rate::mbit(8)));
    queue
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::ms(ms)
}

#[test]
fn classes_without_promises_share_the_link_equally() {
    let mut queue = queue(alloc::vec![Promise::default(); 2], 1_000);
    for id in 0..40 {
        queue.enqueue(at(0), packet((id % 2) as u8, id), &mut NoSink);
    }
    let mut sent = [0; 2];
    for ms in 0..20 {
        sent[queue.dequeue(at(ms), &mut NoSink).expect("waits").packet.flow as usize] += 1;
    }
    assert_eq!(sent, [10, 10]);
}

/// A class that is promised 20 ms has 20 packets sent within 20 ms at most; what cannot be sent in
/// time is dropped.
#[test]
fn a_delay_bound_holds_by_rate_and_then_by_drops() {
    let bound = Promise { delay_bound: Some(0.02), ..Promise::default() };
    let mut queue = queue(alloc::vec![bound, Promise::default()], 1_000);
    for id in 0..30 {
        queue.enqueue(at(0), packet(0, id), &mut NoSink);
        queue.enqueue(at(0), packet(1, id), &mut NoSink);
    }
    assert_eq!(queue.counters().dropped(Reason::Early).packets, Packets::new(10));
    let mut ms = 0;
    while queue.view().packets > Packets::ZERO {
        let out = queue.dequeue(at(ms), &mut NoSink).expect("waits");
        assert!(out.packet.flow == 0 || ms <= 20, "a packet of the bounded class leaves at {ms} ms");
        ms += 1;
    }
}

/// A bound of loss goes before one of delay.
#[test]
fn a_loss_bound_stops_drops_for_delay() {
    let both = Promise { delay_bound: Some(0.02), loss_bound: Some(0.1), ..Promise::default() };
    let mut queue = queue(alloc::vec![both, Promise::default()], 1_000);
    (0..40).for_each(|id| queue.enqueue(at(0), packet(1, id), &mut NoSink));
    assert_eq!(queue.counters().dropped(Reason::Early).packets, Packets::new(4));
}

/// Losses of two classes that offer the same stand in the relation of their shares.
#[test]
fn a_full_buffer_takes_from_classes_by_their_loss_shares() {
    let share = |share| Promise { loss_share: Some(share), ..Promise::default() };
    let mut queue = queue(alloc::vec![share(1.0), share(3.0)], 50);
    let mut lost = [0_u32; 2];
    struct Count<'a>(&'a mut [u32; 2]);
    impl Sink<SimplePacket> for Count<'_> {
        fn dropped(&mut self, packet: SimplePacket, _: crate::qdisc::Dropped) {
            self.0[packet.flow as usize] += 1;
        }
        fn marked(&mut self, _: &SimplePacket, _: Reason) {}
    }
    for ms in 0..2_000 {
        for class in 0..2 {
            queue.enqueue(at(ms), packet(class, 0), &mut Count(&mut lost));
        }
        let _ = queue.dequeue(at(ms), &mut NoSink);
    }
    // Flow 1 is the more urgent class, with share 1.
    let ratio = f64::from(lost[0]) / f64::from(lost[1]);
    assert!((2.9..3.1).contains(&ratio), "{lost:?}");
}

#[test]
fn a_late_packet_goes_from_the_head() {
    let bound = Promise { delay_bound: Some(0.02), ..Promise::default() };
    let mut queue = queue(alloc::vec![bound], 1_000);
    queue.enqueue(at(0), packet(0, 1), &mut NoSink);
    queue.enqueue(at(30), packet(0, 2), &mut NoSink);
    assert_eq!(queue.dequeue(at(30), &mut NoSink).map(|out| out.packet.id), Some(2));
}
