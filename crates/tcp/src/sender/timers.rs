//! The sender's one timer, for the handshake, retransmission timeouts, loss probes and reordering.
//!
//! It expires when Linux's timer would. There, timers lie in a wheel whose rows turn every 1, 8,
//! 64, 512 ... ms, for waits of up to 63 ms, half a second, 4 s, 32 s ..., and are rounded up to
//! the next turn (`calc_wheel_index`). All wheels turn together, as those of flows on one machine
//! do.

use super::state::Echo;
use super::state::Repair;
use super::state::{NEVER, Timer, Use};
use super::{NO_SEGMENT, Phase, ProbeContent, RecoveryStep, Sender, Urgent};
use crate::cc::{CongestionControl, Response, State, Timeout};
use crate::config::LossDetection;
use crate::prr::Ack;
use goodqueue_base::units::Instant;

const SECOND: u64 = 1_000_000_000;
/// Least wait of probe and reordering timers (two clock ticks of Linux).
const MIN_WAIT: u64 = 2_000_000;
/// Number of repeated handshakes after which the wait doubles each time (Linux's
/// `tcp_syn_linear_timeouts`).
const LINEAR_HANDSHAKES: u32 = 4;

impl Timer {
    pub(super) const OFF: Self = Self { usage: Use::Off, at: NEVER, set_at: NEVER };

    /// The turn of the wheel at which it expires.
    #[cold]
    fn turn(&self) -> u64 {
        let now = self.set_at / TICK;
        let wait = self.at.saturating_sub(self.set_at).div_ceil(TICK);
        let mut row = 0;
        while row < LAST_ROW && wait >= FIRST_ROW << (ROW_SHIFT * row) {
            row += 1;
        }
        let shift = ROW_SHIFT * row;
        ((((now + wait) >> shift) + 1) << shift) * TICK
    }
}

/// The wheel's tick in nanoseconds, for a kernel with 1000 ticks per second.
const TICK: u64 = 1_000_000;
/// Least wait in ticks that is too long for the first row; each further row turns eight times more
/// slowly.
const FIRST_ROW: u64 = 63;
const ROW_SHIFT: u32 = 3;
const LAST_ROW: u32 = 8;

impl Sender {
    #[inline]
    fn arm(&mut self, t: u64, usage: Use, at: u64) {
        self.timer = Timer { usage, at, set_at: t };
        self.wake = at;
    }

    pub(super) fn disarm(&mut self) {
        self.timer = Timer::OFF;
        self.wake = NEVER;
    }

    pub(super) fn arm_handshake(&mut self, t: u64) {
        self.arm(t, Use::Handshake, t.saturating_add(self.rtt.rto()));
    }

    pub(super) fn arm_retransmission_from(&mut self, t: u64) {
        self.arm(t, Use::Retransmit, t.saturating_add(self.rtt.rto()));
    }

    pub(super) fn arm_reordering(&mut self, t: u64, at: u64) {
        self.arm(t, Use::Reordering, at.max(t) + MIN_WAIT);
    }

    /// The time at which the oldest outstanding segment times out, from its last transmission.
    #[inline]
    fn head_expires_at(&self, t: u64) -> u64 {
        self.board.head_sent_at(t).unwrap_or(t) + self.rtt.rto()
    }

    /// Arms the retransmission timer again: from now, or from the oldest segment if the timer had
    /// another use meanwhile.
    pub(super) fn rearm_retransmission(&mut self, t: u64) {
        if self.board.outstanding() == 0 {
            self.disarm();
        } else if matches!(self.timer.usage, Use::Reordering | Use::Probe) {
            let at = self.head_expires_at(t).max(t + 1);
            self.arm(t, Use::Retransmit, at);
        } else {
            self.arm_retransmission_from(t);
        }
    }

    /// Arms a loss probe in two round trips, but not later than `rto_at`. Returns false in recovery
    /// and where there are no probes.
    #[inline]
    fn arm_probe(&mut self, t: u64, rto_at: u64) -> bool {
        let calm = matches!(self.state, State::Open | State::Reducing);
        if !calm || self.board.outstanding() == 0 || self.loss_detection != LossDetection::Rack {
            return false;
        }
        let srtt = self.rtt.srtt().as_nanos();
        let wait = if srtt == 0 {
            SECOND
        } else {
            // A single segment may meet a delayed acknowledgement.
            2 * srtt + if self.board.outstanding() == 1 { self.rtt.rto_min() } else { MIN_WAIT }
        };
        let at = t + wait;
        self.arm(t, Use::Probe, if rto_at > t { at.min(rto_at) } else { at });
        true
    }

    /// Arms the timer after an acknowledgement that advanced.
    #[inline]
    pub(super) fn arm_after_progress(&mut self, t: u64) {
        if !self.arm_probe(t, t + self.rtt.rto()) {
            self.rearm_retransmission(t);
        }
    }

    /// Arms the timer after new segments were sent.
    #[inline]
    pub(super) fn arm_after_sending(&mut self, t: u64, from_empty: bool) {
        let rto_at = self.head_expires_at(t);
        if !self.arm_probe(t, rto_at) && (from_empty || self.timer.usage == Use::Probe) {
            self.rearm_retransmission(t);
        }
    }

    /// Handles the time of [`next_timeout`](Self::next_timeout). Early or repeated calls change
    /// nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let t = now.as_nanos();
        if t >= self.timer.at && self.timer.set_at != NEVER && self.waits_for_turn(t) {
            return;
        }
        self.unsettle();
        if self.wake < self.timer.at && self.wake <= t {
            // Pacing releases a segment: the next poll gets it.
            self.wake = self.timer.at;
        }
        if t < self.timer.at {
            return;
        }
        match self.timer.usage {
            Use::Off => {}
            Use::Handshake => self.on_handshake_timeout(t),
            Use::Retransmit => self.on_retransmission_timeout(now),
            Use::Probe => self.on_probe_timeout(t),
            Use::Reordering => self.on_reordering_timeout(now),
        }
    }

    /// Whether a due timer waits for the wheel's next turn, and nothing else is due until then.
    #[cold]
    fn waits_for_turn(&mut self, t: u64) -> bool {
        let alone = self.wake >= self.timer.at;
        let turn = self.timer.turn();
        self.timer = Timer { at: turn, set_at: NEVER, ..self.timer };
        if alone {
            self.wake = turn;
        }
        alone && t < turn
    }

    fn on_handshake_timeout(&mut self, t: u64) {
        if self.phase != Phase::SynSent {
            self.disarm();
            return;
        }
        self.statistics.timeouts += 1;
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row > LINEAR_HANDSHAKES {
            self.rtt.back_off();
        }
        self.urgent = Urgent::Syn;
        self.arm_handshake(t);
    }

    fn on_retransmission_timeout(&mut self, now: Instant) {
        let t = now.as_nanos();
        if self.board.outstanding() == 0 {
            self.disarm();
            return;
        }
        self.statistics.timeouts += 1;
        let patience = if self.loss_detection == LossDetection::Rack { self.rack.latest.rtt } else { 0 };
        let newly_in_trouble = self.state < State::Recovery;
        if self.lacks_sack() {
            self.board.forget_duplicates();
        }
        self.board.time_out(t, patience);
        self.duplicates.on_repair(self.board.nxt());
        let news = self.state <= State::Disorder
            || self.recovery_point <= self.board.una()
            || self.state == State::Loss && self.timeouts_in_a_row == 0;
        let response = if news { Response::Reduce } else { Response::Repeat };
        if news {
            self.begin_undo(true);
        }
        self.report_losses(now);
        self.cc.on_rto(&Timeout {
            now,
            flight: self.board.outstanding(),
            in_flight: self.board.in_flight(),
            nxt: self.board.nxt(),
            response,
        });
        self.follow_control();
        self.state = State::Loss;
        self.recovery_point = self.board.nxt();
        self.probe_end = NO_SEGMENT;
        self.cwr_pending |= matches!(self.echo, Echo::Classic | Echo::Mirrored);
        self.recovery =
            if newly_in_trouble || self.timeouts_in_a_row > 0 { RecoveryStep::ForwardRto } else { RecoveryStep::Ordinary };
        self.timeouts_in_a_row += 1;
        self.repair = Repair::Lost;
        self.rtt.back_off();
        self.arm_retransmission_from(t);
    }

    fn on_probe_timeout(&mut self, t: u64) {
        if self.board.outstanding() == 0 {
            self.disarm();
            return;
        }
        if self.probe_end != NO_SEGMENT {
            // There is one probe at a time.
            self.rearm_retransmission(t);
            return;
        }
        if self.has_new_data() {
            self.urgent = Urgent::ProbeWithNewData;
            self.probe_content = ProbeContent::NewData;
            self.probe_end = self.board.nxt() + 1;
        } else {
            self.urgent = Urgent::ProbeWithLastSegment;
            self.probe_content = ProbeContent::Repeat;
            self.probe_end = self.board.nxt();
        }
        self.statistics.probes += 1;
        self.arm_retransmission_from(t);
    }

    fn on_reordering_timeout(&mut self, now: Instant) {
        let t = now.as_nanos();
        let verdict = self.judge_by_time(t);
        if verdict.lost > 0 {
            if self.state != State::Recovery {
                self.enter_recovery(t, false);
                if !self.owns_window {
                    let window = self.prr.window(1, self.board.in_flight(), Ack::Unsafe);
                    self.set_window(window);
                }
            }
            self.report_losses(now);
            self.repair = Repair::Lost;
        }
        match verdict.wait_until {
            Some(at) => self.arm_reordering(t, at),
            None => self.rearm_retransmission(t),
        }
    }
}
