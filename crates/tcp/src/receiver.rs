//! The receiving end of a connection: puts data in order and says when to acknowledge.
//!
//! Delayed acknowledgements follow Linux 6.12. The first sixteen segments, those after a long pause
//! and those after a duplicate are acknowledged immediately, and so are all segments while the
//! offered window grows; later, every second full segment is acknowledged, or the timer
//! acknowledges. A pushed segment (the application has read it and everything before), out-of-order
//! data, data that fills a hole, FIN, and the first marked packet are acknowledged immediately.
//! Marks are reported as the SYN requests: by ECE until the sender has reduced its window (RFC
//! 3168), by ECE per packet (RFC 8257), or by a count (RFC 9768). Data beyond a gap is reported
//! immediately three times; later reports of the same gap wait for a twentieth of the handshake's
//! round-trip time, or a third as in Linux 7.3, at most a millisecond, and are merged (compressed
//! SACK of Linux 4.18 and later; [`SackReports`] has receivers without it, and without SACK).
//! Departure: the delay is constant at its minimum (Linux stretches it up to the round-trip time
//! when segments come slowly).

mod ranges;
mod window;

use crate::config::{AckPolicy, ReceiverConfig, SackReports};
use crate::segment::{Flags, Segment};
use goodqueue_base::units::{Duration, Ecn, Instant};
use ranges::OutOfOrder;
use window::{Reading, Window};

/// Segments acknowledged at once at the start, after a pause, and after a duplicate.
const QUICK_ACKS: u32 = 16;
/// Segments acknowledged at once after the first mark: the sender's window may be tiny.
const QUICK_ACKS_AFTER_MARK: u32 = 2;
/// After a pause of this and the handshake's round-trip time, the sender may have started over.
const PAUSE: Duration = Duration::ms(200);
/// Reports of one gap that are not held back.
const PLAIN_REPORTS: u8 = 3;
/// Reports that are merged at most.
const MAX_MERGED: u8 = 44;
const SECOND: Duration = Duration::secs(1);
const NEVER: u64 = u64::MAX;

/// The receiving end of a connection; see the [crate] for how a host drives it.
///
/// The fields that every segment touches come first, side by side: with thousands of flows cache
/// lines dominate the cost.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// Everything below has arrived.
    next: u64,
    /// `next` in the last acknowledgement sent.
    acknowledged: u64,
    /// The timestamp to echo (RFC 7323 §4.3).
    echo: Instant,
    /// Time of the delayed acknowledgement, in nanoseconds.
    timer: u64,
    last_data_at: Instant,
    /// Segments still to acknowledge at once.
    quick: u32,
    /// Segments since the last acknowledgement.
    pending: u32,
    mss: u64,
    max_ack_delay: Duration,
    /// A pause this long makes acknowledgements quick again.
    long_pause: Duration,
    policy: AckPolicy,
    /// Flags of acknowledgements. ECE is set, with classic feedback, until the sender has reduced
    /// its window; with mirrored feedback, while packets arrive marked.
    flags: Flags,
    /// Marked data packets so far, modulo 256, when they are counted.
    marked: u8,
    /// Packets with this codepoint need attention.
    watched: Ecn,
    report: Report,
    window: Window,
    codepoint: Ecn,
    started: bool,
    reading: Reading,
    out_of_order: OutOfOrder,
    handshake_at: Option<Instant>,
    fin_at: u64,
    /// One above the last byte of the last marked packet, when they are counted.
    marked_end: u64,
    /// Time for which reports of a gap are held back; zero before the round-trip time is known, and
    /// where each report leaves immediately.
    merger: Duration,
    /// The gap last reported begins here, and how often it was reported at once.
    gap_at: u64,
    gap_reports: u8,
    /// Reports held back since the last acknowledgement.
    merged: u8,
    sack: SackReports,
}

/// The form in which marks are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Report {
    Classic,
    Mirrored,
    Counted,
}

/// Segments after which a mark may wait no longer (RFC 9768 §3.2.2.5 says seven marks).
const MARKS_AT_ONCE: u32 = 7;

/// The outcome of the routine handling of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// Nothing was done: the segment is for `Receiver::handle_unusual`.
    Unusual,
    /// The data was taken. The acknowledgement waits.
    Held,
    /// The data was taken, with this acknowledgement as the answer.
    Acknowledged(Segment),
}

/// The time at which the data just taken is acknowledged.
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
            flags: Flags::ACK,
            marked: 0,
            watched: Ecn::Ce,
            report: Report::Classic,
            window: Window::new(config.mss.get()),
            reading: Reading::new(config.mss.get()),
            codepoint: Ecn::NotEct,
            started: false,
            out_of_order: OutOfOrder::default(),
            long_pause: SECOND,
            handshake_at: None,
            fin_at: NEVER,
            marked_end: 0,
            merger: Duration::ZERO,
            gap_at: 0,
            gap_reports: 0,
            merged: 0,
            sack: config.sack,
        }
    }

    /// The codepoint acknowledgements carry: that of the SYN.
    #[inline]
    #[must_use]
    pub const fn codepoint(&self) -> Ecn {
        self.codepoint
    }

    /// Data arrived in order, each byte counted once.
    #[inline]
    #[must_use]
    pub const fn delivered_bytes(&self) -> u64 {
        self.next
    }

    /// Whether the whole of a stream that ends has arrived.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.next == self.fin_at
    }

    /// The time to call [`handle_timeout`](Self::handle_timeout) next; an early call is harmless.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Option<Instant> {
        if self.timer == NEVER { None } else { Some(Instant::from_nanos(self.timer)) }
    }

    /// Handles a segment that arrived with the given ECN codepoint. Returns the acknowledgement to
    /// send immediately, if any.
    #[inline]
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment, ecn: Ecn) -> Option<Segment> {
        match self.handle_routine(now, segment, ecn) {
            Routine::Unusual => self.handle_unusual(now, segment, ecn),
            Routine::Held => None,
            Routine::Acknowledged(ack) => Some(ack),
        }
    }

    /// Does the work of [`handle_segment`](Self::handle_segment), for data in order with nothing
    /// amiss.
    #[inline(always)]
    pub(crate) fn handle_routine(&mut self, now: Instant, segment: &Segment, ecn: Ecn) -> Routine {
        // `&` instead of `&&`: one well-predicted branch instead of several.
        let plain = (segment.payload > 0) & (segment.flags.0 & !Flags::PSH.0 == 0) & (ecn != self.watched);
        if !(plain & (segment.number == self.next) & self.out_of_order.is_empty()) {
            return Routine::Unusual;
        }
        self.echo = if segment.number == self.acknowledged { segment.timestamp } else { self.echo };
        self.next += u64::from(segment.payload);
        self.note_arrival(now, segment.timestamp, true);
        // Of what is pushed the application has read everything before it is acknowledged.
        let (urgency, unread) =
            if self.answers_push(segment) { (Urgency::AtOnce, 0) } else { (Urgency::ByPolicy, segment.payload) };
        if self.is_due(now, urgency) {
            Routine::Acknowledged(self.acknowledge_in_order(now, u64::from(unread)))
        } else {
            Routine::Held
        }
    }

    /// Handles the time of [`next_timeout`](Self::next_timeout). Early or repeated calls change
    /// nothing.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Segment> {
        (self.timer <= now.as_nanos()).then(|| self.acknowledge(now))
    }

    /// Releases a delayed acknowledgement, since data that would carry it leaves in the same
    /// direction.
    pub fn flush(&mut self, now: Instant) -> Option<Segment> {
        (self.timer != NEVER).then(|| self.acknowledge(now))
    }

    /// The rest of [`handle_segment`](Self::handle_segment): segments that
    /// [`handle_routine`](Self::handle_routine) found unusual.
    #[inline(never)]
    pub(crate) fn handle_unusual(&mut self, now: Instant, segment: &Segment, ecn: Ecn) -> Option<Segment> {
        if segment.flags.has(Flags::SYN) {
            return Some(self.accept(now, segment, ecn));
        }
        if segment.payload == 0 {
            return None;
        }
        let mut urgency = match self.report {
            Report::Classic => self.note_mark(segment.flags, ecn),
            Report::Counted => self.count_mark(segment, ecn),
            Report::Mirrored if (ecn == Ecn::Ce) != self.flags.has(Flags::ECE) => return self.turn_mirror(now, segment, ecn),
            // The sender's window may be tiny now.
            Report::Mirrored if segment.flags.has(Flags::CWR) => Urgency::AtOnce,
            Report::Mirrored => Urgency::ByPolicy,
        };
        let end = segment.number.saturating_add(u64::from(segment.payload));
        if segment.flags.has(Flags::FIN) {
            self.fin_at = end;
        }
        if end <= self.next {
            return Some(self.report_duplicate(now, segment));
        }
        if segment.number > self.next {
            self.note_arrival(now, segment.timestamp, false);
            return self.take_beyond_gap(now, (segment.number, end), urgency);
        }
        self.note_arrival(now, segment.timestamp, true);
        if segment.number <= self.acknowledged {
            self.echo = segment.timestamp;
        }
        let in_order = self.out_of_order.is_empty();
        self.next = self.out_of_order.take_up_to(end);
        if !in_order || self.next == self.fin_at || self.answers_push(segment) {
            urgency = Urgency::AtOnce;
        }
        self.respond(now, urgency)
    }

    /// Whether this segment is acknowledged immediately because it is pushed. Linux does so since
    /// 6.6; receivers with the reports of older hosts do not.
    #[inline]
    fn answers_push(&self, segment: &Segment) -> bool {
        segment.flags.has(Flags::PSH) && self.policy == AckPolicy::Delayed && self.sack.is_compressed()
    }

    /// Takes data beyond a gap. An acknowledgement has room for few blocks: pending reports leave
    /// before a third block comes, which is then reported with what arrives next. *Source*: Linux
    /// 6.12 (`tcp_sack_new_ofo_skb`; the acknowledgement sent, none is due for this segment).
    fn take_beyond_gap(&mut self, now: Instant, (start, end): (u64, u64), urgency: Urgency) -> Option<Segment> {
        let crowded = self.merged > 0 && self.out_of_order.opens_third(start, end);
        let earlier = crowded.then(|| self.acknowledge(now));
        self.out_of_order.insert(start, end);
        earlier.or_else(|| self.report_gap(now, urgency))
    }

    /// Reports out-of-order data. The first reports are sent immediately so that the sender can
    /// detect the loss; later ones are delayed and merged (compressed SACK).
    fn report_gap(&mut self, now: Instant, urgency: Urgency) -> Option<Segment> {
        let at_once = self.policy != AckPolicy::Delayed || urgency == Urgency::AtOnce || self.quick > 0;
        if at_once || self.merger.is_zero() || self.merged >= MAX_MERGED {
            return Some(self.acknowledge(now));
        }
        if self.gap_at != self.next {
            self.gap_at = self.next;
            self.gap_reports = 0;
        }
        if self.gap_reports < PLAIN_REPORTS {
            self.gap_reports += 1;
            return Some(self.acknowledge(now));
        }
        self.merged += 1;
        if self.timer == NEVER {
            self.timer = (now + self.merger).as_nanos();
        }
        None
    }

    /// Classic ECN: one mark is echoed until the sender has reduced its window.
    fn note_mark(&mut self, flags: Flags, ecn: Ecn) -> Urgency {
        let mut urgency = Urgency::ByPolicy;
        if flags.has(Flags::CWR) {
            self.flags = Flags::ACK;
            urgency = Urgency::AtOnce;
        }
        if ecn == Ecn::Ce && !self.flags.has(Flags::ECE) {
            self.flags = Flags::ACK.with(Flags::ECE);
            self.quick = self.quick.max(QUICK_ACKS_AFTER_MARK);
        }
        urgency
    }

    /// Accurate ECN: the first of a run of marks is reported immediately, and later marks do not
    /// wait long.
    fn count_mark(&mut self, segment: &Segment, ecn: Ecn) -> Urgency {
        if ecn != Ecn::Ce {
            return Urgency::ByPolicy;
        }
        self.marked = self.marked.wrapping_add(1);
        let first = segment.number != self.marked_end;
        self.marked_end = segment.number.saturating_add(u64::from(segment.payload));
        if first || self.pending + 1 >= MARKS_AT_ONCE { Urgency::AtOnce } else { Urgency::ByPolicy }
    }

    /// DCTCP: when marks begin or end, earlier data is acknowledged with the old state, and this
    /// packet immediately with the new one.
    #[cold]
    fn turn_mirror(&mut self, now: Instant, segment: &Segment, ecn: Ecn) -> Option<Segment> {
        let earlier = (self.pending > 0).then(|| self.acknowledge(now));
        (self.flags, self.watched) = match ecn {
            Ecn::Ce => (Flags::ACK.with(Flags::ECE), Ecn::Ect0),
            _ => (Flags::ACK, Ecn::Ce),
        };
        let answer = self.handle_unusual(now, segment, ecn);
        if earlier.is_none() {
            return answer.or_else(|| Some(self.acknowledge(now)));
        }
        // The second acknowledgement leaves by the timer, in the same instant.
        self.timer = now.as_nanos();
        earlier
    }

    fn accept(&mut self, now: Instant, syn: &Segment, ecn: Ecn) -> Segment {
        self.handshake_at.get_or_insert(now);
        let mut flags = Flags::SYN.with(Flags::ACK);
        if syn.flags.has(Flags::ECE.with(Flags::CWR)) {
            flags = flags.with(Flags::ECE);
            if syn.flags.has(Flags::AE) {
                self.report = Report::Counted;
                flags = flags.with(Flags::AE);
            } else if syn.flags.has(Flags::MIRROR) {
                self.report = Report::Mirrored;
                flags = flags.with(Flags::MIRROR);
            }
            self.codepoint = match (ecn, self.report) {
                // The codepoint before the mark is unknown: scalable controls count marks, DCTCP
                // mirrors them.
                (Ecn::Ce, Report::Counted) => Ecn::Ect1,
                (Ecn::Ce, _) => Ecn::Ect0,
                (as_sent, _) => as_sent,
            };
        }
        let payload = self.window.first_offer(self.mss);
        Segment { number: self.next, timestamp: syn.timestamp, flags, payload, ..Segment::default() }
    }

    /// Reports old data: the sender retransmitted in vain, or an acknowledgement was lost.
    /// Acknowledgements are not delayed for a while.
    fn report_duplicate(&mut self, now: Instant, old: &Segment) -> Segment {
        self.quick = self.quick.max(QUICK_ACKS);
        self.out_of_order.note_twice(old.number, old.number + u64::from(old.payload));
        self.acknowledge(now)
    }

    /// A segment has arrived, in order or not.
    #[inline]
    fn note_arrival(&mut self, now: Instant, sent: Instant, in_order: bool) {
        self.pending += 1;
        let pause = now.since(self.last_data_at);
        if !self.started || pause > self.long_pause {
            self.slow_down_to_quick(now, sent);
        }
        if in_order {
            self.window.note_reading(&mut self.reading, now, sent, self.next);
        }
        if self.window.grows(&self.reading, self.out_of_order.held()) {
            self.quick |= 1;
        }
        self.last_data_at = now;
    }

    #[cold]
    fn slow_down_to_quick(&mut self, now: Instant, sent: Instant) {
        if !self.started {
            self.started = true;
            if let Some(at) = self.handshake_at {
                let rtt = now.since(at);
                self.window.open(&mut self.reading, now, sent, rtt);
                self.long_pause = rtt + PAUSE.max(rtt * 2);
                self.merger = self.sack.merger(rtt);
            }
        }
        self.quick = self.quick.max(QUICK_ACKS);
    }

    fn respond(&mut self, now: Instant, urgency: Urgency) -> Option<Segment> {
        self.is_due(now, urgency).then(|| self.acknowledge(now))
    }

    /// Whether an acknowledgement leaves immediately; otherwise arms the timer for it.
    #[inline]
    fn is_due(&mut self, now: Instant, urgency: Urgency) -> bool {
        let due = match self.policy {
            AckPolicy::Delayed => self.next - self.acknowledged > self.mss || self.quick > 0,
            AckPolicy::EveryPacket => true,
            AckPolicy::EveryWindow { segments } => self.pending >= segments,
        };
        if due || urgency == Urgency::AtOnce {
            return true;
        }
        let t = now.as_nanos();
        let delay = self.max_ack_delay.as_nanos();
        if self.timer != NEVER && self.policy == AckPolicy::Delayed && self.timer <= t + delay / 4 {
            // The timer of earlier data is about to fire anyway.
            return true;
        }
        self.timer = self.timer.min(t.saturating_add(delay));
        false
    }

    fn acknowledge(&mut self, now: Instant) -> Segment {
        let mut ack = self.acknowledge_in_order(now, self.out_of_order.held());
        if !self.out_of_order.is_silent() && self.sack != SackReports::Off {
            self.out_of_order.report(self.next, &mut ack);
        }
        ack
    }

    /// Acknowledges everything that has arrived in order, while the application has not read
    /// `unread` bytes of it.
    #[inline(always)]
    fn acknowledge_in_order(&mut self, now: Instant, unread: u64) -> Segment {
        self.acknowledged = self.next;
        self.timer = NEVER;
        self.pending = 0;
        self.merged = 0;
        self.quick = self.quick.saturating_sub(1);
        let delay = (now.as_nanos().wrapping_sub(self.echo.as_nanos()) / Segment::DELAY_UNIT.as_nanos()) as u32;
        let payload = self.window.offer(self.next, unread);
        Segment {
            number: self.next,
            timestamp: self.echo,
            flags: self.flags,
            delay,
            ce: self.marked,
            payload,
            ..Segment::default()
        }
    }
}
