//! Transmission: handshake, probes, repairs, new data, in this order and as the window allows.

use super::state::Repair;
use super::state::Use;
use super::writer::Standing;
use super::{Phase, RecoveryStep, Sender, Stream, Transmit, Urgent};
use crate::cc::{CongestionControl, Sent, State};
use crate::config::LossDetection;
use crate::segment::{Flags, Segment};
use goodqueue_base::units::{Duration, Ecn, Instant};

impl Sender {
    /// The next segment to send now, if any. Poll until `None` after any other call.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.quota > 0 {
            return Some(self.send_granted(now));
        }
        if self.settled {
            return None;
        }
        self.poll_cold(now)
    }

    /// Does the work of [`poll_transmit`](Self::poll_transmit), but only for a segment that was
    /// granted without further checks. There may be others when there is none.
    #[inline(always)]
    pub(crate) fn poll_granted(&mut self, now: Instant) -> Option<Transmit> {
        (self.quota > 0).then(|| self.send_granted(now))
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) may return a segment.
    #[inline]
    pub(crate) const fn may_send(&self) -> bool {
        self.quota > 0 || !self.settled
    }

    /// The host takes no more segments for now: the burst ends here. It may poll again at any time.
    pub(crate) fn hold(&mut self, now: Instant) {
        self.end_burst(now.as_nanos());
    }

    /// Grants segments that may leave without further checks: full new segments of an open, unpaced
    /// sender with nothing to repair.
    #[inline]
    pub(super) fn grant(&mut self, t: u64) {
        let routine = self.state == State::Open && self.urgent == Urgent::Nothing && !self.board.awaits_repair();
        if routine && self.unwatched && !self.cwr_pending {
            let nxt = self.board.nxt();
            let room = self.room().min(self.whole_ahead());
            let before_stop = self.writer.next_stop().saturating_sub(nxt);
            self.quota = before_stop.min(u64::from(self.let_out(t, room))) as u32;
        }
    }

    /// New segments before the last one. The last one may be short, carries FIN, and ends a buffer
    /// of the application.
    #[inline]
    fn whole_ahead(&self) -> u32 {
        self.end.saturating_sub(1).saturating_sub(self.board.nxt()).min(u64::from(u32::MAX)) as u32
    }

    /// Settles when nothing was granted because all segments that there is room for wait.
    #[inline]
    pub(super) fn settle_if_all_waits(&mut self, t: u64) {
        let ahead = self.pieces.waiting() && self.writer.next_stop() > self.board.nxt();
        if ahead && self.room() <= self.whole_ahead() {
            self.end_burst(t);
            self.settled = true;
        }
    }

    #[inline(always)]
    fn send_granted(&mut self, now: Instant) -> Transmit {
        let t = now.as_nanos();
        let payload = self.segmentation.mss() as u16;
        self.quota -= 1;
        let flags = self.pieces.flags_of_next(self.quota == 0 && !self.goes_on_after_next());
        let segment = Segment { number: self.nxt_bytes, timestamp: now, payload, flags, ..Segment::default() };
        self.nxt_bytes += u64::from(payload);
        self.count_in_burst();
        self.note_sent(now);
        self.board.push(t);
        self.statistics.sent_segments += 1;
        if self.quota == 0 {
            self.end_burst(t);
            self.settled = self.board.in_flight() >= self.window || self.pieces.waiting();
        }
        Transmit { segment, ecn: self.codepoint, retransmission: false }
    }

    #[inline]
    fn count_in_burst(&mut self) {
        if self.burst == 0 {
            self.burst_from_empty = self.board.outstanding() == 0;
        }
        self.burst += 1;
    }

    #[inline(never)]
    fn poll_cold(&mut self, now: Instant) -> Option<Transmit> {
        if self.urgent != Urgent::Nothing || self.phase != Phase::Established {
            return self.send_urgent(now);
        }
        let t = now.as_nanos();
        if self.next_release() > t {
            self.end_burst(t);
            self.wake = self.timer.at.min(self.next_release());
            return None;
        }
        if self.board.outstanding() == 0 && self.has_new_data() {
            self.restart_after_idle(t);
        }
        if self.board.in_flight() < self.window {
            if self.repair != Repair::Nothing
                && let Some(sent) = self.send_repair(now)
            {
                return Some(sent);
            }
            if self.has_new_data() {
                if self.let_out(t, self.room_for_new_data()) > 0 {
                    return Some(self.send_new(now));
                }
                self.settled = true;
            } else if self.loss_detection == LossDetection::Rfc6675
                && self.state == State::Recovery
                && let Some(sent) = self.send_doubtful(now)
            {
                return Some(sent);
            }
        }
        self.note_pause();
        self.end_burst(t);
        None
    }

    /// Data is about to leave while nothing is outstanding. After a silence of more than a
    /// retransmission timeout the window is halved for each timeout that has passed, but not below
    /// the initial window.
    /// *Source*: RFC 5681 §4.1; Linux' `tcp_cwnd_restart`.
    fn restart_after_idle(&mut self, t: u64) {
        let mut silence = t.saturating_sub(self.last_sent_at);
        let timeout = self.rtt.rto();
        if !self.restarts || silence <= timeout || self.board.nxt() == 0 || self.is_reducing() {
            return;
        }
        let smallest = self.initial_window.min(self.window);
        let mut window = self.window;
        while silence > timeout && window > smallest {
            silence -= timeout;
            window /= 2;
        }
        self.cc.on_restart_after_idle(window.max(smallest));
        self.follow_control();
    }

    /// Whether there is unsent data that fits the receiver's window.
    #[inline]
    pub(super) fn has_new_data(&self) -> bool {
        self.board.nxt() < self.end.min(self.limit)
    }

    /// Segments that fit the windows of both sides.
    #[inline]
    fn room(&self) -> u32 {
        let receiver = self.limit.saturating_sub(self.board.nxt());
        u64::from(self.window.saturating_sub(self.board.in_flight())).min(receiver) as u32
    }

    /// New segments that may leave now, at least one if there is any.
    fn room_for_new_data(&self) -> u32 {
        u64::from(self.room().max(1)).min(self.end - self.board.nxt()) as u32
    }

    /// Whether another segment follows the next one at once although that is the last granted one:
    /// the last segment of the stream and of a buffer of the application are not granted.
    const fn goes_on_after_next(&self) -> bool {
        let after = self.board.nxt() + 1;
        let waits = after + 1 == self.end || after == self.writer.next_stop();
        waits && self.board.in_flight() + 1 < self.window && after < self.limit
    }

    #[cold]
    fn send_urgent(&mut self, now: Instant) -> Option<Transmit> {
        match core::mem::replace(&mut self.urgent, Urgent::Nothing) {
            Urgent::Nothing => None,
            Urgent::Syn => {
                self.last_sent_at = now.as_nanos();
                let segment = Segment { timestamp: now, flags: self.handshake_flags(), ..Segment::default() };
                Some(Transmit { segment, ecn: self.common_codepoint(), retransmission: self.timeouts_in_a_row > 0 })
            }
            Urgent::Ack => {
                let segment = Segment { timestamp: now, ..Segment::default() };
                Some(Transmit { segment, ecn: Ecn::NotEct, retransmission: false })
            }
            Urgent::ProbeWithNewData => {
                let sent = self.has_new_data().then(|| self.send_new(now));
                // A probe is not a burst: the timer set for it stays.
                self.burst = 0;
                sent
            }
            Urgent::ProbeWithLastSegment => {
                let number = self.board.probe_last(now.as_nanos())?;
                self.undo.on_repeat(now.as_nanos());
                Some(self.repeat(now, number))
            }
        }
    }

    fn send_repair(&mut self, now: Instant) -> Option<Transmit> {
        if self.repair == Repair::NewFirst {
            if self.has_new_data() {
                return Some(self.send_new(now));
            }
            if self.board.nxt() > self.recovery_point {
                self.repair = Repair::Nothing;
                return None;
            }
            self.recovery = RecoveryStep::Ordinary;
            self.repair = Repair::Lost;
        }
        if !self.board.awaits_repair() {
            return None;
        }
        let number = self.board.next_repair()?;
        Some(self.resend(now, number))
    }

    /// RFC 6675 §4, `NextSeg` rules 3 and 4: with nothing better to send, a segment that may be
    /// lost, and once per recovery the last one.
    fn send_doubtful(&mut self, now: Instant) -> Option<Transmit> {
        if let Some(number) = self.board.next_undelivered_hole() {
            return Some(self.resend(now, number));
        }
        if self.recovery == RecoveryStep::Rescued {
            return None;
        }
        self.recovery = RecoveryStep::Rescued;
        let number = self.board.last_undelivered(self.recovery_point)?;
        Some(self.resend(now, number))
    }

    fn resend(&mut self, now: Instant, number: u64) -> Transmit {
        let t = now.as_nanos();
        self.note_sent(now);
        self.board.resend(t, number);
        self.undo.on_repeat(t);
        if self.is_reducing() {
            self.prr.on_sent();
        }
        if number == self.board.una() && self.timer.usage != Use::Reordering && !self.duplicates.keep_timer() {
            self.arm_retransmission_from(t);
        }
        self.repeat(now, number)
    }

    /// Retransmits a segment. Under classic ECN retransmissions are not ECN-capable (RFC 3168
    /// §6.1.5).
    fn repeat(&mut self, now: Instant, number: u64) -> Transmit {
        self.statistics.sent_segments += 1;
        self.statistics.retransmitted_segments += 1;
        let fin = if self.stream.ends() && number + 1 == self.end { Flags::FIN } else { Flags::default() };
        let push = if self.writer.is_marked(number) { Flags::PSH } else { Flags::default() };
        let segment = Segment {
            number: self.segmentation.start_of(number),
            timestamp: now,
            payload: self.payload_of(number) as u16,
            flags: fin.with(push),
            ..Segment::default()
        };
        // Nothing leaves together with a retransmission.
        self.end_paced_burst();
        self.note_departed(now, number, u32::from(segment.payload));
        self.end_paced_burst();
        Transmit { segment, ecn: self.common_codepoint(), retransmission: true }
    }

    fn send_new(&mut self, now: Instant) -> Transmit {
        let number = self.board.nxt();
        let payload = self.payload_of(number);
        let mut flags = Flags::default();
        if number + 1 == self.end && self.stream.ends() {
            flags = Flags::FIN;
        }
        flags = flags.with(self.pieces.flags_of_next(self.room_for_new_data() == 1));
        if number == self.writer.next_stop() {
            let standing = self.standing();
            // Within a piece the end of the piece carries PSH.
            if self.writer.on_stop(&standing) && self.pieces.is_over() {
                flags = flags.with(Flags::PSH);
            }
        }
        if core::mem::take(&mut self.cwr_pending) {
            flags = flags.with(Flags::CWR);
        }
        let segment = Segment { number: self.nxt_bytes, timestamp: now, payload: payload as u16, flags, ..Segment::default() };
        self.count_in_burst();
        self.note_departure(now);
        self.note_sent(now);
        self.board.push(now.as_nanos());
        // The short end of a message takes the stream offsets of a whole segment.
        let is_whole = matches!(self.stream, Stream::Messages(_));
        self.nxt_bytes += u64::from(if is_whole { self.segmentation.mss() } else { payload });
        self.statistics.sent_segments += 1;
        if self.is_reducing() {
            self.prr.on_sent();
        }
        self.note_departed(now, number, payload);
        Transmit { segment, ecn: self.codepoint, retransmission: false }
    }

    #[inline]
    fn note_sent(&mut self, now: Instant) {
        let t = now.as_nanos();
        if self.board.in_flight() == 0 {
            self.note_restart(now);
        }
        self.last_sent_at = t;
    }

    #[cold]
    #[inline(never)]
    fn note_restart(&mut self, now: Instant) {
        let silence = Duration::ns(now.as_nanos().saturating_sub(self.last_sent_at));
        self.cc.on_sent(&Sent { now, silence });
    }

    /// The state of the connection, for the application that writes.
    #[inline]
    fn standing(&self) -> Standing {
        Standing {
            una: self.board.una(),
            nxt: self.board.nxt(),
            window: self.window,
            in_flight: self.board.in_flight(),
            piece: self.pieces.size(),
        }
    }

    /// Ends the burst: records how the window was used, and arms the timer.
    #[inline]
    fn end_burst(&mut self, t: u64) {
        self.end_paced_burst();
        self.writer.after_sending(&self.standing());
        let limited = self.board.in_flight() >= self.window || self.pieces.waiting();
        let outstanding = self.board.outstanding();
        let more = !self.cwnd_limited && outstanding > self.max_in_round;
        if (self.burst > 0 || limited) && (limited || more || self.board.una() >= self.usage_end) {
            self.cwnd_limited = limited;
            self.max_in_round = outstanding;
            self.usage_end = self.board.nxt();
        }
        if self.burst > 0 {
            self.burst = 0;
            self.arm_after_sending(t, self.burst_from_empty);
        }
    }
}
