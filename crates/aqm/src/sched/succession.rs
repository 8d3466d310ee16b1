//! Replacing a queue while packets wait in it.

use super::AnyQdisc;
use crate::aqm::{FlowHash, QueueView};
use crate::counters::Counters;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use alloc::vec::Vec;
use goodqueue_base::units::{Instant, Rate};

/// A queue and its predecessors. Arrivals go to the present queue. Packets that wait in its
/// predecessors leave first, those of the oldest before all others, each by the rules of its queue.
/// A change of parameters hence loses neither packets nor their times of arrival.
#[derive(Clone, Debug)]
pub struct Succession<P> {
    /// Predecessors that still hold packets, the oldest first. They accept no arrivals.
    retired: Vec<AnyQdisc<P>>,
    /// Counters of predecessors that were emptied and removed.
    past: Counters,
    queue: AnyQdisc<P>,
}

impl<P: Packet> Succession<P> {
    /// `queue` without predecessors.
    pub(super) fn new(queue: AnyQdisc<P>) -> Self {
        Self { retired: Vec::new(), past: Counters::default(), queue }
    }

    /// Adds `before` as the latest predecessor if it holds packets; else nothing of it is kept but
    /// what it counted, so that changes while nothing passes take no memory.
    pub(super) fn retire(&mut self, before: AnyQdisc<P>) {
        if before.view().packets.is_zero() {
            self.past = self.past.clone() + before.counters();
        } else {
            self.retired.push(before);
        }
    }

    /// Replaces the present queue, which becomes the latest predecessor.
    pub(super) fn succeed(&mut self, queue: AnyQdisc<P>) {
        let before = core::mem::replace(&mut self.queue, queue);
        self.retire(before);
    }

    fn all(&self) -> impl Iterator<Item = &AnyQdisc<P>> {
        self.retired.iter().chain([&self.queue])
    }
}

// Never inlined: the calls are recursive through `AnyQdisc`.
impl<P: Packet> Qdisc<P> for Succession<P> {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.queue.enqueue(now, packet, sink);
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        while let Some(oldest) = self.retired.first_mut() {
            let departure = oldest.dequeue(now, sink);
            let is_empty = oldest.view().packets.is_zero();
            if is_empty {
                let gone = self.retired.remove(0);
                self.past = self.past.clone() + gone.counters();
            }
            if departure.is_some() || !is_empty {
                return departure;
            }
        }
        self.queue.dequeue(now, sink)
    }

    #[inline(never)]
    fn next_timer(&self) -> Option<Instant> {
        self.all().filter_map(Qdisc::next_timer).min()
    }

    fn is_timeless(&self) -> bool {
        self.all().all(Qdisc::is_timeless)
    }

    #[inline(never)]
    fn handle_timer(&mut self, now: Instant) {
        self.retired.iter_mut().for_each(|queue| queue.handle_timer(now));
        self.queue.handle_timer(now);
    }

    #[inline(never)]
    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.retired.iter_mut().for_each(|queue| queue.set_link_rate(now, rate));
        self.queue.set_link_rate(now, rate);
    }

    #[inline(never)]
    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        self.queue.set_weight(flow, weight);
    }

    fn set_leaf(&mut self, flow: FlowHash, leaf: &str) {
        self.queue.set_leaf(flow, leaf);
    }

    fn reserve(&mut self, packets: usize) {
        self.queue.reserve(packets);
    }

    #[inline(never)]
    fn view(&self) -> QueueView {
        self.all().map(Qdisc::view).sum()
    }

    #[inline(never)]
    fn counters(&self) -> Counters {
        self.all().map(Qdisc::counters).fold(self.past.clone(), |sum, counters| sum + counters)
    }

    #[inline(never)]
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.queue.gauges(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::EcnPolicy;
    use crate::qdisc::{NoSink, SimplePacket};
    use crate::queue::Limit;
    use crate::spec::LinkFacts;
    use goodqueue_base::units::{Bytes, Duration, Rng};

    fn queue(kind: &str) -> AnyQdisc<SimplePacket> {
        let spec = crate::sched::kind(kind).expect("a kind of this crate");
        let mtu = Bytes::new(1500);
        let facts =
            LinkFacts { rate: Some(Rate::mbit(10)), delay: Duration::ms(5), mtu, overhead: Bytes::ZERO, limit: Limit::NONE };
        AnyQdisc::build(spec, &[], &facts, EcnPolicy::Drop, Rng::new(1)).expect("its defaults are good")
    }

    #[test]
    fn packets_leave_in_order_with_times_and_counts_are_conserved() {
        let at = |ms| Instant::ZERO + Duration::ms(ms);
        let packet = |id| SimplePacket { id, ..SimplePacket::new(1000) };
        let mut line = queue("tail-drop");
        line.enqueue(at(1), packet(1), &mut NoSink);
        line.succeed(queue("codel"));
        line.enqueue(at(2), packet(2), &mut NoSink);
        line.succeed(queue("fq-codel"));
        line.enqueue(at(3), packet(3), &mut NoSink);
        assert_eq!(line.view().packets.get(), 3);
        for id in 1..=3 {
            let departure = line.dequeue(at(4), &mut NoSink).expect("a packet waits");
            assert_eq!((departure.packet.id, departure.enqueued_at), (id, at(id)));
            assert!(line.counters().conserves(line.view()));
        }
        assert_eq!(line.dequeue(at(5), &mut NoSink), None);
        assert_eq!(line.counters().departed.packets.get(), 3);
        assert_eq!(line.counters().arrived.packets.get(), 3);
        let mut names = Vec::new();
        line.gauges(&mut |name, _| names.push(name));
        assert_eq!(names, ["new_flows", "old_flows"], "those of the queue there is now");
    }

    #[test]
    fn a_thousand_successors_nest_no_calls() {
        let mut line = queue("tail-drop");
        for step in 0..1000 {
            line.enqueue(Instant::ZERO, SimplePacket { id: step, ..SimplePacket::new(100) }, &mut NoSink);
            line.succeed(queue("tail-drop"));
        }
        let AnyQdisc::Succession(succession) = &line else { panic!("a succession") };
        assert!(succession.retired.iter().all(|queue| !matches!(queue, AnyQdisc::Succession(_))));
        assert!(line.is_timeless(), "tail drop has no timer");
        (0..1000).for_each(|_| line.succeed(queue("fq-codel")));
        let AnyQdisc::Succession(succession) = &line else { panic!("a succession") };
        assert_eq!(succession.retired.len(), 1000, "those that hold nothing are not kept");
        let out = core::iter::from_fn(|| line.dequeue(Instant::ZERO, &mut NoSink));
        assert!(out.map(|departure| departure.packet.id).eq(0..1000));
    }

    #[test]
    fn what_waited_before_leaves_by_the_rules_it_came_under() {
        let at = |ms| Instant::ZERO + Duration::ms(ms);
        let mut line = queue("codel");
        (0..50).for_each(|_| line.enqueue(at(0), SimplePacket::new(1000), &mut NoSink));
        line.succeed(queue("tail-drop"));
        (0..50).for_each(|_| line.enqueue(at(0), SimplePacket::new(1000), &mut NoSink));
        let mut sent = 0;
        for step in 1.. {
            if line.dequeue(at(10 * step), &mut NoSink).is_none() {
                break;
            }
            sent += 1;
        }
        let dropped = line.counters().dropped_total().packets.get();
        assert_eq!(sent + dropped, 100);
        assert!(dropped > 0 && dropped < 50, "CoDel drops of its own fifty, tail drop of none: {dropped}");
    }
}
