//! Life without selective acknowledgements: New Reno's recovery.
//!
//! A duplicate acknowledgement stands for one segment that has arrived beyond the gap; which one is not known, so only their number is kept, as Linux
//! does. Three of them mean that the first outstanding segment is lost. In recovery an acknowledgement that advances without reaching the recovery
//! point means that the segment after it is lost as well: one loss is found in a round trip. Room for new segments follows from what is
//! believed in flight and proportional rate reduction instead of a window that is inflated and deflated; in sum both send the same. The retransmission
//! timer is restarted by the first partial acknowledgement only.
//! *Source*: RFC 6582 §3.2, §4.

use super::Sender;
use crate::cc::State;
use crate::config::LossDetection;
use crate::scoreboard::{Delivery, Verdict};

/// Duplicates that tell of a loss.
const THRESHOLD: u32 = 3;

/// What New Reno remembers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Duplicates {
    /// `recover`: one above the last segment sent when the latest repair began. Duplicates that do not reach beyond may come from the repair itself.
    recover: u64,
    /// An acknowledgement has advanced within this recovery.
    partial: bool,
}

impl Duplicates {
    /// The repair of what is outstanding begins.
    pub(super) const fn on_repair(&mut self, nxt: u64) {
        *self = Self { recover: nxt, partial: false };
    }

    /// Does the timer run on whatever is repeated?
    pub(super) const fn keep_timer(self) -> bool {
        self.partial
    }
}

impl Sender {
    /// Are losses found without selective acknowledgements?
    pub(super) fn lacks_sack(&self) -> bool {
        self.loss_detection == LossDetection::Duplicates
    }

    /// The acknowledgement moves up to `una`. Outside of recovery that ends all doubt; in it, what duplicates told of is part of what is acknowledged.
    pub(super) fn acknowledge_without_sack(&mut self, t: u64, una: u64, echoed: u64, delivery: &mut Delivery) {
        let keep = self.state == State::Recovery && una < self.recovery_point;
        self.board.acknowledge_after_duplicates(t, una, self.recovery_point, echoed, keep, delivery);
    }

    /// An acknowledgement repeats the one before. After a timeout that says nothing until something newer is outstanding.
    pub(super) fn count_duplicate(&mut self, delivery: &mut Delivery) {
        if self.state != State::Loss || self.board.nxt() > self.recovery_point {
            self.board.count_duplicate(delivery);
        }
    }

    /// Looks for a loss when an acknowledgement has come that has `advanced` or repeats.
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

    /// Does an acknowledgement that advances restart the retransmission timer?
    pub(super) fn restarts_timer(&mut self) -> bool {
        let partial = self.lacks_sack() && self.state == State::Recovery;
        !partial || !core::mem::replace(&mut self.duplicates.partial, true)
    }
}
