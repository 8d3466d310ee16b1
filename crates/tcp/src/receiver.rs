//! The receiving end of a connection: puts data in order and says when to acknowledge.
//!
//! Delayed acknowledgements follow Linux 6.12: the first sixteen segments, those after a long pause and those after a duplicate are acknowledged at
//! once, later every second full segment or after the timer. Out-of-order data, data that fills a hole, FIN, and the first marked packet are answered
//! at once. Departures: the delay is constant at its minimum (Linux stretches it up to the round-trip time when timers fire in vain), and
//! duplicate acknowledgements are not merged under load.

mod ranges;

use crate::config::{AckPolicy, ReceiverConfig};
use crate::segment::{Flags, SackBlock, Segment};
use goodqueue_units::{Duration, Ecn, Instant};
use ranges::OutOfOrder;

/// Segments acknowledged at once at the start, after a pause, and after a duplicate.
const QUICK_ACKS: u32 = 16;
/// Segments acknowledged at once after the first mark: the sender's window may be tiny.
const QUICK_ACKS_AFTER_MARK: u32 = 2;
/// A pause of this and the handshake's round-trip time means the sender may have started over.
const PAUSE: Duration = Duration::ms(200);
const SECOND: Duration = Duration::secs(1);
const NEVER: u64 = u64::MAX;

/// The receiving end of a connection; see the [crate] for how a host drives it.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Everything below has arrived.
    next: u64,
    /// `next` in the last acknowledgement sent.
    acknowledged: u64,
    /// The timestamp to echo (RFC 7323 §4.3).
    echo: Instant,
    /// When the delayed acknowledgement is due, in nanoseconds.
    timer: u64,
    last_data_at: Instant,
    /// Segments still to acknowledge at once.
    quick: u32,
    /// Segments since the last acknowledgement.
    pending: u32,
    mss: u64,
    max_ack_delay: Duration,
    policy: AckPolicy,
    /// Echo congestion until the sender says it has reduced its window.
    echo_congestion: bool,
    started: bool,
    out_of_order: OutOfOrder,
    /// A pause this long makes acknowledgements quick again.
    long_pause: Duration,
    handshake_at: Option<Instant>,
    fin_at: u64,
}

/// What to do about the data just taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgency {
    AtOnce,
    ByPolicy,
}

impl Receiver {
    /// A receiver waiting for a SYN; data is taken without one, too.
    #[must_use]
    pub fn new(config: &ReceiverConfig) -> Self {
        Self {
            next: 0,
            acknowledged: 0,
            echo: Instant::ZERO,
            timer: NEVER,
            last_data_at: Instant::ZERO,
            quick: 0,
            pending: 0,
            mss: config.mss.get(),
            max_ack_delay: config.max_ack_delay,
            policy: config.ack_policy,
            echo_congestion: false,
            started: false,
            out_of_order: OutOfOrder::default(),
            long_pause: SECOND,
            handshake_at: None,
            fin_at: NEVER,
        }
    }

    /// Data arrived in order, each byte counted once.
    #[inline]
    #[must_use]
    pub const fn delivered_bytes(&self) -> u64 {
        self.next
    }

    /// Has the last byte of a stream that ends arrived, and everything before it?
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.next == self.fin_at
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; waking early is harmless.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Option<Instant> {
        if self.timer == NEVER { None } else { Some(Instant::from_nanos(self.timer)) }
    }

    /// A segment has arrived with the given ECN codepoint. Returns the acknowledgement to send at once, if any.
    #[inline]
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment, ecn: Ecn) -> Option<Segment> {
        let routine = segment.number == self.next
            && segment.payload > 0
            && segment.flags == Flags::default()
            && ecn != Ecn::Ce
            && self.out_of_order.is_empty();
        if !routine {
            return self.handle_unusual(now, segment, ecn);
        }
        if segment.number == self.acknowledged {
            self.echo = segment.timestamp;
        }
        self.next += u64::from(segment.payload);
        self.note_arrival(now);
        self.respond(now, Urgency::ByPolicy)
    }

    /// The time told by [`next_timeout`](Self::next_timeout) has come. Early or repeated calls change nothing.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Segment> {
        (self.timer <= now.as_nanos()).then(|| self.acknowledge())
    }

    fn handle_unusual(&mut self, now: Instant, segment: &Segment, ecn: Ecn) -> Option<Segment> {
        if segment.flags.has(Flags::SYN) {
            return Some(self.accept(now, segment));
        }
        if segment.payload == 0 {
            return None;
        }
        let mut urgency = Urgency::ByPolicy;
        if segment.flags.has(Flags::CWR) {
            self.echo_congestion = false;
            urgency = Urgency::AtOnce;
        }
        if ecn == Ecn::Ce && !self.echo_congestion {
            self.echo_congestion = true;
            self.quick = self.quick.max(QUICK_ACKS_AFTER_MARK);
        }
        let end = segment.number.saturating_add(u64::from(segment.payload));
        if segment.flags.has(Flags::FIN) {
            self.fin_at = end;
        }
        if end <= self.next {
            return Some(self.report_duplicate(segment.number, segment.payload));
        }
        self.note_arrival(now);
        if segment.number > self.next {
            self.out_of_order.insert(segment.number, end);
            return Some(self.acknowledge());
        }
        if segment.number <= self.acknowledged {
            self.echo = segment.timestamp;
        }
        let in_order = self.out_of_order.is_empty();
        self.next = self.out_of_order.take_up_to(end);
        if !in_order || self.next == self.fin_at {
            urgency = Urgency::AtOnce;
        }
        self.respond(now, urgency)
    }

    fn accept(&mut self, now: Instant, syn: &Segment) -> Segment {
        self.handshake_at.get_or_insert(now);
        let mut flags = Flags::SYN.with(Flags::ACK);
        if syn.flags.has(Flags::ECE.with(Flags::CWR)) {
            flags = flags.with(Flags::ECE);
        }
        Segment { number: self.next, timestamp: syn.timestamp, flags, ..Segment::default() }
    }

    /// Old data: the sender repeated in vain, or the acknowledgement was lost. Say so, and hold nothing back for a while.
    fn report_duplicate(&mut self, number: u64, payload: u32) -> Segment {
        self.quick = self.quick.max(QUICK_ACKS);
        let mut ack = self.acknowledge();
        // A copy more than 4 GiB old says nothing about this window.
        if let Ok(offset) = u32::try_from(self.next - number) {
            let kept = usize::from(ack.sack_blocks).min(2);
            ack.sack.copy_within(0..kept, 1);
            ack.sack[0] = SackBlock { offset, len: payload };
            ack.sack_blocks = kept as u8 + 1;
            ack.flags = ack.flags.with(Flags::DSACK);
        }
        ack
    }

    #[inline]
    fn note_arrival(&mut self, now: Instant) {
        self.pending += 1;
        let pause = now.since(self.last_data_at);
        if !self.started || pause > self.long_pause {
            self.slow_down_to_quick(now);
        }
        self.last_data_at = now;
    }

    #[cold]
    fn slow_down_to_quick(&mut self, now: Instant) {
        if !self.started {
            self.started = true;
            if let Some(at) = self.handshake_at {
                let rtt = now.since(at);
                self.long_pause = rtt + PAUSE.max(rtt * 2);
            }
        }
        self.quick = self.quick.max(QUICK_ACKS);
    }

    #[inline]
    fn respond(&mut self, now: Instant, urgency: Urgency) -> Option<Segment> {
        let due = match self.policy {
            AckPolicy::Delayed => self.next - self.acknowledged > self.mss || self.quick > 0,
            AckPolicy::EveryPacket => true,
            AckPolicy::EveryWindow { segments } => self.pending >= segments,
        };
        if due || urgency == Urgency::AtOnce {
            return Some(self.acknowledge());
        }
        let t = now.as_nanos();
        let delay = self.max_ack_delay.as_nanos();
        if self.timer != NEVER && self.policy == AckPolicy::Delayed && self.timer <= t + delay / 4 {
            // The timer of earlier data is about to fire anyway.
            return Some(self.acknowledge());
        }
        self.timer = self.timer.min(t.saturating_add(delay));
        None
    }

    #[inline]
    fn acknowledge(&mut self) -> Segment {
        self.acknowledged = self.next;
        self.timer = NEVER;
        self.pending = 0;
        self.quick = self.quick.saturating_sub(1);
        let mut ack = Segment { number: self.next, timestamp: self.echo, flags: Flags::ACK, ..Segment::default() };
        if self.echo_congestion {
            ack.flags = ack.flags.with(Flags::ECE);
        }
        if !self.out_of_order.is_empty() {
            self.out_of_order.report(self.next, &mut ack);
        }
        ack
    }
}
