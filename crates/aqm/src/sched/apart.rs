//! Queues within others, compiled apart from those that stand alone.
//!
//! A compiler inlines what is called from one place. If a priority's bands and the queue of a plain
//! link were of one type, neither would be inlined, and every link would pay for a scheduler that
//! few have, with a tenth more instructions per packet. So packets within others carry another
//! type, and nothing else.

use crate::ack::PureAck;
use crate::aqm::{FlowHash, Hosts, QueueView, Reason};
use crate::counters::Counters;
use crate::qdisc::{Departure, Dropped, Outlook, Packet, Qdisc, Sink};
use goodqueue_units::{Bytes, Class, Ecn, Instant, Rate};

/// A packet in a queue within another.
#[derive(Clone, Copy, Debug)]
pub struct Within<P>(P);

impl<P: Packet> Packet for Within<P> {
    #[inline]
    fn len(&self) -> Bytes {
        self.0.len()
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.0.ecn()
    }
    #[inline]
    fn set_ce(&mut self) {
        self.0.set_ce();
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        self.0.flow()
    }
    #[inline]
    fn class(&self) -> Class {
        self.0.class()
    }
    fn hosts(&self) -> Hosts {
        self.0.hosts()
    }
    fn pure_ack(&self) -> Option<PureAck> {
        self.0.pure_ack()
    }
}

/// Reports as the owner of the outer queue expects them.
struct Outward<'a, P>(&'a mut dyn Sink<P>);

impl<P> Sink<Within<P>> for Outward<'_, P> {
    fn dropped(&mut self, packet: Within<P>, drop: Dropped) {
        self.0.dropped(packet.0, drop);
    }
    fn marked(&mut self, packet: &Within<P>, reason: Reason) {
        self.0.marked(&packet.0, reason);
    }
}

/// A queue of packets within another.
#[derive(Clone, Debug)]
pub struct Apart<Q>(pub(super) Q);

impl<P: Packet, Q: Qdisc<Within<P>>> Qdisc<P> for Apart<Q> {
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.0.enqueue(now, Within(packet), &mut Outward(sink));
    }
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        let Departure { packet, enqueued_at } = self.0.dequeue(now, &mut Outward(sink))?;
        Some(Departure { packet: packet.0, enqueued_at })
    }
    fn next_timer(&self) -> Option<Instant> {
        self.0.next_timer()
    }
    #[inline]
    fn outlook(&self) -> Outlook {
        self.0.outlook()
    }
    fn handle_timer(&mut self, now: Instant) {
        self.0.handle_timer(now);
    }
    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        self.0.set_weight(flow, weight);
    }
    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.0.set_link_rate(now, rate);
    }
    fn reserve(&mut self, packets: usize) {
        self.0.reserve(packets);
    }
    fn view(&self) -> QueueView {
        self.0.view()
    }
    fn counters(&self) -> Counters {
        self.0.counters()
    }
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(visit);
    }
}
