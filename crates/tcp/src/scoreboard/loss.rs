//! Losses: which segments are lost, which are retransmitted, and the effects of a timeout or a
//! mistaken recovery.

use super::{AMBIGUOUS, FLAGS, LOST, LossLog, RETRANSMITTED, Record, SACKED, Scoreboard};

/// Late segments examined for the time of the last of them; keeps the work per acknowledgement
/// constant.
const LATE_LOOKED_AT: usize = 16;

/// The delivered segment that was sent last (RFC 8985 §6.2), and its round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastDelivered {
    pub(crate) sent_at: u64,
    pub(crate) number: u64,
    pub(crate) rtt: u64,
}

impl LastDelivered {
    /// Whether this segment was sent after the given one.
    const fn is_after(&self, sent_at: u64, number: u64) -> bool {
        self.sent_at > sent_at || self.sent_at == sent_at && self.number > number
    }
}

/// The result of a search for losses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdict {
    /// Segments newly believed lost.
    pub(crate) lost: u32,
    /// Retransmissions among those.
    pub(crate) retransmissions: u32,
    /// Segments older than the latest delivered one may only be late: search again then.
    pub(crate) wait_until: Option<u64>,
}

impl LossLog {
    fn note(&mut self, number: u64) {
        self.numbers.push_back(number);
        self.count += 1;
    }
}

impl Scoreboard {
    pub(super) fn mark_lost(&mut self, number: u64) {
        let record = self.record(number);
        if record.has(RETRANSMITTED) {
            self.retransmitted -= 1;
            self.waiting += 1;
        } else if !record.has(LOST) {
            self.waiting += 1;
        }
        if !record.has(LOST) {
            self.lost += 1;
        }
        *self.slot(number) = Record(record.0 & !RETRANSMITTED | LOST);
        if let Some(log) = &mut self.log
            && (record.has(RETRANSMITTED) || !record.has(LOST))
        {
            log.note(number);
        }
    }

    /// Moves the frontier over everything decided. Returns the first segment that is neither
    /// delivered, lost nor retransmitted.
    pub(super) fn next_undecided(&mut self) -> Option<u64> {
        while self.frontier < self.nxt {
            let record = self.record(self.frontier);
            if record.has(SACKED) {
                self.frontier = record.skip();
            } else if record.has(LOST | RETRANSMITTED) {
                self.frontier += 1;
            } else {
                return Some(self.frontier);
            }
        }
        None
    }

    /// The retransmission in flight that was sent first.
    fn oldest_resent(&mut self) -> Option<u64> {
        while let Some(&number) = self.resent.front() {
            if number >= self.una && self.record(number).has(RETRANSMITTED) {
                return Some(number);
            }
            self.resent.pop_front();
        }
        None
    }

    /// RFC 8985: a segment is lost that was sent more than `latest.rtt + window` ago, and before
    /// the delivered segment that was sent last.
    pub(crate) fn find_losses_by_time(&mut self, now: u64, latest: LastDelivered, window: u64) -> Verdict {
        let mut verdict = Verdict::default();
        let patience = latest.rtt + window;
        while let Some(number) = self.next_undecided() {
            let sent_at = self.record(number).sent_at(now);
            if !latest.is_after(sent_at, number) {
                break;
            }
            if sent_at + patience > now {
                verdict.wait_until = Some(self.last_waiting(now, latest) + patience);
                break;
            }
            self.mark_lost(number);
            verdict.lost += 1;
        }
        while let Some(number) = self.oldest_resent() {
            let sent_at = self.record(number).sent_at(now);
            if !latest.is_after(sent_at, number) {
                break;
            }
            if sent_at + patience > now {
                // All that wait were sent before `latest`.
                verdict.wait_until = Some(latest.sent_at + patience);
                break;
            }
            self.resent.pop_front();
            self.mark_lost(number);
            self.relost.push_back(number);
            verdict.lost += 1;
            verdict.retransmissions += 1;
        }
        self.recount();
        verdict
    }

    /// The time of transmission of the last late segment, first transmissions only; an upper bound
    /// when there are many.
    fn last_waiting(&self, now: u64, latest: LastDelivered) -> u64 {
        let mut last = latest.sent_at;
        let mut number = self.frontier;
        for _ in 0..LATE_LOOKED_AT {
            if number >= latest.number {
                return last;
            }
            let record = self.record(number);
            if record.has(SACKED) {
                number = record.skip();
                continue;
            }
            if !record.has(LOST | RETRANSMITTED) {
                last = record.sent_at(now);
            }
            number += 1;
        }
        latest.sent_at
    }

    /// RFC 6675: a segment with three delivered segments above it is lost. Retransmissions are not
    /// judged.
    pub(crate) fn find_losses_by_count(&mut self) -> Verdict {
        let mut verdict = Verdict::default();
        if self.sacked < 3 {
            return verdict;
        }
        let limit = self.top[2];
        while let Some(number) = self.next_undecided() {
            if number >= limit {
                break;
            }
            self.mark_lost(number);
            verdict.lost += 1;
        }
        self.recount();
        verdict
    }

    /// Whether some lost segment is not retransmitted yet.
    #[inline]
    pub(crate) const fn awaits_repair(&self) -> bool {
        self.waiting > 0
    }

    /// The lowest lost segment not yet sent again, as far as losses are found in order.
    pub(crate) fn next_repair(&mut self) -> Option<u64> {
        let repeated = loop {
            match self.relost.front() {
                Some(&number) if number < self.una || !self.needs_repair(number) => {
                    self.relost.pop_front();
                }
                other => break other.copied(),
            }
        };
        while self.repair < self.frontier {
            let record = self.record(self.repair);
            if record.has(SACKED) {
                self.repair = record.skip();
            } else if self.needs_repair(self.repair) {
                break;
            } else {
                self.repair += 1;
            }
        }
        let first = (self.repair < self.frontier).then_some(self.repair);
        match (first, repeated) {
            (Some(first), Some(repeated)) => Some(first.min(repeated)),
            (first, repeated) => first.or(repeated),
        }
    }

    fn needs_repair(&self, number: u64) -> bool {
        self.record(number).0 & (LOST | RETRANSMITTED | SACKED) == LOST
    }

    /// A segment is sent again because it is lost, or (RFC 6675, rules 3 and 4) might be.
    pub(crate) fn resend(&mut self, now: u64, number: u64) {
        let record = self.record(number);
        debug_assert!(!record.has(SACKED | RETRANSMITTED), "delivered or in flight already");
        *self.slot(number) = Record::new(now, record.0 & FLAGS | RETRANSMITTED | AMBIGUOUS);
        self.retransmitted += 1;
        if record.has(LOST) {
            self.waiting -= 1;
        }
        self.queue_resent(now, number);
        self.recount();
    }

    /// Queues a retransmitted segment behind those sent before it. Of several sent in one instant
    /// the lower one counts as the earlier (RFC 8985 §5.1).
    fn queue_resent(&mut self, now: u64, number: u64) {
        let later = |&&other: &&u64| other > number && self.is_resent_at(other, now);
        let later = self.resent.iter().rev().take_while(later).count();
        self.resent.insert(self.resent.len() - later, number);
    }

    fn is_resent_at(&self, number: u64, now: u64) -> bool {
        let record = self.record(number);
        record.has(RETRANSMITTED) && record.sent_at(now) == now
    }

    /// Sends the highest undelivered segment once more as a probe. Only its time changes.
    pub(crate) fn probe_last(&mut self, now: u64) -> Option<u64> {
        let number = self.nxt.checked_sub(1).filter(|&number| number >= self.una)?;
        let record = self.record(number);
        if record.has(SACKED) {
            return None;
        }
        *self.slot(number) = Record::new(now, record.0 & FLAGS | AMBIGUOUS);
        Some(number)
    }

    /// RFC 6675, `NextSeg` rule 3: the lowest segment below the highest delivered one that is not
    /// retransmitted yet.
    pub(crate) fn next_undelivered_hole(&mut self) -> Option<u64> {
        self.next_undecided().filter(|&number| number < self.highest_sacked)
    }

    /// The highest segment below `limit` that is not delivered and not in flight again (RFC 6675,
    /// rule 4). Called once per recovery at most.
    pub(crate) fn last_undelivered(&self, limit: u64) -> Option<u64> {
        (self.una..limit.min(self.nxt)).rev().find(|&number| !self.record(number).has(SACKED | RETRANSMITTED))
    }

    /// Handles a retransmission timeout: everything sent at least `patience` ago is lost, and the
    /// oldest segment in any case.
    pub(crate) fn time_out(&mut self, now: u64, patience: u64) {
        self.relost.clear();
        for number in self.una..self.nxt {
            let record = self.record(number);
            let recent = number != self.una && record.sent_at(now) + patience > now;
            if !record.has(SACKED) && !recent {
                self.mark_lost(number);
            }
        }
        // Losses are found and repaired from the start again; only segments in flight keep their
        // places in the queue.
        let mut resent = core::mem::take(&mut self.resent);
        resent.retain(|&number| number >= self.una && self.record(number).has(RETRANSMITTED));
        self.resent = resent;
        self.repair = self.una;
        self.frontier = self.una;
        // The repair cursor stops at the frontier, so the frontier moves first.
        let _ = self.next_undecided();
        self.recount();
    }

    /// The recovery was a mistake: nothing is lost after all.
    pub(crate) fn forgive(&mut self) {
        if self.lost == 0 {
            return;
        }
        for number in self.una..self.nxt {
            let record = self.record(number);
            if record.has(LOST) {
                *self.slot(number) = Record(record.0 & !LOST);
            }
        }
        self.lost = 0;
        self.waiting = 0;
        self.relost.clear();
        self.repair = self.una;
        self.frontier = self.una;
        self.recount();
    }
}
