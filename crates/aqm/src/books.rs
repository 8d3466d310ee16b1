//! The bookkeeping every queue shares: what an algorithm is shown, the carrying out of verdicts, and the counters.
//!
//! [`crate::ManagedQueue`] and [`crate::FairQueue`] differ in how they store packets; everything else they do to a packet is here.

use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::counters::Counters;
use crate::qdisc::{Departure, Dropped, Packet, Sink};
use crate::queue::EcnPolicy;
use goodqueue_units::{Bytes, Ecn, Instant, Rate, Rng};

/// A waiting packet and its time stamp.
#[derive(Clone, Debug)]
pub(crate) struct Entry<P> {
    pub(crate) packet: P,
    pub(crate) enqueued_at: Instant,
}

/// A packet just taken from the head of a queue.
pub(crate) struct Popped<P> {
    pub(crate) entry: Entry<P>,
    /// What the algorithm is shown as still waiting.
    pub(crate) rest: QueueView,
    /// Nothing of the same queue waits behind it.
    pub(crate) last: bool,
}

/// ECN policy, facts about the link, random stream and counters of one queue discipline.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    pub(crate) ecn: EcnPolicy,
    pub(crate) link_rate: Option<Rate>,
    pub(crate) overhead: Bytes,
    pub(crate) rng: Rng,
    pub(crate) counters: Counters,
}

impl Books {
    /// Drops rather than marks; random stream 0; no known link rate.
    pub(crate) fn new() -> Self {
        Self { ecn: EcnPolicy::Drop, link_rate: None, overhead: Bytes::ZERO, rng: Rng::new(0), counters: Counters::default() }
    }

    #[inline]
    pub(crate) fn env(&mut self, now: Instant) -> Env<'_> {
        Env { now, link_rate: self.link_rate, overhead: self.overhead, rng: &mut self.rng }
    }

    /// What an algorithm is shown of `packet`.
    #[inline]
    pub(crate) fn shown<P: Packet>(&self, packet: &P, enqueued_at: Instant) -> PacketView {
        let ecn = match self.ecn {
            EcnPolicy::Drop => Ecn::NotEct,
            EcnPolicy::Mark => packet.ecn(),
        };
        PacketView { len: packet.len(), ecn, flow: packet.flow(), enqueued_at }
    }

    /// Counts an offered packet.
    #[inline]
    pub(crate) fn arrive<P: Packet>(&mut self, packet: &P) {
        let len = packet.len();
        self.counters.arrived.add(len);
        if packet.ecn().is_capable() {
            self.counters.arrived_ect.add(len);
        }
    }

    /// Counts and reports a drop.
    #[inline]
    pub(crate) fn discard<P: Packet>(&mut self, entry: Entry<P>, reason: Reason, sink: &mut dyn Sink<P>) {
        self.counters.drop_for(reason, entry.packet.len());
        sink.dropped(entry.packet, Dropped { reason, enqueued_at: entry.enqueued_at });
    }

    #[inline]
    fn mark<P: Packet>(&mut self, packet: &mut P, reason: Reason, sink: &mut dyn Sink<P>) {
        if packet.ecn() != Ecn::Ce {
            packet.set_ce();
            self.counters.marked.add(packet.len());
            sink.marked(packet, reason);
        }
    }

    /// Carries out `verdict` on a packet that was shown with codepoint `ecn`; the packet comes back unless it was dropped.
    #[inline]
    fn carry_out<P: Packet>(
        &mut self,
        verdict: Verdict,
        ecn: Ecn,
        mut entry: Entry<P>,
        sink: &mut dyn Sink<P>,
    ) -> Option<Entry<P>> {
        match verdict {
            Verdict::Pass => {}
            Verdict::Signal(reason) | Verdict::Mark(reason) if ecn.is_capable() => self.mark(&mut entry.packet, reason, sink),
            Verdict::Mark(_) => {}
            Verdict::Signal(reason) | Verdict::Drop(reason) => {
                self.discard(entry, reason, sink);
                return None;
            }
        }
        Some(entry)
    }

    /// Asks `aqm` about an arriving packet that fits; what comes back is to be queued.
    #[inline]
    pub(crate) fn admit<P: Packet, A: Aqm>(
        &mut self,
        aqm: &mut A,
        now: Instant,
        packet: P,
        queue: QueueView,
        sink: &mut dyn Sink<P>,
    ) -> Option<Entry<P>> {
        let shown = self.shown(&packet, now);
        let verdict = aqm.on_arrival(&mut self.env(now), shown, queue);
        self.carry_out(verdict, shown.ecn, Entry { packet, enqueued_at: now }, sink)
    }

    /// Pops heads until `aqm` lets one go; tells `aqm` when the queue ran empty.
    #[inline]
    pub(crate) fn release<P: Packet, A: Aqm>(
        &mut self,
        aqm: &mut A,
        now: Instant,
        sink: &mut dyn Sink<P>,
        mut pop: impl FnMut() -> Option<Popped<P>>,
    ) -> Option<Departure<P>> {
        while let Some(Popped { entry, rest, last }) = pop() {
            let shown = self.shown(&entry.packet, entry.enqueued_at);
            let verdict = aqm.on_departure(&mut self.env(now), shown, rest);
            if let Some(Entry { packet, enqueued_at }) = self.carry_out(verdict, shown.ecn, entry, sink) {
                self.counters.departed.add(shown.len);
                if last {
                    aqm.on_emptied(now);
                }
                return Some(Departure { packet, enqueued_at });
            }
        }
        aqm.on_idle(now);
        None
    }

    /// Takes note of the link's rate; true when it changed.
    pub(crate) fn set_link_rate(&mut self, rate: Option<Rate>) -> bool {
        let changed = self.link_rate != rate;
        self.link_rate = rate;
        changed
    }
}
