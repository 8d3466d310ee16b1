//! Processing of acknowledgements: what they deliver, measure and change.

use super::state::Use;
use super::{AckFacts, NO_SEGMENT, Phase, ProbeContent, Sender};
use crate::cc::{AckSample, CongestionControl, Growth, Marks, State};
use crate::prr::Ack;
use crate::rtt;
use crate::scoreboard::{Delivery, Verdict};
use crate::segment::{Flags, Segment};
use core::ops::Range;
use goodqueue_base::units::{Duration, Instant};

/// Round-trip times of one acknowledgement in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Time for the control: that of the segment sent last.
    control: Option<u64>,
    /// Time from selectively reported segments alone.
    sack: Option<u64>,
}

impl Sender {
    /// An acknowledgement has arrived.
    #[inline]
    pub fn handle_ack(&mut self, now: Instant, segment: &Segment) {
        self.unsettle();
        // `&` instead of `&&`: one well-predicted branch instead of several.
        let calm = self.routine & (self.state == State::Open) & (self.probe_end == NO_SEGMENT);
        if calm & (segment.flags == Flags::ACK) & !segment.has_blocks() & (segment.number <= self.nxt_bytes) {
            let una = self.number_at(segment.number);
            let delivered = una.saturating_sub(self.board.una());
            if delivered > 0
                && let Some(sent) = self.board.acknowledge_plain(now.as_nanos(), una)
            {
                self.note_offer(segment);
                self.handle_routine(now, sent, delivered as u32);
                return;
            }
        }
        self.handle_unusual(now, segment);
    }

    /// Handles the acknowledgement that most are: it covers data sent once, in order, and nothing
    /// is amiss.
    #[inline]
    fn handle_routine(&mut self, now: Instant, (first_sent, last_sent): (u64, u64), delivered: u32) {
        let t = now.as_nanos();
        let (una, nxt) = (self.board.una(), self.board.nxt());
        let rtt = t - last_sent;
        self.rtt.sample_minimum(t, rtt);
        self.rtt.sample(t - first_sent, una, nxt);
        self.note_rtt(rtt);
        let prior_delivered = self.delivered.saturating_sub(nxt - una);
        self.delivered += u64::from(delivered);
        self.rack.on_routine(last_sent, una - 1, rtt);
        self.rack.adapt(self.delivered, prior_delivered);
        let limited = self.cwnd_limited || self.cc.in_slow_start() && self.window < 2 * self.max_in_round;
        self.cc.on_ack(&AckSample {
            now,
            delivered,
            growth: if limited { Growth::Allowed } else { Growth::Held },
            rtt: Some(Duration::ns(rtt)),
            srtt: self.rtt.srtt(),
            min_rtt: Duration::ns(self.rtt.min()),
            una,
            nxt,
            in_flight: self.board.in_flight(),
            marked: 0,
            state: State::Open,
        });
        self.follow_control();
        self.grant(t);
        if self.quota == 0 {
            self.arm_after_progress(t);
            self.settle_if_all_waits(t);
        }
    }

    #[inline(never)]
    fn handle_unusual(&mut self, now: Instant, segment: &Segment) {
        if self.phase != Phase::Established || segment.flags.has(Flags::SYN) {
            self.handle_handshake(now, segment);
            return;
        }
        if segment.number > self.nxt_bytes {
            // It acknowledges data that was never sent.
            return;
        }
        let t = now.as_nanos();
        let prior_una = self.board.una();
        let prior_highest = self.board.highest_sacked();
        let prior_in_flight = self.board.in_flight();
        if prior_una == self.board.nxt() && !segment.has_blocks() {
            // It may open the receiver's window, though.
            self.note_offer(segment);
            return;
        }
        let una = self.number_at(segment.number);
        let advanced = una > prior_una;
        let echoed = segment.timestamp.as_nanos();
        let mut delivery = Delivery { min_rtt: self.rtt.min(), ..Delivery::default() };
        if advanced {
            self.timeouts_in_a_row = 0;
            if self.lacks_sack() {
                self.acknowledge_without_sack(t, una, echoed, &mut delivery);
            } else {
                self.board.acknowledge(t, una, self.recovery_point, echoed, &mut delivery);
            }
        }
        let mut reports_duplicate = false;
        if self.lacks_sack() {
            if !advanced {
                self.count_duplicate(&mut delivery);
            }
        } else if segment.has_blocks() {
            reports_duplicate = self.take_selective(t, segment, (prior_una, prior_highest), &mut delivery);
        }
        let measured = self.measure(t, &delivery, advanced, echoed);
        let prior_delivered = self.delivered.saturating_sub(u64::from(self.board.outstanding()));
        self.delivered += u64::from(delivery.delivered);
        self.rack.on_delivery(t, &delivery);
        if advanced {
            self.rack.adapt(self.delivered, prior_delivered);
        }
        let rate = self.sample_rate(t, &delivery);
        let marked = self.take_marks(segment, delivery.delivered);
        if marked > 0 {
            self.cc.on_marks(&Marks { delivered: delivery.delivered, marked, una: self.board.una(), nxt: self.board.nxt() });
        }
        let facts = AckFacts {
            advanced,
            sacked: delivery.sacked > 0,
            duplicate: !advanced && !reports_duplicate,
            ece: marked > 0,
            marked,
            original: delivery.original,
            echoed,
            prior_una,
            prior_in_flight,
        };
        if self.probe_end != NO_SEGMENT {
            self.judge_probe(t, segment, &facts);
        }
        let routine = self.state == State::Open && advanced && delivery.sacked == 0 && !facts.ece && !reports_duplicate;
        let verdict = if routine { Verdict::default() } else { self.handle_signs_of_loss(t, &facts) };
        let restart = if advanced { self.restarts_timer() } else { self.should_extend_timer(t, measured.sack) };
        if verdict.wait_until.is_none() && restart {
            self.arm_after_progress(t);
        }
        self.report_losses(now);
        let sample = self.sample(now, &facts, &delivery, measured.control);
        if self.instruments.is_some() {
            self.report_details(&sample, &facts, rate, verdict.lost, segment);
        } else if delivery.delivered > 0 {
            self.cc.on_ack(&sample);
        }
        self.update_window(&facts, &delivery, verdict.lost);
        self.note_offer(segment);
    }

    #[cold]
    fn handle_handshake(&mut self, now: Instant, segment: &Segment) {
        if self.phase == Phase::SynSent && segment.flags.has(Flags::SYN.with(Flags::ACK)) {
            self.establish(now, segment);
        }
    }

    /// Takes the selective blocks. Returns whether the first one reports a duplicate. `prior` is
    /// what was acknowledged cumulatively before, and the highest segment that was reported
    /// selectively. A copy that arrived in vain is delivered, too.
    fn take_selective(&mut self, t: u64, segment: &Segment, prior: (u64, u64), delivery: &mut Delivery) -> bool {
        let (prior_una, prior_highest) = prior;
        let twice = segment.received_twice();
        let copies = twice.map_or(0, |twice| self.take_duplicate(twice, segment.number, prior_una));
        // Linux takes blocks in the order of what they cover, so that the highest one is the last.
        let mut blocks = [(0, 0); Segment::BLOCKS];
        for (block, range) in blocks.iter_mut().zip(segment.received()) {
            *block = self.numbers(&range);
        }
        blocks.sort_unstable();
        for (start, end) in blocks {
            self.board.sack(t, start, end, self.recovery_point, prior_highest, delivery);
        }
        if prior_una < self.board.nxt() {
            delivery.delivered += copies;
        }
        copies > 0
    }

    /// Takes a report of data that arrived twice, in an acknowledgement of everything below
    /// `number`. Returns how many segments it is about; none if more were reported than ever
    /// retransmitted, since the network has then made the copies.
    /// *Source*: Linux' `tcp_dsack_seen`, `tcp_check_dsack` and `tcp_sacktag_one`.
    #[cold]
    fn take_duplicate(&mut self, twice: Range<u64>, number: u64, prior_una: u64) -> u32 {
        let copies = (twice.end - twice.start).div_ceil(u64::from(self.segmentation.mss()));
        self.copies_reported += copies;
        if self.copies_reported > self.statistics.retransmitted_segments {
            return 0;
        }
        let (start, end) = self.numbers(&twice);
        if copies > 1 || end != self.probe_end {
            self.rack.on_duplicate();
        } else if twice.end <= number && self.probe_content == ProbeContent::Repeat {
            self.probe_end = NO_SEGMENT;
        }
        let copies = copies as u32;
        if end <= prior_una {
            self.undo.on_duplicates(copies, end);
        }
        for segment in start.max(prior_una)..end {
            let (repeated, sacked) = self.board.repeated_and_sacked(segment);
            if repeated {
                self.undo.on_duplicates(1, segment + 1);
                if sacked && (self.state != State::Loss || self.undo.is_possible()) {
                    self.rack.on_reordering();
                }
            }
        }
        copies
    }

    /// The numbers of the whole segments in a range of bytes.
    fn numbers(&self, range: &Range<u64>) -> (u64, u64) {
        let mss = u64::from(self.segmentation.mss());
        (self.segmentation.whole(range.start.saturating_add(mss - 1)), self.number_at(range.end))
    }

    /// The number of whole segments below a byte offset; the last segment may be short.
    #[inline]
    fn number_at(&self, offset: u64) -> u64 {
        if offset >= self.nxt_bytes { self.board.nxt() } else { self.segmentation.whole(offset) }
    }

    /// Takes round-trip time samples: from data sent once, else from selective reports, else from
    /// the echoed timestamp (RFC 7323).
    fn measure(&mut self, t: u64, delivery: &Delivery, advanced: bool, echoed: u64) -> Measured {
        let (mut smooth, mut control) = match delivery.acked {
            Some((first, last)) if !delivery.ambiguous => (Some(t - first), Some(t - last)),
            _ => (None, None),
        };
        let mut sack = None;
        if let Some((first, last)) = delivery.sack_sent {
            sack = Some(t - first);
            control = Some(t - last);
            smooth = smooth.or(sack);
        }
        if smooth.is_none() && advanced && echoed != 0 {
            smooth = Some(rtt::of_echo(t, echoed));
            control = smooth;
        }
        if let (Some(smooth), Some(control)) = (smooth, control) {
            self.rtt.sample_minimum(t, control);
            self.rtt.sample(smooth, self.board.una(), self.board.nxt());
            self.note_rtt(control);
        }
        Measured { control, sack }
    }

    /// Whether data delivered out of order restarts the timer: only if it was sent after the oldest
    /// outstanding segment was last sent.
    fn should_extend_timer(&self, t: u64, sack_rtt: Option<u64>) -> bool {
        match (sack_rtt, self.board.head_sent_at(t)) {
            (Some(rtt), Some(head)) => rtt > t - head,
            _ => false,
        }
    }

    /// Evaluates the answer to a loss probe (RFC 8985 §7.4).
    #[cold]
    fn judge_probe(&mut self, t: u64, segment: &Segment, facts: &AckFacts) {
        if self.board.una() < self.probe_end {
            return;
        }
        let pure_duplicate = !segment.has_blocks() && facts.duplicate && !facts.sacked;
        if self.probe_content == ProbeContent::NewData || pure_duplicate {
            self.probe_end = NO_SEGMENT;
        } else if self.board.una() > self.probe_end {
            self.reduce_for_probe(t);
        }
    }

    /// The sample of this acknowledgement for the control.
    #[inline]
    fn sample(&self, now: Instant, facts: &AckFacts, delivery: &Delivery, rtt: Option<u64>) -> AckSample {
        let limited = || self.cwnd_limited || self.cc.in_slow_start() && self.window < 2 * self.max_in_round;
        let growth =
            if facts.advanced && (self.owns_window || !self.is_reducing()) && limited() { Growth::Allowed } else { Growth::Held };
        AckSample {
            now,
            delivered: delivery.delivered,
            growth,
            rtt: rtt.map(Duration::ns),
            srtt: self.rtt.srtt(),
            min_rtt: Duration::ns(self.rtt.min()),
            una: self.board.una(),
            nxt: self.board.nxt(),
            in_flight: self.board.in_flight(),
            marked: facts.marked,
            state: self.state,
        }
    }

    /// Sets the window after this acknowledgement.
    fn update_window(&mut self, facts: &AckFacts, delivery: &Delivery, newly_lost: u32) {
        if !self.is_reducing() || self.owns_window {
            self.follow_control();
        } else if delivery.delivered > 0 {
            let ack = if facts.advanced && newly_lost == 0 { Ack::Safe } else { Ack::Unsafe };
            let window = self.prr.window(delivery.delivered, self.board.in_flight(), ack);
            // A partial acknowledgement is answered immediately (RFC 6582 §3.2, step 3).
            let repair = u32::from(self.lacks_sack() && newly_lost > 0);
            self.set_window(window.max(self.board.in_flight() + repair));
        }
        debug_assert!(self.timer.usage != Use::Off || self.board.outstanding() == 0, "data is outstanding and no timer runs");
    }
}
