//! An algorithm that compares an arriving packet with a waiting one: what the queue shows it,
//! drops, and counts.

use goodqueue_aqm::{
    Aqm, Comparison, Dropped, Env, Limit, ManagedQueue, PacketView, Qdisc, QueueView, Reason, SimplePacket, Sink, Verdict,
};
use goodqueue_base::units::{Bytes, Instant, Packets};

/// Compares every packet with the one `place` places behind the head and drops both if they are of
/// one flow.
struct Nosy {
    place: usize,
    emptied: u32,
}

impl Aqm for Nosy {
    fn on_arrival(&mut self, _: &mut Env<'_>, _: PacketView, _: QueueView) -> Verdict {
        Verdict::Compare
    }

    fn on_comparison(
        &mut self,
        _: &mut Env<'_>,
        packet: PacketView,
        queue: QueueView,
        waiting: &dyn Fn(usize) -> Option<PacketView>,
    ) -> Comparison {
        let all = usize::try_from(queue.packets.get()).expect("few packets");
        assert!((0..all).all(|place| waiting(place).is_some()) && waiting(all).is_none());
        match waiting(self.place) {
            Some(other) if other.flow == packet.flow => Comparison::DropBoth(self.place, Reason::Match),
            _ => Comparison::Judged(Verdict::Pass),
        }
    }

    fn on_emptied(&mut self, _: Instant) {
        self.emptied += 1;
    }
}

#[derive(Default)]
struct Log(Vec<(u64, Reason)>);

impl Sink<SimplePacket> for Log {
    fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
        self.0.push((packet.id, drop.reason));
    }
    fn marked(&mut self, _: &SimplePacket, _: Reason) {
        panic!("nothing is ECN-capable");
    }
}

fn packet(id: u64, flow: u32) -> SimplePacket {
    SimplePacket { id, flow, ..SimplePacket::new(100 + id as u32) }
}

/// Offers packets of these flows. Returns the dropped packets, the departing ones, and how often
/// the queue reported running empty.
fn offer(place: usize, flows: &[u32]) -> (Vec<u64>, Vec<u64>, u32) {
    let mut queue = ManagedQueue::new(Nosy { place, emptied: 0 }, Limit::packets(10));
    let mut log = Log::default();
    let now = Instant::from_nanos(5);
    for (id, &flow) in flows.iter().enumerate() {
        queue.enqueue(now, packet(id as u64, flow), &mut log);
        assert!(queue.counters().conserves(queue.view()));
    }
    let emptied = queue.aqm().emptied;
    let mut left = Vec::new();
    while let Some(departure) = queue.dequeue(now, &mut log) {
        left.push(departure.packet.id);
    }
    assert!(log.0.iter().all(|&(_, reason)| reason == Reason::Match));
    assert_eq!(queue.view(), QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO });
    (log.0.iter().map(|&(id, _)| id).collect(), left, emptied)
}

#[test]
fn both_are_dropped_and_the_others_keep_their_order() {
    assert_eq!(offer(1, &[7, 8, 9, 8]), (vec![1, 3], vec![0, 2], 0));
    assert_eq!(offer(0, &[7, 8, 9, 9]), (vec![], vec![0, 1, 2, 3], 0));
    assert_eq!(offer(2, &[1, 2, 3, 4, 3, 3]), (vec![2, 4], vec![0, 1, 3, 5], 0));
}

#[test]
fn a_match_may_leave_nothing_behind() {
    assert_eq!(offer(0, &[7, 7]), (vec![0, 1], vec![], 1));
    assert_eq!(offer(0, &[7, 7, 7]), (vec![0, 1], vec![2], 1));
}
