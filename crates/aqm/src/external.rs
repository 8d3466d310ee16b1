//! A queue that another program has, such as a kernel: the packets stay here, and it says of each
//! by its number what becomes of it.

use crate::aqm::{FlowHash, QueueView, Reason};
use crate::counters::Counters;
use crate::qdisc::{Departure, Dropped, Packet, Qdisc, Sink};
use crate::queue::Limit;
use crate::spec::{LinkFacts, ParamError};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use goodqueue_base::units::{Bytes, Class, Ecn, Instant, Packets, Rate, Rng};

/// A packet as it is described to the other program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedPacket {
    /// The packet's number while it waits; later packets reuse it.
    pub number: u32,
    /// Size without framing.
    pub len: Bytes,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Flow.
    pub flow: FlowHash,
    /// Class.
    pub class: Class,
}

/// The events of one call: the packet that left, the packets dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueEvents {
    /// The number of the packet that left, and its codepoint by then.
    pub left: Option<(u32, Ecn)>,
    /// Numbers of packets that were dropped.
    pub dropped: Vec<u32>,
}

/// The queue of another program.
pub trait ExternalQueue: fmt::Debug + Send + Sync {
    /// A packet arrives. Adds what happens to `happened`.
    fn offer(&mut self, now: Instant, packet: OfferedPacket, happened: &mut QueueEvents);

    /// The link asks for a packet. Adds what happens to `happened`.
    fn take(&mut self, now: Instant, happened: &mut QueueEvents);

    /// The time to ask again, after it gave no packet although some wait.
    fn next_release(&self) -> Option<Instant>;
}

/// Opens queues of another program.
pub trait ExternalQueueKind: fmt::Debug + Send + Sync {
    /// A queue for a link, with random numbers of `rng`.
    ///
    /// # Errors
    /// When the other program refuses it.
    fn open(&self, link: &LinkFacts, rng: Rng) -> Result<Box<dyn ExternalQueue>, ParamError>;
}

/// A queue without packets: the other end of a copy, since a queue of another program cannot be
/// copied.
#[derive(Clone, Copy, Debug)]
struct Detached;

impl ExternalQueue for Detached {
    fn offer(&mut self, _: Instant, packet: OfferedPacket, happened: &mut QueueEvents) {
        happened.dropped.push(packet.number);
    }
    fn take(&mut self, _: Instant, _: &mut QueueEvents) {}
    fn next_release(&self) -> Option<Instant> {
        None
    }
}

#[derive(Clone, Debug)]
struct Held<P> {
    packet: P,
    enqueued_at: Instant,
    ecn: Ecn,
}

/// A queue whose packets are here and whose decisions are another program's.
///
/// Why a packet was dropped follows from when: an arriving one for want of room or early, another
/// one at an arrival because of the limit of all, and at a departure by the algorithm. A mark is
/// counted when its packet leaves. A copy drops all that arrives.
#[derive(Debug)]
pub struct ExternalScheduler<P> {
    far: Box<dyn ExternalQueue>,
    held: Vec<Option<Held<P>>>,
    free: Vec<u32>,
    limit: Limit,
    waiting: QueueView,
    counters: Counters,
    is_held_back: bool,
    happened: QueueEvents,
}

impl<P> Clone for ExternalScheduler<P> {
    fn clone(&self) -> Self {
        Self::new(Box::new(Detached), self.limit)
    }
}

impl<P> ExternalScheduler<P> {
    /// A queue over `far`, which states its limit itself; `limit` serves to tell drops for want of
    /// room from others.
    #[must_use]
    pub fn new(far: Box<dyn ExternalQueue>, limit: Limit) -> Self {
        Self {
            far,
            held: Vec::new(),
            free: Vec::new(),
            limit,
            waiting: QueueView::default(),
            counters: Counters::default(),
            is_held_back: false,
            happened: QueueEvents::default(),
        }
    }

    /// Takes out a packet. The other program may say anything, and so also numbers that nothing
    /// has.
    fn release(&mut self, number: u32, len: impl FnOnce(&P) -> Bytes) -> Option<Held<P>> {
        let held = self.held.get_mut(number as usize)?.take()?;
        self.free.push(number);
        self.waiting.packets -= Packets::new(1);
        self.waiting.backlog -= len(&held.packet);
        Some(held)
    }

    fn hold(&mut self, held: Held<P>) -> u32 {
        if let Some(number) = self.free.pop() {
            self.held[number as usize] = Some(held);
            return number;
        }
        self.held.push(Some(held));
        (self.held.len() - 1) as u32
    }
}

impl<P: Packet> ExternalScheduler<P> {
    fn report_drops(&mut self, sink: &mut dyn Sink<P>, reason: impl Fn(u32) -> Reason) {
        for at in 0..self.happened.dropped.len() {
            let number = self.happened.dropped[at];
            let Some(held) = self.release(number, P::len) else { continue };
            let reason = reason(number);
            self.counters.drop_for(reason, held.packet.len());
            sink.dropped(held.packet, Dropped { reason, enqueued_at: held.enqueued_at });
        }
        self.happened.dropped.clear();
    }
}

// Never inlined, and behind a pointer: other queues pay nothing for it.
impl<P: Packet> Qdisc<P> for ExternalScheduler<P> {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        let (len, ecn, flow, class) = (packet.len(), packet.ecn(), packet.flow(), packet.class());
        self.counters.arrive(len, ecn);
        let is_full = self.waiting.packets >= self.limit.packets || self.waiting.backlog + len > self.limit.bytes;
        self.waiting.packets += Packets::new(1);
        self.waiting.backlog += len;
        let number = self.hold(Held { packet, enqueued_at: now, ecn });
        self.far.offer(now, OfferedPacket { number, len, ecn, flow, class }, &mut self.happened);
        self.report_drops(sink, |dropped| match (dropped == number, is_full) {
            (true, true) => Reason::Overflow,
            (true, false) => Reason::Early,
            (false, _) => Reason::OverLimit,
        });
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        self.happened.left = None;
        self.far.take(now, &mut self.happened);
        self.report_drops(sink, |_| Reason::Head);
        let departure = self.happened.left.and_then(|(number, ecn)| {
            let Held { mut packet, enqueued_at, ecn: before } = self.release(number, P::len)?;
            self.counters.departed.add(packet.len());
            if ecn == Ecn::Ce && before != Ecn::Ce {
                packet.set_ce();
                self.counters.marked.add(packet.len());
                sink.marked(&packet, Reason::Head);
            }
            Some(Departure { packet, enqueued_at })
        });
        self.is_held_back = departure.is_none() && !self.waiting.packets.is_zero();
        departure
    }

    #[inline(never)]
    fn next_timer(&self) -> Option<Instant> {
        if self.is_held_back { self.far.next_release() } else { None }
    }

    #[inline(never)]
    fn handle_timer(&mut self, _: Instant) {}

    /// Does nothing: the other program got the facts of the link when the queue was opened.
    #[inline(never)]
    fn set_link_rate(&mut self, _: Instant, _: Option<Rate>) {}

    #[inline(never)]
    fn view(&self) -> QueueView {
        self.waiting
    }

    #[inline(never)]
    fn counters(&self) -> Counters {
        self.counters.clone()
    }

    #[inline(never)]
    fn gauges(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::{NoSink, SimplePacket};
    use goodqueue_base::units::Duration;

    /// A FIFO of two packets that marks every second one and speaks of packets that are not there.
    #[derive(Debug, Default)]
    struct Two {
        waiting: Vec<OfferedPacket>,
        taken: u32,
    }

    impl ExternalQueue for Two {
        fn offer(&mut self, _: Instant, packet: OfferedPacket, happened: &mut QueueEvents) {
            if self.waiting.len() == 2 {
                happened.dropped.extend([packet.number, 77]);
            } else {
                self.waiting.push(packet);
            }
        }
        fn take(&mut self, _: Instant, happened: &mut QueueEvents) {
            if !self.waiting.is_empty() {
                self.taken += 1;
                let packet = self.waiting.remove(0);
                let ecn = if self.taken.is_multiple_of(2) { Ecn::Ce } else { packet.ecn };
                happened.left = Some((packet.number, ecn));
            }
        }
        fn next_release(&self) -> Option<Instant> {
            None
        }
    }

    #[derive(Default)]
    struct Seen {
        dropped: Vec<(u64, Reason)>,
        marked: Vec<u64>,
    }

    impl Sink<SimplePacket> for Seen {
        fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
            self.dropped.push((packet.id, drop.reason));
        }
        fn marked(&mut self, packet: &SimplePacket, _: Reason) {
            self.marked.push(packet.id);
        }
    }

    #[test]
    fn packets_follow_what_the_other_program_says() {
        let at = |ms| Instant::ZERO + Duration::ms(ms);
        let packet = |id| SimplePacket { id, ecn: Ecn::Ect0, ..SimplePacket::new(1000) };
        let mut queue = ExternalScheduler::new(Box::new(Two::default()), Limit::packets(2));
        let mut seen = Seen::default();
        for id in 1..=3 {
            queue.enqueue(at(id), packet(id), &mut seen);
        }
        assert_eq!(seen.dropped, [(3, Reason::Overflow)]);
        for id in 1..=2 {
            let departure = queue.dequeue(at(10), &mut seen).expect("a packet waits");
            assert_eq!((departure.packet.id, departure.enqueued_at), (id, at(id)));
            assert!(queue.counters().conserves(queue.view()));
        }
        assert_eq!((queue.dequeue(at(11), &mut NoSink), seen.marked.as_slice()), (None, &[2][..]));
        queue.enqueue(at(12), packet(4), &mut NoSink);
        let mut copy = queue.clone();
        copy.enqueue(at(13), packet(5), &mut NoSink);
        assert_eq!((copy.view().packets.get(), queue.view().packets.get()), (0, 1));
    }
}
