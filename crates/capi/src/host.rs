//! The caller's packets and callbacks, as the library sees them.

use crate::{GqPacket, GqSink};
use goodqueue_aqm::{AnyQdisc, Dropped, FlowHash, Packet, Qdisc, Reason, Sink};
use goodqueue_base::units::{Bytes, Class, Ecn, Instant};

/// A packet of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Held(pub GqPacket);

impl Packet for Held {
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.0.length))
    }
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.0.ecn)
    }
    fn set_ce(&mut self) {
        self.0.ecn = Ecn::Ce as u8;
    }
    fn flow(&self) -> FlowHash {
        FlowHash(self.0.flow)
    }
    fn class(&self) -> Class {
        Class::new(self.0.traffic_class)
    }
}

/// Calls the caller's functions, where there are any.
pub struct Reporter(Option<GqSink>);

impl Reporter {
    /// # Safety
    /// `sink` points to a sink or is null.
    pub unsafe fn new(sink: *const GqSink) -> Self {
        // SAFETY: as above.
        Self(unsafe { sink.as_ref() }.copied())
    }
}

impl Sink<Held> for Reporter {
    fn dropped(&mut self, packet: Held, drop: Dropped) {
        if let Some(GqSink { context, dropped: Some(dropped), .. }) = self.0 {
            dropped(context, packet.0, drop.reason.into(), drop.enqueued_at.as_nanos());
        }
    }
    fn marked(&mut self, packet: &Held, reason: Reason) {
        if let Some(GqSink { context, marked: Some(marked), .. }) = self.0 {
            marked(context, packet.0, reason.into());
        }
    }
}

/// Reports everything that leaves a queue as dropped because the queue is freed.
struct Freed<'a>(&'a mut Reporter);

impl Sink<Held> for Freed<'_> {
    fn dropped(&mut self, packet: Held, drop: Dropped) {
        self.0.dropped(packet, Dropped::new(Reason::Overflow, drop.enqueued_at));
    }
    fn marked(&mut self, _: &Held, _: Reason) {}
}

/// Gives back all packets that wait, with the reason overflow.
pub fn empty(queue: &mut AnyQdisc<Held>, mut now: Instant, reporter: &mut Reporter) {
    let mut freed = Freed(reporter);
    while !queue.view().packets.is_zero() {
        if let Some(departure) = queue.dequeue(now, &mut freed) {
            freed.dropped(departure.packet, Dropped::new(Reason::Overflow, departure.enqueued_at));
            continue;
        }
        // The queue holds packets back until its timer, or until a time that the caller's clock
        // has passed before.
        match queue.next_timer().filter(|&due| due > now) {
            Some(due) => {
                now = due;
                queue.handle_timer(now);
            }
            None if now < Instant::MAX => now = Instant::MAX,
            None => return,
        }
    }
}
