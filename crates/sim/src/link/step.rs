//! One step of a link: a packet arrives at its queue, is taken from it, and departs.
//!
//! All that processes links is made of these functions: single events (`world/network.rs`), the
//! loop over a deferred queue (`deferred/pass.rs`), and departures by arithmetic
//! (`deferred/fifo.rs`).

use crate::packet::SimPacket;
use crate::probe::{EventRecorder, LinkProbe, sojourn_line, wire_bytes};
use goodqueue_aqm::{Departure, NoSink, Qdisc, QueueView};
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Packets, Rng};

/// A link's transmitter and figures, without its queue.
pub(crate) struct LinkStep<'l> {
    pub(super) rate: &'l mut RateCursor,
    pub(super) framing: Framing,
    pub(super) busy_until: &'l mut Instant,
    pub(super) idle_notice_pending: &'l mut bool,
    pub(super) loss: f64,
    pub(super) rng: &'l mut Rng,
    pub(super) probe: &'l mut LinkProbe,
    pub(crate) recorder: &'l mut EventRecorder,
}

impl LinkStep<'_> {
    /// Time at which the transmitter becomes free.
    #[inline(always)]
    pub(crate) fn busy_until(&self) -> Instant {
        *self.busy_until
    }

    /// The figures of the link.
    pub(crate) fn figures(&mut self) -> (&mut LinkProbe, &mut EventRecorder) {
        (self.probe, self.recorder)
    }

    /// A packet arrives at the queue, of which `view` tells what waits.
    #[inline(always)]
    pub(crate) fn arrive<Q: Qdisc<SimPacket>>(
        &mut self,
        now: Instant,
        packet: &SimPacket,
        queue: &mut Q,
        view: impl FnOnce(&Q) -> QueueView,
    ) {
        // The transmitter found the queue empty, and the queue has yet to hear of it.
        if std::mem::take(self.idle_notice_pending) && *self.busy_until <= now {
            notice_idleness(queue, *self.busy_until);
        }
        self.probe.integral.advance(now, view(queue));
        self.recorder.enqueued(packet);
        queue.enqueue(now, *packet, self.recorder);
    }

    /// The transmitter asks the queue for the next packet.
    #[inline(always)]
    pub(crate) fn serve<Q: Qdisc<SimPacket>>(
        &mut self,
        now: Instant,
        queue: &mut Q,
        view: impl FnOnce(&Q) -> QueueView,
    ) -> Option<Departure<SimPacket>> {
        *self.idle_notice_pending = false;
        self.probe.integral.advance(now, view(queue));
        queue.dequeue(now, self.recorder)
    }

    /// Transmits a packet of `group` that has waited for `sojourn`. Returns the end of its
    /// transmission.
    #[inline(always)]
    pub(crate) fn depart(&mut self, now: Instant, packet: &SimPacket, sojourn: Duration, group: u16) -> Instant {
        let bytes = self.wire_bytes(packet);
        let end = self.occupy(now, bytes);
        let line = sojourn_line(group, packet.is_reverse());
        self.record_start(now, packet, sojourn, (line, bytes));
        self.record_end(end, (line, bytes));
        end
    }

    /// Bytes of a packet on the link, framing included.
    #[inline(always)]
    pub(crate) fn wire_bytes(&self, packet: &SimPacket) -> Bytes {
        wire_bytes(packet, self.framing)
    }

    /// Occupies the transmitter for a packet from `start` on. Returns the end of its transmission.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, start: Instant, bytes: Bytes) -> Instant {
        let end = self.rate.end_of(start, bytes);
        *self.busy_until = end;
        end
    }

    /// Records a packet whose transmission starts now. It counts in a line ([`sojourn_line`]).
    #[inline(always)]
    pub(crate) fn record_start(&mut self, now: Instant, packet: &SimPacket, sojourn: Duration, (line, bytes): (usize, Bytes)) {
        self.probe.departed(now, line, sojourn, bytes.get(), &mut self.recorder.tables);
        self.recorder.departed(packet, sojourn);
    }

    /// Counts a packet whose transmission ends at `end`.
    #[inline(always)]
    pub(crate) fn record_end(&mut self, end: Instant, (line, bytes): (usize, Bytes)) {
        self.probe.transmitted(end, line, bytes.get(), &mut self.recorder.tables);
    }

    /// Whether the transmitter asks for a packet when it becomes free, given the backlog behind the
    /// departing one, whether the queue has a timer, and until when the queue holds its packets.
    ///
    /// A queue with a timer must hear of idleness in order of time; others are told before their
    /// next arrival. A queue that holds its packets for longer is asked when it no longer does.
    #[inline(always)]
    pub(crate) fn service_follows(&mut self, waiting: QueueView, has_timer: impl FnOnce() -> bool, held_until: Instant) -> bool {
        let ran_empty = waiting.packets == Packets::ZERO;
        *self.idle_notice_pending = ran_empty;
        if ran_empty { has_timer() } else { held_until <= *self.busy_until }
    }

    /// Draws whether the wire behind the link loses a packet, and records the loss.
    #[inline(always)]
    pub(crate) fn loses(&mut self, packet: &SimPacket) -> bool {
        self.loss > 0.0 && draw_loss(packet, self.loss, self.rng, self.recorder)
    }
}

#[inline(never)]
fn draw_loss(packet: &SimPacket, loss: f64, rng: &mut Rng, recorder: &mut EventRecorder) -> bool {
    let lost = rng.fires(loss);
    if lost {
        recorder.lose_on_the_wire(packet);
    }
    lost
}

/// Tells a queue that the transmitter found it empty then.
#[inline(never)]
fn notice_idleness(queue: &mut impl Qdisc<SimPacket>, then: Instant) {
    let none = queue.dequeue(then, &mut NoSink);
    debug_assert!(none.is_none(), "the queue was empty");
}
