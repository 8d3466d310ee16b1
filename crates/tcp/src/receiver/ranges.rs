//! Data received out of order, and which of it to report.

use crate::segment::{Flags, SackBlock, Segment};
use alloc::collections::VecDeque;

const NONE: (u64, u64) = (0, 0);

/// Ranges of bytes above the cumulative acknowledgement, sorted, with gaps between them.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct OutOfOrder {
    ranges: VecDeque<(u64, u64)>,
    /// The ranges changed last, most recent first (RFC 2018 §4); empty ones come last.
    recent: [(u64, u64); 4],
    /// Bytes in all ranges.
    held: u64,
    /// Range that arrived a second time and is not reported yet.
    twice: (u64, u64),
}

impl OutOfOrder {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes that wait.
    #[inline]
    pub(super) const fn held(&self) -> u64 {
        self.held
    }

    /// Whether an acknowledgement has nothing to report selectively.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.ranges.is_empty() && self.twice == NONE
    }

    /// Notes a range that arrived a second time, for the next acknowledgement.
    pub(super) fn note_twice(&mut self, start: u64, end: u64) {
        self.twice = (start, end);
    }

    /// Adds a range, merging it with what it touches. The first part of it that was here before is
    /// noted as received twice.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        self.held += end - start;
        let merged = match self.ranges.back_mut() {
            // Mostly data continues the highest range, or opens one above it.
            Some(last) if last.1 == start => {
                last.1 = end;
                *last
            }
            Some(last) if last.1 > start => self.insert_within(start, end),
            _ => {
                self.ranges.push_back((start, end));
                (start, end)
            }
        };
        self.make_recent(merged);
    }

    /// Whether this range would be a block of its own besides the two that changed last.
    pub(super) fn opens_third(&self, start: u64, end: u64) -> bool {
        let [first, second, ..] = self.recent;
        second != NONE && [first, second].iter().all(|block| end < block.0 || start > block.1)
    }

    fn insert_within(&mut self, start: u64, end: u64) -> (u64, u64) {
        let first = self.ranges.partition_point(|range| range.1 < start);
        let past = self.ranges.partition_point(|range| range.0 <= end);
        if first == past {
            self.ranges.insert(first, (start, end));
            return (start, end);
        }
        let within = |range: &(u64, u64)| (start.max(range.0), end.min(range.1));
        if let Some(twice) = self.ranges.range(first..past).map(within).find(|part| part.0 < part.1) {
            self.twice = twice;
        }
        let merged = (start.min(self.ranges[first].0), end.max(self.ranges[past - 1].1));
        let before: u64 = self.ranges.range(first..past).map(|range| range.1 - range.0).sum();
        self.held = self.held - (end - start) - before + (merged.1 - merged.0);
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..past);
        merged
    }

    fn make_recent(&mut self, newest: (u64, u64)) {
        let mut carried = newest;
        let mut place = 0;
        while place < self.recent.len() && carried != NONE {
            let old = core::mem::replace(&mut self.recent[place], carried);
            place += 1;
            carried = old;
            // Parts of the newest are not worth a place: take the next old one instead.
            let mut next = place;
            while carried != NONE && carried.0 >= newest.0 && carried.1 <= newest.1 {
                carried = self.recent.get(next).copied().unwrap_or(NONE);
                if let Some(slot) = self.recent.get_mut(next) {
                    *slot = NONE;
                }
                next += 1;
            }
        }
    }

    /// Takes in-order data up to `end`. Returns how far it reaches together with the ranges behind
    /// it, which are removed.
    pub(super) fn take_up_to(&mut self, end: u64) -> u64 {
        let mut reached = end;
        while let Some(&(start, past)) = self.ranges.front()
            && start <= reached
        {
            reached = reached.max(past);
            self.held -= past - start;
            self.ranges.pop_front();
        }
        let mut kept = 0;
        for place in 0..self.recent.len() {
            if self.recent[place].1 > reached {
                self.recent[kept] = self.recent[place];
                kept += 1;
            }
        }
        self.recent[kept..].fill(NONE);
        reached
    }

    /// Writes the blocks of an acknowledgement of everything below `next`, without blocks beyond 4
    /// GiB: what arrived twice comes first (RFC 2883 §4).
    pub(super) fn report(&mut self, next: u64, ack: &mut Segment) {
        let mut used = 0;
        let (start, end) = core::mem::take(&mut self.twice);
        if let (Ok(offset), Ok(len)) = (u32::try_from(start.abs_diff(next)), u32::try_from(end - start))
            && len > 0
        {
            if start < next {
                ack.flags = ack.flags.with(Flags::DSACK);
            }
            ack.sack[0] = SackBlock { offset, len };
            used = 1;
        }
        for &(start, end) in self.recent.iter().take_while(|block| **block != NONE) {
            if let (Ok(offset), Ok(len)) = (u32::try_from(start - next), u32::try_from(end - start))
                && used < ack.sack.len()
            {
                ack.sack[used] = SackBlock { offset, len };
                used += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(ranges: &mut OutOfOrder, next: u64) -> alloc::vec::Vec<(u32, u32)> {
        let mut ack = Segment::default();
        ranges.report(next, &mut ack);
        ack.blocks().iter().map(|b| (b.offset, b.len)).collect()
    }

    #[test]
    fn the_block_of_the_latest_data_comes_first() {
        let mut ranges = OutOfOrder::default();
        for start in [10, 30, 50, 70] {
            ranges.insert(start, start + 10);
        }
        assert_eq!(blocks(&mut ranges, 0), [(70, 10), (50, 10), (30, 10)]);
        ranges.insert(20, 25);
        assert_eq!(blocks(&mut ranges, 0), [(10, 15), (70, 10), (50, 10)]);
    }

    #[test]
    fn filling_a_gap_joins_both_sides_into_one_block() {
        let mut ranges = OutOfOrder::default();
        ranges.insert(10, 20);
        ranges.insert(30, 40);
        ranges.insert(20, 30);
        assert_eq!(blocks(&mut ranges, 0), [(10, 30)]);
        assert_eq!(ranges.take_up_to(10), 40);
        assert!(ranges.is_empty() && blocks(&mut ranges, 40).is_empty());
    }

    #[test]
    fn data_received_twice_is_reported_once_and_first() {
        let mut ranges = OutOfOrder::default();
        ranges.insert(50, 60);
        ranges.insert(10, 40);
        ranges.insert(20, 30);
        assert_eq!(blocks(&mut ranges, 0), [(20, 10), (10, 30), (50, 10)]);
        assert_eq!(blocks(&mut ranges, 0), [(10, 30), (50, 10)]);
        ranges.insert(30, 55);
        assert_eq!(blocks(&mut ranges, 0), [(30, 10), (10, 50)]);
        assert!(!ranges.is_silent() && ranges.held() == 50);
    }

    #[test]
    fn data_received_twice_changes_nothing_of_what_is_held() {
        let mut ranges = OutOfOrder::default();
        ranges.insert(10, 40);
        ranges.insert(20, 30);
        assert_eq!(ranges.take_up_to(5), 5);
        assert_eq!(ranges.take_up_to(15), 40);
    }
}
