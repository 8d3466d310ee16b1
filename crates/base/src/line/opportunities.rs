//! Recorded delivery opportunities of a line, and a place among them.

use crate::units::{Bytes, Duration, Instant, Rate};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// Recorded delivery opportunities (mahimahi format). Several packets may share one byte by byte;
/// unused bytes are lost. The recording repeats after its period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// (time since the start, bytes that may leave then).
    all: Vec<(Duration, Bytes)>,
    /// Bytes of all opportunities before each one, and of all of them at the end.
    before: Vec<u64>,
    period: Duration,
    mean: Rate,
}

/// The rule that a list of opportunities breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpportunitiesError {
    /// The list has no opportunity.
    Empty,
    /// The opportunity with this index carries no bytes.
    NoBytes(usize),
    /// The opportunity with this index is not later than the one before it, or than time zero.
    NotLater(usize),
    /// The last opportunity lies after the end of the period.
    BeyondPeriod,
    /// All opportunities together carry 2^61 bytes or more.
    TooManyBytes,
}

impl fmt::Display for OpportunitiesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a recording needs at least one opportunity"),
            Self::NoBytes(index) => write!(f, "opportunity {index} has 0 bytes: allowed from 1"),
            Self::NotLater(index) => write!(f, "opportunity {index} is not later than the one before it"),
            Self::BeyondPeriod => f.write_str("the last opportunity is later than the period"),
            Self::TooManyBytes => f.write_str("the opportunities carry too many bytes: allowed below 2^61"),
        }
    }
}

impl core::error::Error for OpportunitiesError {}

impl Opportunities {
    /// A recording of `all` opportunities, as (time since the start, bytes), that repeats after
    /// `period`. An opportunity at time zero belongs to the end of the period.
    ///
    /// # Errors
    /// When there is no opportunity, one has no bytes, times do not rise strictly from above zero,
    /// or the last one lies after the period.
    pub fn new(all: Vec<(Duration, Bytes)>, period: Duration) -> Result<Self, OpportunitiesError> {
        let mut before = Vec::with_capacity(all.len() + 1);
        before.push(0);
        let (mut last, mut total) = (Duration::ZERO, 0_u64);
        for (index, &(at, bytes)) in all.iter().enumerate() {
            if bytes.is_zero() {
                return Err(OpportunitiesError::NoBytes(index));
            }
            if at <= last {
                return Err(OpportunitiesError::NotLater(index));
            }
            last = at;
            total = total.saturating_add(bytes.get());
            before.push(total);
        }
        if all.is_empty() {
            return Err(OpportunitiesError::Empty);
        }
        if last > period {
            return Err(OpportunitiesError::BeyondPeriod);
        }
        if total >= 1 << 61 {
            return Err(OpportunitiesError::TooManyBytes);
        }
        let bits = u128::from(total) * 8 * 1_000_000_000 / u128::from(period.as_nanos());
        let mean = Rate::bit_s(u64::try_from(bits).unwrap_or(u64::MAX));
        Ok(Self { all, before, period, mean })
    }

    /// All opportunities of one period: (time since its start, bytes).
    #[must_use]
    pub fn all(&self) -> &[(Duration, Bytes)] {
        &self.all
    }

    /// Time after which the recording repeats. Never zero.
    #[must_use]
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// Mean rate over a period, rounded down to a whole bit per second.
    #[must_use]
    pub const fn mean_rate(&self) -> Rate {
        self.mean
    }

    /// Bytes of all opportunities up to and including `at`.
    pub(crate) fn bytes_until(&self, at: Instant) -> f64 {
        let total = self.before[self.all.len()];
        let period = self.period.as_nanos();
        let cycles = at.as_nanos() / period;
        // The end of a period is the start of the next one; its opportunity is counted once.
        let within = Duration::ns(at.as_nanos() % period);
        let index = self.all.partition_point(|opportunity| opportunity.0 <= within);
        cycles as f64 * total as f64 + self.before[index] as f64
    }
}

/// A place in a repeated recording, which only moves forward.
#[derive(Clone, Debug)]
pub struct OpportunityCursor {
    recording: Arc<Opportunities>,
    next: usize,
    cycle_start: Instant,
}

impl OpportunityCursor {
    pub(crate) const fn new(recording: Arc<Opportunities>) -> Self {
        Self { recording, next: 0, cycle_start: Instant::ZERO }
    }

    pub(crate) fn recording(&self) -> &Opportunities {
        &self.recording
    }

    /// The first opportunity later than `now`. Calls never go back in time.
    pub fn next_after(&mut self, now: Instant) -> (Instant, Bytes) {
        let period = self.recording.period;
        let whole = now.since(self.cycle_start).as_nanos() / period.as_nanos();
        if whole > 1 {
            // An opportunity at the very end of a period belongs to the cycle before.
            self.cycle_start += Duration::ns((whole - 1) * period.as_nanos());
            self.next = 0;
        }
        loop {
            let elapsed = now.since(self.cycle_start);
            self.next += self.recording.all[self.next..].partition_point(|opportunity| opportunity.0 <= elapsed);
            if let Some(&(offset, bytes)) = self.recording.all.get(self.next) {
                return (self.cycle_start + offset, bytes);
            }
            self.next = 0;
            self.cycle_start += period;
        }
    }

    /// Bytes of the opportunity at `now`, which [`OpportunityCursor::next_after`] has named before;
    /// zero when there is none at `now`.
    #[must_use]
    pub fn bytes_at(&self, now: Instant) -> Bytes {
        match self.recording.all.get(self.next) {
            Some(&(offset, bytes)) if self.cycle_start + offset == now => bytes,
            _ => Bytes::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{RateCursor, RateSpec};
    use alloc::vec;

    fn ms(n: u64) -> Duration {
        Duration::ms(n)
    }

    #[test]
    fn the_mean_is_rounded_down_once() {
        // 2695 * 1500 * 8 bits in 2.24 s are exactly 14437500 bit/s; a division in f64 loses one.
        let all = (1..=2240).map(|at| (ms(at), Bytes::new(if at <= 455 { 3000 } else { 1500 }))).collect();
        let recording = Opportunities::new(all, ms(2240)).expect("a good recording");
        assert_eq!(recording.mean_rate(), Rate::bit_s(14_437_500));
        // Buffers are sized by the one, algorithms are told the other.
        let spec = RateSpec::Recorded(Arc::new(recording));
        assert_eq!(RateCursor::new(&spec).known_rate(Instant::ZERO), spec.nominal());
    }

    #[test]
    fn lists_that_are_no_recording_are_refused() {
        let new = |all: &[(u64, u64)], period| {
            let all = all.iter().map(|&(at, bytes)| (ms(at), Bytes::new(bytes))).collect();
            Opportunities::new(all, ms(period)).expect_err("no recording")
        };
        assert_eq!(new(&[], 1), OpportunitiesError::Empty);
        assert_eq!(new(&[(1, 1), (2, 0)], 2), OpportunitiesError::NoBytes(1));
        assert_eq!(new(&[(0, 1)], 2), OpportunitiesError::NotLater(0));
        assert_eq!(new(&[(1, 1), (1, 1)], 2), OpportunitiesError::NotLater(1));
        assert_eq!(new(&[(1, 1), (3, 1)], 2), OpportunitiesError::BeyondPeriod);
        assert_eq!(new(&[(1, 1 << 61)], 2), OpportunitiesError::TooManyBytes);
    }

    #[test]
    fn opportunities_repeat_and_none_comes_twice() {
        let all = vec![(ms(2), Bytes::new(1500)), (ms(5), Bytes::new(3000))];
        let recording = Arc::new(Opportunities::new(all, ms(5)).expect("a good recording"));
        let mut cursor = OpportunityCursor::new(recording.clone());
        let at = |n| Instant::ZERO + ms(n);
        let mut now = Instant::ZERO;
        for expected in [(2, 1500), (5, 3000), (7, 1500), (10, 3000), (12, 1500)] {
            let next = cursor.next_after(now);
            assert_eq!(next, (at(expected.0), Bytes::new(expected.1)));
            assert_eq!(cursor.bytes_at(now), Bytes::ZERO);
            assert_eq!(cursor.bytes_at(next.0), next.1);
            now = next.0;
        }
        assert_eq!(cursor.next_after(at(1002)), (at(1005), Bytes::new(3000)));
        assert_eq!((recording.bytes_until(at(10)), recording.bytes_until(at(4))), (9000.0, 1500.0));
    }
}
