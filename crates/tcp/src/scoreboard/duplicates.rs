//! Counting without selective acknowledgements: the number of segments that have arrived beyond the
//! gap is known, the segments are not. No record is marked then; the number takes the place of the
//! number of selectively reported segments.

use super::{Delivery, LOST, RETRANSMITTED, Scoreboard, Verdict};

impl Scoreboard {
    /// Counts a duplicate acknowledgement: one more segment has arrived. There cannot be more
    /// beyond the gap than are outstanding.
    pub(crate) fn count_duplicate(&mut self, out: &mut Delivery) {
        if self.sacked + self.lost.max(1) < self.outstanding() {
            self.sacked += 1;
            out.delivered += 1;
            self.recount();
        }
    }

    /// Does the work of [`acknowledge`](Self::acknowledge). All acknowledged segments but the first
    /// were counted when their duplicates came, as far as there were duplicates; the remaining ones
    /// are kept or forgotten.
    pub(crate) fn acknowledge_after_duplicates(
        &mut self,
        now: u64,
        una: u64,
        recovery_point: u64,
        echoed: u64,
        keep: bool,
        out: &mut Delivery,
    ) {
        let told = self.sacked.min((una - self.una).saturating_sub(1) as u32);
        for number in self.una..una {
            self.acknowledge_one(now, number, recovery_point, echoed, out);
        }
        self.advance(una);
        out.delivered -= told;
        if out.ambiguous {
            // The repetition may have uncovered what had arrived long before.
            out.original = false;
        }
        let room = self.outstanding().saturating_sub(self.lost.max(1));
        self.sacked = if keep { (self.sacked - told).min(room) } else { 0 };
        self.recount();
    }

    /// Duplicates say nothing any more.
    pub(crate) fn forget_duplicates(&mut self) {
        self.sacked = 0;
        self.recount();
    }

    /// The first outstanding segment is lost, unless that is known already.
    pub(crate) fn lose_first(&mut self) -> Verdict {
        let mut verdict = Verdict::default();
        if self.outstanding() > 0 && !self.record(self.una).has(LOST | RETRANSMITTED) {
            self.sacked = self.sacked.min(self.outstanding() - self.lost - 1);
            self.mark_lost(self.una);
            // The repair cursor stops at the frontier.
            let _ = self.next_undecided();
            verdict.lost = 1;
            self.recount();
        }
        verdict
    }
}
