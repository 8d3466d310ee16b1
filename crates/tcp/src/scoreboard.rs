//! The sender's record of each segment in flight: time of transmission, delivered, lost,
//! retransmitted.
//!
//! One 8-byte record per segment in a ring indexed by segment number. Everything that an
//! acknowledgement needs takes constant amortised time: links in the records themselves skip runs
//! of delivered segments, two cursors that only move forward find first losses and repair them in
//! order, and two queues in order of transmission handle repeated losses.

mod duplicates;
mod loss;

use crate::rtt;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;

pub(crate) use loss::{LastDelivered, Verdict};

/// Reported as received above the cumulative acknowledgement.
const SACKED: u64 = 1;
/// Believed lost.
const LOST: u64 = 2;
/// Sent again, and that copy is believed in flight.
const RETRANSMITTED: u64 = 4;
/// Sent again at some time, so its round-trip time is ambiguous.
const AMBIGUOUS: u64 = 8;
const FLAG_BITS: u32 = 8;
const FLAGS: u64 = (1 << FLAG_BITS) - 1;
/// Bits of a time that a record keeps: enough to distinguish ages up to 834 days.
const TIME: u64 = u64::MAX >> FLAG_BITS;
const FIRST_CAPACITY: usize = 16;

/// Flags in the low byte. Above it, the time of the last transmission or, once [`SACKED`], a
/// segment number with no undelivered segment in between.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record(u64);

impl Record {
    const fn new(value: u64, flags: u64) -> Self {
        Self(value << FLAG_BITS | flags)
    }

    const fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    /// The time at which it was last sent, given any later time less than 834 days away.
    const fn sent_at(self, now: u64) -> u64 {
        now.wrapping_sub(now.wrapping_sub(self.0 >> FLAG_BITS) & TIME)
    }

    const fn skip(self) -> u64 {
        self.0 >> FLAG_BITS
    }
}

/// The news of one acknowledgement. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// Segments newly delivered, by either kind of acknowledgement.
    pub(crate) delivered: u32,
    /// Number of those delivered by selective acknowledgement.
    pub(crate) sacked: u32,
    /// Times of transmission of the first and the last segment acknowledged cumulatively that was
    /// sent only once.
    pub(crate) acked: Option<(u64, u64)>,
    /// Earliest and latest time of transmission of segments newly reported selectively that were
    /// sent only once.
    pub(crate) sack_sent: Option<(u64, u64)>,
    /// A segment sent more than once was acknowledged cumulatively.
    pub(crate) ambiguous: bool,
    /// A segment sent once and below the recovery point was delivered.
    pub(crate) original: bool,
    /// A segment sent once was delivered after one above it: the network reorders.
    pub(crate) reordered: bool,
    /// Retransmissions delivered.
    pub(crate) repaired: u32,
    /// Time and number of the delivered segment that was sent last.
    pub(crate) latest: Option<(u64, u64)>,
    /// RACK's part of this acknowledgement.
    pub(crate) rack: Option<RackDelivery>,
    /// The smallest round-trip time so far, in nanoseconds: a copy that seems to have arrived
    /// sooner is still under way, and RACK leaves it out.
    pub(crate) min_rtt: u64,
}

/// Delivered segments as RACK takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RackDelivery {
    /// Time and number of the segment that was sent last.
    pub(crate) latest: (u64, u64),
    /// Time at which the segment was sent that was processed last; those acknowledged cumulatively
    /// are processed after those reported selectively. Its round-trip time counts.
    pub(crate) processed: u64,
    /// Whether that segment was acknowledged cumulatively.
    cumulative: bool,
}

/// The segments `una..nxt`. The fields that every acknowledgement touches come first, in one cache
/// line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Scoreboard {
    slots: Box<[Record]>,
    una: u64,
    nxt: u64,
    /// One above the highest segment reported selectively; at most `una` when there is none.
    highest_sacked: u64,
    /// Below it every segment is delivered, lost or retransmitted; the search for first losses
    /// starts here.
    frontier: u64,
    /// Below it no segment waits for its first retransmission.
    repair: u64,
    /// Segments believed in the network: outstanding, neither delivered nor lost, and
    /// retransmissions.
    in_flight: u32,
    /// Lost segments not yet sent again.
    waiting: u32,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// The three highest segments reported selectively, highest first: loss by counting.
    top: [u64; 3],
    /// Segments sent again, in order of sending; entries delivered meanwhile are skipped.
    resent: VecDeque<u64>,
    /// Segments whose retransmission was lost, in order of discovery.
    relost: VecDeque<u64>,
    /// Losses one by one, for controls that ask for them.
    log: Option<Box<LossLog>>,
}

/// Losses found since they were last asked for, and all in all.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossLog {
    numbers: VecDeque<u64>,
    count: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self { slots: vec![Record::default(); FIRST_CAPACITY].into_boxed_slice(), ..Self::default() }
    }

    /// A new record in the memory of this one, which is of no more use.
    pub(crate) fn start_over(&mut self) -> Self {
        let mut slots = core::mem::take(&mut self.slots);
        if slots.len() != FIRST_CAPACITY {
            return Self::new();
        }
        slots.fill(Record::default());
        Self { slots, ..Self::default() }
    }

    /// Keeps a record of losses from now on.
    pub(crate) fn log_losses(&mut self) {
        self.log = Some(Box::default());
    }

    /// Losses found so far, including those of retransmissions; zero unless they are logged.
    pub(crate) fn lost_in_all(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.count)
    }

    /// Takes the earliest loss, if losses are logged. Returns it and the number of losses found up
    /// to it.
    pub(crate) fn take_loss(&mut self) -> Option<(u64, u64)> {
        let log = self.log.as_mut()?;
        let number = log.numbers.pop_front()?;
        Some((number, log.count - log.numbers.len() as u64))
    }

    /// The records of the first outstanding segment and of the next one to be sent.
    #[inline]
    pub(crate) fn ends(&self) -> [&Record; 2] {
        let mask = self.slots.len() - 1;
        [self.una, self.nxt].map(|number| &self.slots[number as usize & mask])
    }

    #[inline]
    fn slot(&mut self, number: u64) -> &mut Record {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }

    #[inline]
    fn record(&self, number: u64) -> Record {
        self.slots[number as usize & (self.slots.len() - 1)]
    }

    /// First segment not acknowledged cumulatively.
    #[inline]
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// Next segment never sent.
    #[inline]
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Segments sent and not acknowledged cumulatively.
    #[inline]
    pub(crate) const fn outstanding(&self) -> u32 {
        (self.nxt - self.una) as u32
    }

    /// Segments believed in the network: outstanding, neither delivered nor lost, and
    /// retransmissions.
    #[inline]
    pub(crate) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Works `in_flight` out after segments changed their state.
    fn recount(&mut self) {
        self.in_flight = self.outstanding() - self.sacked - self.lost + self.retransmitted;
    }

    #[inline]
    pub(crate) const fn sacked(&self) -> u32 {
        self.sacked
    }

    #[inline]
    pub(crate) const fn lost(&self) -> u32 {
        self.lost
    }

    #[inline]
    pub(crate) const fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// The time of the last transmission of the oldest outstanding segment, if that is not
    /// delivered.
    #[inline]
    pub(crate) fn head_sent_at(&self, now: u64) -> Option<u64> {
        (self.una < self.nxt && !self.record(self.una).has(SACKED)).then(|| self.record(self.una).sent_at(now))
    }

    /// Whether the oldest outstanding segment was ever retransmitted.
    pub(crate) fn head_was_repeated(&self) -> bool {
        self.una < self.nxt && self.record(self.una).has(AMBIGUOUS)
    }

    /// A new segment leaves.
    #[inline]
    pub(crate) fn push(&mut self, now: u64) {
        if self.outstanding() as usize == self.slots.len() {
            self.grow();
        }
        *self.slot(self.nxt) = Record::new(now, 0);
        self.nxt += 1;
        self.in_flight += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = vec![Record::default(); self.slots.len() * 2].into_boxed_slice();
        let mask = larger.len() - 1;
        for number in self.una..self.nxt {
            larger[number as usize & mask] = self.record(number);
        }
        self.slots = larger;
    }

    /// Acknowledges everything below `una`, at most `nxt`, in the usual case that all of it was
    /// sent once and is not reported yet. Returns the times of transmission of its first and last
    /// segment.
    #[inline]
    pub(crate) fn acknowledge_plain(&mut self, now: u64, una: u64) -> Option<(u64, u64)> {
        debug_assert!(self.una < una && una <= self.nxt);
        let first = self.record(self.una);
        let mut last = first;
        let mut seen = first.0;
        let mut number = self.una + 1;
        while number < una {
            last = self.record(number);
            seen |= last.0;
            number += 1;
        }
        if seen & FLAGS != 0 || self.una < self.highest_sacked {
            return None;
        }
        self.in_flight -= (una - self.una) as u32;
        self.advance(una);
        Some((first.sent_at(now), last.sent_at(now)))
    }

    /// Moves the cumulative acknowledgement up to `una`, at most `nxt`; it echoes the time
    /// `echoed`.
    pub(crate) fn acknowledge(&mut self, now: u64, una: u64, recovery_point: u64, echoed: u64, out: &mut Delivery) {
        for number in self.una..una {
            self.acknowledge_one(now, number, recovery_point, echoed, out);
        }
        self.advance(una);
        self.recount();
    }

    #[inline]
    fn advance(&mut self, una: u64) {
        self.una = una;
        self.frontier = self.frontier.max(una);
        self.repair = self.repair.max(una);
    }

    fn acknowledge_one(&mut self, now: u64, number: u64, recovery_point: u64, echoed: u64, out: &mut Delivery) {
        let record = self.record(number);
        if record.has(SACKED) {
            self.sacked -= 1;
            out.ambiguous |= record.has(AMBIGUOUS);
            return;
        }
        let at = record.sent_at(now);
        out.delivered += 1;
        self.leave_flight(record, out);
        if record.has(AMBIGUOUS) {
            out.ambiguous = true;
            if echoed != 0 && rtt::is_echo_before(echoed, at) {
                // The original arrived before the copy was even sent.
                return;
            }
        } else {
            out.acked = Some((out.acked.map_or(at, |(first, _)| first), at));
            out.original |= number < recovery_point;
            out.reordered |= number < self.highest_sacked;
        }
        out.note(now, (at, number), record.has(AMBIGUOUS), true);
    }

    fn leave_flight(&mut self, record: Record, out: &mut Delivery) {
        if record.has(LOST) {
            self.lost -= 1;
        }
        if record.has(RETRANSMITTED) {
            self.retransmitted -= 1;
            out.repaired += 1;
        } else if record.has(LOST) {
            self.waiting -= 1;
        }
    }

    /// Takes the selective blocks of an acknowledgement as ranges of segment numbers. Call after
    /// [`acknowledge`](Self::acknowledge).
    pub(crate) fn sack(&mut self, now: u64, start: u64, end: u64, recovery_point: u64, prior_highest: u64, out: &mut Delivery) {
        let start = start.max(self.una);
        let end = end.min(self.nxt);
        if start >= end {
            return;
        }
        let mut number = start;
        while number < end {
            let record = self.record(number);
            if record.has(SACKED) {
                number = record.skip();
                continue;
            }
            let at = record.sent_at(now);
            self.leave_flight(record, out);
            if !record.has(AMBIGUOUS) {
                let (first, last) = out.sack_sent.unwrap_or((at, at));
                out.sack_sent = Some((first.min(at), last.max(at)));
                out.original |= number < recovery_point;
                out.reordered |= number < prior_highest;
            }
            out.note(now, (at, number), record.has(AMBIGUOUS), false);
            *self.slot(number) = Record::new(number + 1, SACKED | record.0 & AMBIGUOUS);
            self.sacked += 1;
            out.sacked += 1;
            out.delivered += 1;
            self.note_highest(number);
            number += 1;
        }
        // Blocks grow from a fixed start: the next block over the same run needs one step. A run
        // may end beyond this block.
        let record = self.record(start);
        *self.slot(start) = Record::new(number, record.0 & FLAGS);
        self.recount();
    }

    /// Whether a segment was sent again, and whether it was reported selectively. Also right for
    /// segments that the present acknowledgement covers.
    pub(crate) fn repeated_and_sacked(&self, number: u64) -> (bool, bool) {
        let record = self.record(number);
        (record.has(AMBIGUOUS), record.has(SACKED))
    }

    fn note_highest(&mut self, number: u64) {
        self.highest_sacked = self.highest_sacked.max(number + 1);
        if number > self.top[0] {
            self.top = [number, self.top[0], self.top[1]];
        } else if number > self.top[1] {
            self.top = [self.top[0], number, self.top[1]];
        } else if number > self.top[2] {
            self.top[2] = number;
        }
    }

    pub(crate) const fn highest_sacked(&self) -> u64 {
        self.highest_sacked
    }
}

impl Delivery {
    /// Takes a segment that was just delivered: the time at which it was sent last, and its number.
    /// *Source*: RFC 8985 §6.2, steps 1 and 2; Linux' `tcp_rack_advance`.
    fn note(&mut self, now: u64, segment: (u64, u64), ambiguous: bool, cumulative: bool) {
        self.latest = self.latest.max(Some(segment));
        let (processed, _) = segment;
        if ambiguous && now - processed < self.min_rtt {
            return;
        }
        let rack = self.rack.get_or_insert(RackDelivery { latest: segment, processed, cumulative });
        rack.latest = rack.latest.max(segment);
        if cumulative || !rack.cumulative {
            (rack.processed, rack.cumulative) = (processed, cumulative);
        }
    }
}

#[cfg(test)]
mod tests;
