//! Reactions to losses: entering and leaving reductions, deciding about each acknowledgement,
//! undoing mistakes.

use super::state::Echo;
use super::state::{Repair, Undo};
use super::{AckFacts, NO_SEGMENT, ProbeContent, RecoveryStep, Sender};
use crate::cc::{Congestion, CongestionControl, State};
use crate::config::LossDetection;
use crate::prr::Prr;
use crate::rtt;
use crate::scoreboard::Verdict;
use goodqueue_base::units::Instant;

impl Undo {
    pub(super) fn on_repeat(&mut self, now: u64) {
        self.repeats = Some(self.repeats.unwrap_or(0) + 1);
        self.first_repeat_at.get_or_insert(now);
    }

    /// Whether there is a reduction that may be undone.
    pub(super) const fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Segments that were sent again, up to `end`, have arrived twice.
    pub(super) fn on_duplicates(&mut self, copies: u32, end: u64) {
        if let (Some(marker), Some(repeats)) = (self.marker, self.repeats)
            && end > marker
        {
            self.repeats = Some(repeats.saturating_sub(copies));
        }
    }

    /// Whether the acknowledgement echoes something sent before the first retransmission, or there
    /// was none. Without timestamps it echoes zero.
    fn original_arrived(&self, echoed: u64) -> bool {
        self.first_repeat_at.is_none_or(|first| echoed != 0 && rtt::is_echo_before(echoed, first))
    }

    fn all_repeats_were_spurious(&self) -> bool {
        self.marker.is_some() && self.repeats == Some(0)
    }

    fn is_due(&self, echoed: u64) -> bool {
        self.marker.is_some() && (self.repeats == Some(0) || self.original_arrived(echoed))
    }
}

impl Sender {
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Reducing | State::Recovery)
    }

    /// Looks for losses, and arms the reordering timer when segments may only be late.
    pub(super) fn find_losses(&mut self, t: u64, advanced: bool) -> Verdict {
        let verdict = match self.loss_detection {
            LossDetection::Rfc6675 => self.board.find_losses_by_count(),
            LossDetection::Duplicates => self.find_loss_by_duplicates(advanced),
            LossDetection::Rack => {
                if !self.rack.advanced {
                    return Verdict::default();
                }
                self.rack.advanced = false;
                self.judge_by_time(t)
            }
        };
        if let Some(at) = verdict.wait_until {
            self.arm_reordering(t, at);
        }
        verdict
    }

    pub(super) fn judge_by_time(&mut self, t: u64) -> Verdict {
        let in_recovery = self.state >= State::Recovery;
        let srtt = self.rtt.srtt().as_nanos();
        let window = self.rack.window(in_recovery, self.board.sacked(), self.rtt.min(), srtt);
        self.board.find_losses_by_time(t, self.rack.latest, window)
    }

    fn congestion(&self, t: u64) -> Congestion {
        Congestion { now: Instant::from_nanos(t), flight: self.board.outstanding() }
    }

    fn begin_reduction(&mut self, prior_window: u32) {
        self.recovery_point = self.board.nxt();
        self.probe_end = NO_SEGMENT;
        self.cwr_pending |= matches!(self.echo, Echo::Classic | Echo::Mirrored);
        let target = self.segmentation.whole(self.cc.cwnd().get()) as u32;
        self.prr = Prr::new(prior_window, target);
    }

    fn end_reduction(&mut self) {
        self.follow_control();
    }

    pub(super) fn begin_undo(&mut self, restorable: bool) {
        let in_flight =
            self.board.retransmitted() + u32::from(self.probe_end != NO_SEGMENT && self.probe_content == ProbeContent::Repeat);
        self.undo.marker = Some(self.board.una());
        self.undo.repeats = (in_flight > 0).then_some(in_flight);
        self.undo.restorable = restorable;
    }

    pub(super) fn enter_recovery(&mut self, t: u64, ece: bool) {
        self.begin_undo(false);
        if !self.is_reducing() {
            self.undo.restorable = !ece;
            let prior = self.window;
            self.cc.on_loss(&self.congestion(t));
            self.begin_reduction(prior);
        } else if let Some(target) = self.cc.on_loss_after_ecn(self.window) {
            self.prr.aim_at(target);
        }
        self.state = State::Recovery;
        self.recovery = RecoveryStep::Ordinary;
        self.duplicates.on_repair(self.board.nxt());
        self.statistics.recoveries += 1;
    }

    fn answer_echo(&mut self, t: u64) {
        if self.state < State::Reducing {
            self.undo = Undo { first_repeat_at: self.undo.first_repeat_at, ..Undo::default() };
            let prior = self.window;
            self.cc.on_ecn(&self.congestion(t));
            self.begin_reduction(prior);
            self.state = State::Reducing;
            self.statistics.ecn_responses += 1;
        }
    }

    /// Reduces the window for a loss that a probe has repaired: one reduction that is already over.
    pub(super) fn reduce_for_probe(&mut self, t: u64) {
        let prior = self.window;
        self.cc.on_loss(&self.congestion(t));
        self.begin_reduction(prior);
        self.state = State::Reducing;
        self.end_reduction();
        self.settle();
        self.cc.on_recovered(Instant::from_nanos(t));
    }

    /// Returns to the open state, or to disorder while segments are delivered out of order or
    /// retransmitted.
    fn settle(&mut self) {
        let uneasy = self.board.sacked() + self.board.lost() + self.board.retransmitted() > 0 || self.board.head_was_repeated();
        let state = if uneasy { State::Disorder } else { State::Open };
        if state != self.state {
            self.state = state;
            self.recovery_point = self.board.nxt();
        }
    }

    fn stay_open(&mut self, t: u64, ece: bool) {
        if !self.board.head_was_repeated() && self.board.retransmitted() == 0 {
            self.undo.first_repeat_at = None;
        }
        if ece {
            self.answer_echo(t);
        }
        if self.state != State::Reducing {
            self.settle();
        }
    }

    fn undo_reduction(&mut self, t: u64, losses_too: bool) {
        if losses_too {
            self.board.forgive();
        }
        if self.undo.restorable {
            self.cc.on_undo(Instant::from_nanos(t));
            self.cwr_pending = false;
        }
        self.undo.marker = None;
        self.rack.advanced = true;
        self.statistics.undone += 1;
    }

    fn end_recovery(&mut self, t: u64, echoed: u64) {
        if self.undo.is_due(echoed) {
            self.undo_reduction(t, false);
        } else {
            self.rack.on_recovered();
        }
        self.state = State::Open;
        self.cc.on_recovered(Instant::from_nanos(t));
    }

    /// Leaves the present state if everything below `recovery_point` is acknowledged.
    fn leave_when_covered(&mut self, t: u64, facts: &AckFacts) {
        if self.state == State::Open {
            self.undo.first_repeat_at = None;
        } else if self.board.una() >= self.recovery_point {
            match self.state {
                // The receiver must see the window-reduced flag, so something above the point is
                // needed.
                State::Reducing if self.board.una() > self.recovery_point => {
                    self.end_reduction();
                    self.state = State::Open;
                    self.cc.on_recovered(Instant::from_nanos(t));
                }
                State::Recovery => {
                    self.end_recovery(t, facts.echoed);
                    self.end_reduction();
                }
                _ => {}
            }
        }
    }

    /// Decides about an acknowledgement that is not routine. Returns the losses found, and whether
    /// the timer is used for reordering.
    pub(super) fn handle_signs_of_loss(&mut self, t: u64, facts: &AckFacts) -> Verdict {
        self.repair = Repair::Nothing;
        if facts.ece {
            self.undo.restorable = false;
        }
        self.leave_when_covered(t, facts);
        match self.state {
            State::Recovery => self.continue_recovery(t, facts),
            State::Loss => self.continue_after_timeout(t, facts),
            _ => self.look_for_trouble(t, facts),
        }
    }

    fn continue_recovery(&mut self, t: u64, facts: &AckFacts) -> Verdict {
        if facts.advanced && self.undo.marker.is_some() && self.undo.original_arrived(facts.echoed) {
            // The original filled the hole: stop declaring losses, and undo once no retransmission
            // is in flight.
            if facts.prior_una < self.board.highest_sacked() {
                self.rack.on_reordering();
            }
            if self.board.retransmitted() > 0 {
                return Verdict::default();
            }
            self.undo_reduction(t, true);
            self.settle();
        }
        if self.undo.all_repeats_were_spurious() {
            self.rack.on_vain_recovery();
            self.undo_reduction(t, false);
            self.stay_open(t, facts.ece);
        }
        let verdict = self.find_losses(t, facts.advanced);
        if self.state != State::Recovery {
            if self.board.lost() == 0 {
                return verdict;
            }
            self.enter_recovery(t, facts.ece);
        }
        self.repair = Repair::Lost;
        verdict
    }

    fn continue_after_timeout(&mut self, t: u64, facts: &AckFacts) -> Verdict {
        self.repair = self.judge_timeout(t, facts);
        let verdict = self.find_losses(t, facts.advanced);
        if self.state == State::Open || verdict.retransmissions > 0 {
            let mut more = self.look_for_trouble(t, facts);
            more.lost += verdict.lost;
            more.wait_until = more.wait_until.or(verdict.wait_until);
            return more;
        }
        verdict
    }

    /// Decides by F-RTO (RFC 5682 §3) whether the timeout was spurious, and ends the state.
    fn judge_timeout(&mut self, t: u64, facts: &AckFacts) -> Repair {
        let recovered = self.board.una() >= self.recovery_point;
        if facts.advanced && self.undo.is_due(facts.echoed) {
            self.undo_timeout(t);
            return Repair::Nothing;
        }
        if self.recovery == RecoveryStep::ForwardRto {
            if facts.original {
                self.undo_timeout(t);
                return Repair::Nothing;
            }
            if self.board.nxt() > self.recovery_point {
                if facts.sacked || facts.duplicate {
                    self.recovery = RecoveryStep::Ordinary;
                }
            } else if facts.advanced && !recovered {
                self.recovery_point = self.board.nxt();
                if self.has_new_data() {
                    return Repair::NewFirst;
                }
                self.recovery = RecoveryStep::Ordinary;
            }
        }
        if recovered {
            self.end_recovery(t, facts.echoed);
            return Repair::Nothing;
        }
        Repair::Lost
    }

    fn undo_timeout(&mut self, t: u64) {
        self.undo_reduction(t, true);
        self.timeouts_in_a_row = 0;
        self.state = State::Open;
        self.cc.on_recovered(Instant::from_nanos(t));
    }

    /// Looks for a loss or an echo in the open, disorder and reducing states.
    fn look_for_trouble(&mut self, t: u64, facts: &AckFacts) -> Verdict {
        if self.state <= State::Disorder && self.undo.all_repeats_were_spurious() {
            self.rack.on_vain_recovery();
            self.undo_reduction(t, false);
        }
        let verdict = self.find_losses(t, facts.advanced);
        if self.board.lost() == 0 {
            if self.state != State::Loss {
                self.stay_open(t, facts.ece);
            }
            return verdict;
        }
        self.enter_recovery(t, facts.ece);
        self.repair = Repair::Lost;
        verdict
    }
}
