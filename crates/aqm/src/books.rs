//! The bookkeeping every queue shares: what an algorithm is shown, the carrying out of verdicts,
//! and the counters.
//!
//! [`crate::ManagedQueue`] and [`crate::FairQueue`] differ in how they store packets; everything
//! else they do to a packet is here.

use crate::aqm::{Aqm, Comparison, Env, PacketView, QueueView, Reason, Verdict};
use crate::counters::Counters;
use crate::qdisc::{Departure, Dropped, Packet, Sink};
use goodqueue_base::units::{Bytes, Ecn, Instant, Rate, Rng};

/// Whether a queue may mark packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnPolicy {
    /// Never: the algorithm is shown every packet as Not-ECT, so its signals become drops.
    #[default]
    Drop,
    /// Signals on ECN-capable packets become marks.
    Mark,
}

/// A waiting packet and its time stamp.
#[derive(Clone, Debug)]
pub(crate) struct Entry<P> {
    pub(crate) packet: P,
    pub(crate) enqueued_at: Instant,
}

/// The waiting packets of one queue, as [`Books::release`] needs them.
pub(crate) trait Waiting<P> {
    /// The head, and the rest of the queue as the algorithm sees it.
    fn head(&mut self) -> Option<(&mut Entry<P>, QueueView)>;
    /// Takes out the head.
    fn pop(&mut self) -> Option<Entry<P>>;
    /// True if nothing waits any more.
    fn is_empty(&self) -> bool;
}

/// The fate of an arriving packet.
pub(crate) enum Fate {
    Keep,
    Drop(Reason),
    /// A fate that is not known before the packet is compared with waiting ones.
    Compare,
}

impl Fate {
    /// The reason for the drop, if it is one.
    fn reason(self) -> Option<Reason> {
        match self {
            Self::Drop(reason) => Some(reason),
            Self::Keep | Self::Compare => None,
        }
    }
}

/// The view of `packet` for an algorithm under this policy.
#[inline]
fn shown_under<P: Packet>(policy: EcnPolicy, packet: &P, enqueued_at: Instant) -> PacketView {
    let ecn = match policy {
        EcnPolicy::Drop => Ecn::NotEct,
        EcnPolicy::Mark => packet.ecn(),
    };
    PacketView { len: packet.len(), ecn, flow: packet.flow(), enqueued_at }
}

/// ECN policy, facts about the link, random stream and counters of one queue discipline.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    pub(crate) ecn: EcnPolicy,
    /// Whether a departure ends with its first drop, for a scheduler to choose again.
    pub(crate) yields: bool,
    pub(crate) link_rate: Option<Rate>,
    pub(crate) overhead: Bytes,
    pub(crate) rng: Rng,
    pub(crate) counters: Counters,
}

impl Books {
    /// Drops rather than marks; random stream 0; no known link rate.
    pub(crate) fn new() -> Self {
        let (rng, counters) = (Rng::new(0), Counters::default());
        Self { ecn: EcnPolicy::Drop, yields: false, link_rate: None, overhead: Bytes::ZERO, rng, counters }
    }

    /// Applies the settings that a host gives every queue.
    pub(crate) fn set_up(&mut self, ecn: EcnPolicy, rng: Rng, overhead: Bytes) {
        (self.ecn, self.rng, self.overhead) = (ecn, rng, overhead);
    }

    #[inline]
    pub(crate) fn env(&mut self, now: Instant) -> Env<'_> {
        Env { now, link_rate: self.link_rate, overhead: self.overhead, rng: &mut self.rng }
    }

    /// The view of `packet` for the algorithm.
    #[inline]
    pub(crate) fn shown<P: Packet>(&self, packet: &P, enqueued_at: Instant) -> PacketView {
        shown_under(self.ecn, packet, enqueued_at)
    }

    /// Counts an offered packet.
    #[inline]
    pub(crate) fn arrive<P: Packet>(&mut self, packet: &P) {
        self.counters.arrive(packet.len(), packet.ecn());
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

    /// Marks `packet`, which was shown with codepoint `ecn`, or leaves it alone, or says what is to
    /// become of it.
    ///
    /// Packets are judged where they lie: moving them in and out of functions costs more than most
    /// algorithms.
    #[inline]
    pub(crate) fn carry_out<P: Packet>(&mut self, verdict: Verdict, ecn: Ecn, packet: &mut P, sink: &mut dyn Sink<P>) -> Fate {
        // Mostly there is nothing to do.
        if verdict == Verdict::Pass { Fate::Keep } else { self.signal(verdict, ecn, packet, sink) }
    }

    /// Carries out what is not mere passing.
    #[cold]
    fn signal<P: Packet>(&mut self, verdict: Verdict, ecn: Ecn, packet: &mut P, sink: &mut dyn Sink<P>) -> Fate {
        match verdict {
            Verdict::Signal(reason) | Verdict::Mark(reason) if ecn.is_capable() => {
                self.mark(packet, reason, sink);
                Fate::Keep
            }
            Verdict::Pass | Verdict::Mark(_) => Fate::Keep,
            Verdict::Signal(reason) | Verdict::Drop(reason) => Fate::Drop(reason),
            Verdict::Compare => Fate::Compare,
        }
    }

    /// Asks `aqm` about an arriving packet that fits: it is to be queued, or to be dropped for a
    /// reason, or to be compared.
    #[inline]
    pub(crate) fn judge_arrival<P: Packet, A: Aqm>(
        &mut self,
        aqm: &mut A,
        now: Instant,
        packet: &mut P,
        queue: QueueView,
        sink: &mut dyn Sink<P>,
    ) -> Fate {
        let shown = self.shown(packet, now);
        let verdict = aqm.on_arrival(&mut self.env(now), shown, queue);
        self.carry_out(verdict, shown.ecn, packet, sink)
    }

    /// Asks `aqm` to compare an arriving packet with those that `waiting` gives by their place
    /// behind the head. Returns the reason to drop the arriving one, if any, and the place of
    /// another that is dropped too.
    #[cold]
    pub(crate) fn compare<'p, P: Packet + 'p, A: Aqm>(
        &mut self,
        aqm: &mut A,
        now: Instant,
        packet: &mut P,
        queue: QueueView,
        sink: &mut dyn Sink<P>,
        waiting: impl Fn(usize) -> Option<&'p Entry<P>>,
    ) -> (Option<Reason>, Option<usize>) {
        let policy = self.ecn;
        let shown = self.shown(packet, now);
        let at = |place| waiting(place).map(|entry| shown_under(policy, &entry.packet, entry.enqueued_at));
        match aqm.on_comparison(&mut self.env(now), shown, queue, &at) {
            Comparison::Judged(verdict) => (self.carry_out(verdict, shown.ecn, packet, sink).reason(), None),
            Comparison::DropBoth(place, reason) => (Some(reason), Some(place)),
        }
    }

    /// Asks `aqm` about an arriving packet that fits, in a queue that shows no waiting ones: it is
    /// to be queued, or to be dropped for a reason.
    #[inline]
    pub(crate) fn admit<P: Packet, A: Aqm>(
        &mut self,
        aqm: &mut A,
        now: Instant,
        packet: &mut P,
        queue: QueueView,
        sink: &mut dyn Sink<P>,
    ) -> Option<Reason> {
        match self.judge_arrival(aqm, now, packet, queue, sink) {
            Fate::Compare => self.compare(aqm, now, packet, queue, sink, |_| None).0,
            fate => fate.reason(),
        }
    }

    /// Takes packets from the head until `aqm` passes one, or where drops yield, until it has
    /// dropped one; notifies `aqm` when the queue ran empty.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline)]
    pub(crate) fn release<P: Packet, A: Aqm>(
        &mut self,
        aqm: &mut A,
        now: Instant,
        sink: &mut dyn Sink<P>,
        mut waiting: impl Waiting<P>,
    ) -> Option<Departure<P>> {
        while let Some((head, rest)) = waiting.head() {
            let shown = self.shown(&head.packet, head.enqueued_at);
            let verdict = aqm.on_departure(&mut self.env(now), shown, rest);
            let fate = self.carry_out(verdict, shown.ecn, &mut head.packet, sink);
            let entry = waiting.pop()?;
            if let Fate::Drop(reason) = fate {
                self.discard(entry, reason, sink);
                if self.yields {
                    return None;
                }
                continue;
            }
            self.counters.departed.add(shown.len);
            if waiting.is_empty() {
                aqm.on_emptied(now);
            }
            return Some(Departure { packet: entry.packet, enqueued_at: entry.enqueued_at });
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
