//! Loss recovery without selective acknowledgements: New Reno.
//!
//! A duplicate acknowledgement stands for one segment that has arrived beyond the gap. Which one is
//! unknown, so only their number is kept, as in Linux. Three of them mean that the first
//! outstanding segment is lost. In recovery an acknowledgement that advances without reaching the
//! recovery point means that the segment after it is lost as well: one loss is found per round
//! trip. Room for new segments follows from the segments believed in flight and from proportional
//! rate reduction instead of a window that is inflated and deflated; both send the same in total.
//! Only the first partial acknowledgement restarts the retransmission timer.
//! *Source*: RFC 6582 §3.2, §4.

use super::Sender;
use super::state::Duplicates;
use crate::cc::State;
use crate::config::LossDetection;
use crate::scoreboard::{Delivery, Verdict};

/// Number of duplicates that indicates a loss.
const THRESHOLD: u32 = 3;

impl Duplicates {
    /// Begins the repair of the outstanding segments.
    pub(super) const fn on_repair(&mut self, nxt: u64) {
        *self = Self { recover: nxt, partial: false };
    }

    /// Whether the timer keeps running when a segment is retransmitted.
    pub(super) const fn keep_timer(self) -> bool {
        self.partial
    }
}

impl Sender {
    /// Whether losses are found without selective acknowledgements.
    pub(super) fn lacks_sack(&self) -> bool {
        self.loss_detection == LossDetection::Duplicates
    }

    /// Advances the acknowledgement to `una`. Outside of recovery all duplicates are forgotten; in
    /// recovery, the segments they stood for are part of what is acknowledged.
    pub(super) fn acknowledge_without_sack(&mut self, t: u64, una: u64, echoed: u64, delivery: &mut Delivery) {
        let keep = self.state == State::Recovery && una < self.recovery_point;
        self.board.acknowledge_after_duplicates(t, una, self.recovery_point, echoed, keep, delivery);
    }

    /// Counts an acknowledgement that repeats the previous one. After a timeout it has no meaning
    /// until something newer is outstanding.
    pub(super) fn count_duplicate(&mut self, delivery: &mut Delivery) {
        if self.state != State::Loss || self.board.nxt() > self.recovery_point {
            self.board.count_duplicate(delivery);
        }
    }

    /// Looks for a loss after an acknowledgement that has `advanced`, or is a duplicate.
    pub(super) fn find_loss_by_duplicates(&mut self, advanced: bool) -> Verdict {
        let found = match self.state {
            State::Recovery => advanced,
            State::Loss => false,
            _ => self.board.sacked() >= THRESHOLD && self.is_beyond_last_repair(),
        };
        if found { self.board.lose_first() } else { Verdict::default() }
    }

    fn is_beyond_last_repair(&self) -> bool {
        self.duplicates.recover == 0 || self.board.una() > self.duplicates.recover
    }

    /// Whether an acknowledgement that advances restarts the retransmission timer.
    pub(super) fn restarts_timer(&mut self) -> bool {
        let partial = self.lacks_sack() && self.state == State::Recovery;
        !partial || !core::mem::replace(&mut self.duplicates.partial, true)
    }
}
