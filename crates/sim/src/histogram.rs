//! Counting times into buckets of three significant digits, quickly.

use crate::outcome::SojournHistogram;
use goodqueue_units::Duration;

/// Times below this share buckets of half this width.
const LOWEST: u64 = 1_000;
const HIGHEST: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;
/// A bucket of the lowest octave is 2^9 ns wide, the largest power of two within [`LOWEST`].
const UNIT_SHIFT: u32 = LOWEST.ilog2();
/// Each octave above the first has 2^10 buckets: the power of two at or above 10^3.
const HALF_SHIFT: u32 = 10;

/// Counts of times from zero to an hour, in nanoseconds: the buckets of a [`SojournHistogram`] of the same bounds and digits, without what that
/// type does beside counting. Times beyond the last bucket count as an hour.
#[derive(Clone, Debug)]
pub(crate) struct TimeCounts {
    counts: Box<[u64]>,
    /// A bit for each octave that holds something: memory that was never written is never read, and so never fetched.
    used: u32,
}

/// The bucket of a time.
#[inline]
const fn bucket(nanos: u64) -> usize {
    let units = nanos >> UNIT_SHIFT;
    let octave = (units | ((2 << HALF_SHIFT) - 1)).ilog2() - HALF_SHIFT;
    ((octave as usize) << HALF_SHIFT) + (units >> octave) as usize
}

/// The least time of a bucket.
const fn least(bucket: usize) -> u64 {
    let octave = (bucket >> HALF_SHIFT).saturating_sub(1);
    ((bucket - (octave << HALF_SHIFT)) as u64) << (octave as u32 + UNIT_SHIFT)
}

impl TimeCounts {
    /// Nothing counted yet.
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; (bucket(HIGHEST) + 1).next_multiple_of(1 << HALF_SHIFT)].into_boxed_slice(), used: 0 }
    }

    /// Counts one time.
    #[inline]
    pub(crate) fn add(&mut self, time: Duration) {
        let bucket = bucket(time.as_nanos());
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
            self.used |= 1 << (bucket >> HALF_SHIFT);
        } else {
            self.add_longest();
        }
    }

    #[cold]
    fn add_longest(&mut self) {
        let bucket = bucket(HIGHEST);
        self.counts[bucket] += 1;
        self.used |= 1 << (bucket >> HALF_SHIFT);
    }

    /// Adds the counts to a histogram, which knows percentiles.
    pub(crate) fn add_to(&self, histogram: &mut SojournHistogram) {
        let octaves = self.counts.chunks(1 << HALF_SHIFT).zip(0..).filter(|(_, octave)| self.used >> octave & 1 == 1);
        for (counts, octave) in octaves {
            for (place, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                histogram.saturating_record_n(least((octave << HALF_SHIFT) + place), count);
            }
        }
    }
}

/// An empty histogram of times up to an hour, in nanoseconds, to three significant digits above a microsecond.
pub(crate) fn empty_histogram() -> SojournHistogram {
    SojournHistogram::new_with_bounds(LOWEST, HIGHEST, DIGITS).expect("the bounds are constants in order")
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rng;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        for number in 0..20_000 {
            assert_eq!(bucket(least(number)), number);
            assert_eq!(bucket(least(number + 1) - 1), number);
        }
    }

    #[test]
    fn it_counts_as_the_library_does() {
        let mut rng = Rng::new(1);
        let mut counts = TimeCounts::new();
        let mut library = empty_histogram();
        for round in 0..100_000 {
            let time = if round == 0 {
                0
            } else {
                {
                    let bits = rng.below(50);
                    rng.below(1 << bits)
                }
            };
            counts.add(Duration::ns(time));
            library.saturating_record(time);
        }
        let mut ours = empty_histogram();
        counts.add_to(&mut ours);
        assert_eq!((ours.len(), ours.mean(), ours.stdev()), (library.len(), library.mean(), library.stdev()));
        for percent in [0.0, 0.1, 5.0, 50.0, 90.0, 99.0, 99.99, 100.0] {
            assert_eq!(ours.value_at_percentile(percent), library.value_at_percentile(percent), "{percent}");
        }
    }
}
