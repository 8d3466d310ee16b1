//! RACK: the latest delivered segment, whether the network reorders, and how long to wait for
//! stragglers.
//!
//! *Source*: RFC 8985 §6.2; Linux 6.12: no waiting during recovery, or with three segments
//! delivered out of order, while reordering was never seen.

use crate::scoreboard::{Delivery, LastDelivered, RackDelivery};

/// Recoveries for which a widened reordering window is kept.
const PERSIST: u8 = 16;
const DUPLICATES: u32 = 3;

#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    pub(crate) latest: LastDelivered,
    /// `latest` changed since losses were last looked for.
    pub(crate) advanced: bool,
    reordering_seen: bool,
    duplicate_seen: bool,
    steps: u8,
    persist: u8,
    /// Segments delivered when `steps` was last raised.
    raised_at: u64,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self { steps: 1, ..Self::default() }
    }

    /// Takes what an acknowledgement delivered.
    #[inline]
    pub(crate) fn on_delivery(&mut self, now: u64, delivery: &Delivery) {
        self.reordering_seen |= delivery.reordered;
        let Some(RackDelivery { latest: (sent_at, number), processed, .. }) = delivery.rack else { return };
        self.on_routine(sent_at, number, now - processed);
    }

    /// A segment sent once was delivered in order, later than all before.
    #[inline]
    pub(crate) fn on_routine(&mut self, sent_at: u64, number: u64, rtt: u64) {
        self.advanced = true;
        self.latest.rtt = rtt;
        if (sent_at, number) > (self.latest.sent_at, self.latest.number) {
            self.latest.sent_at = sent_at;
            self.latest.number = number;
        }
    }

    /// A duplicate was reported that is no probe's: a retransmission was in vain. Reordering may
    /// have caused it if there was any before.
    pub(crate) fn on_duplicate(&mut self) {
        self.duplicate_seen |= self.reordering_seen;
    }

    /// A segment was sent again, and both copies arrived above a hole, or its original filled a
    /// hole below something delivered earlier.
    pub(crate) fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Widens the reordering window, at most once per round trip. `delivered` counts all segments
    /// delivered so far, `prior` those delivered when the segment just delivered was sent, about
    /// one window ago.
    #[inline]
    pub(crate) fn adapt(&mut self, delivered: u64, prior: u64) {
        if self.duplicate_seen {
            self.duplicate_seen = false;
            if prior >= self.raised_at {
                self.steps = self.steps.saturating_add(1);
                self.raised_at = delivered;
                self.persist = PERSIST;
            }
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Every retransmission of a recovery was in vain.
    pub(crate) fn on_vain_recovery(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// The time that a segment may be late, in nanoseconds.
    pub(crate) fn window(&self, in_recovery: bool, sacked: u32, min_rtt: u64, srtt: u64) -> u64 {
        if !self.reordering_seen && (in_recovery || sacked >= DUPLICATES) {
            return 0;
        }
        (min_rtt / 4 * u64::from(self.steps)).min(srtt)
    }
}
