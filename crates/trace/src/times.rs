//! Counting times into buckets of three significant digits, quickly.

use goodqueue_units::Duration;

/// Times in nanoseconds, to three significant digits above a microsecond.
pub type TimeHistogram = hdrhistogram::Histogram<u64>;

/// Times below this share buckets of half this width.
const LOWEST: u64 = 1_000;
/// Counts have room for times up to an hour from the beginning; for longer ones it is made when the
/// first one comes. Memory that was never written costs nothing there.
const USUAL: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;
/// A bucket of the lowest octave is 2^9 ns wide, the largest power of two within [`LOWEST`].
const UNIT_SHIFT: u32 = LOWEST.ilog2();
/// Each octave above the first has 2^10 buckets: the power of two at or above 10^3.
const HALF_SHIFT: u32 = 10;

/// Counts of times in nanoseconds: the buckets of a [`TimeHistogram`] of the same digits, without
/// what that type does beside counting.
#[derive(Clone, Debug)]
pub struct TimeCounts {
    counts: Vec<u64>,
    /// A bit for each octave that holds something: memory that was never written is never read, and
    /// so never fetched.
    used: u64,
}

/// The bucket of a time.
#[inline]
const fn bucket(nanos: u64) -> usize {
    let units = nanos >> UNIT_SHIFT;
    let octave = (units | ((2 << HALF_SHIFT) - 1)).ilog2() - HALF_SHIFT;
    ((octave as usize) << HALF_SHIFT) + (units >> octave) as usize
}

/// How many buckets there are up to the end of the octave of this one.
const fn room_for(bucket: usize) -> usize {
    (bucket + 1).next_multiple_of(1 << HALF_SHIFT)
}

/// The least time of a bucket.
const fn least(bucket: usize) -> u64 {
    let octave = (bucket >> HALF_SHIFT).saturating_sub(1);
    ((bucket - (octave << HALF_SHIFT)) as u64) << (octave as u32 + UNIT_SHIFT)
}

impl Default for TimeCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeCounts {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self { counts: vec![0; room_for(bucket(USUAL))], used: 0 }
    }

    /// Counts one time.
    #[inline]
    pub fn add(&mut self, time: Duration) {
        let bucket = bucket(time.as_nanos());
        match self.counts.get_mut(bucket) {
            Some(count) if *count > 0 => *count += 1,
            _ => self.add_first(bucket),
        }
    }

    /// The first of its bucket, which there may be no room for yet.
    #[cold]
    fn add_first(&mut self, bucket: usize) {
        if bucket >= self.counts.len() {
            self.counts.resize(room_for(bucket), 0);
        }
        self.counts[bucket] += 1;
        self.used |= 1 << (bucket >> HALF_SHIFT);
    }

    /// The octaves that hold something, with their numbers.
    fn octaves(&self) -> impl DoubleEndedIterator<Item = (usize, &[u64])> {
        self.counts.chunks(1 << HALF_SHIFT).enumerate().filter(|(octave, _)| self.used >> octave & 1 == 1)
    }

    /// How many times were counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.octaves().flat_map(|(_, counts)| counts).sum()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (octave, counts) in other.octaves() {
            for (sum, count) in self.counts[octave << HALF_SHIFT..].iter_mut().zip(counts) {
                *sum += count;
            }
        }
        self.used |= other.used;
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        for (octave, counts) in self.counts.chunks_mut(1 << HALF_SHIFT).enumerate() {
            if self.used >> octave & 1 == 1 {
                counts.fill(0);
            }
        }
        self.used = 0;
    }

    /// The counts as a histogram, which knows percentiles.
    #[must_use]
    pub fn histogram(&self) -> TimeHistogram {
        let mut histogram = empty_histogram();
        self.add_to(&mut histogram);
        histogram
    }

    /// Adds the counts to a histogram of [`empty_histogram`], which grows with them.
    pub fn add_to(&self, histogram: &mut TimeHistogram) {
        // From the longest octave down, so that the histogram grows once.
        for (octave, counts) in self.octaves().rev() {
            for (place, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let counted = histogram.record_n(least((octave << HALF_SHIFT) + place), count);
                debug_assert!(counted.is_ok(), "a histogram that grows takes every time");
            }
        }
    }
}

/// An empty histogram of times, which grows with those it counts: many never count anything, and
/// one with room for an hour would write 200 kB.
///
/// # Panics
/// Never: its bounds are constants in order.
#[must_use]
pub fn empty_histogram() -> TimeHistogram {
    let mut histogram = TimeHistogram::new_with_bounds(LOWEST, 2 * LOWEST, DIGITS).expect("the bounds are constants in order");
    histogram.auto(true);
    histogram
}

/// The ⌈percent/100 · n⌉-th smallest of sorted values.
#[must_use]
pub fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (percent * sorted.len()).div_ceil(100);
    sorted.get(rank.max(1) - 1).copied()
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
                let bits = rng.below(64);
                rng.below(1 << bits)
            };
            counts.add(Duration::ns(time));
            library.record(time).unwrap();
        }
        let ours = counts.histogram();
        assert_eq!(counts.len(), 100_000);
        assert_eq!((ours.len(), ours.mean(), ours.stdev()), (library.len(), library.mean(), library.stdev()));
        for percent in [0.0, 0.1, 5.0, 50.0, 90.0, 99.0, 99.99, 100.0] {
            assert_eq!(ours.value_at_percentile(percent), library.value_at_percentile(percent), "{percent}");
        }
    }

    #[test]
    fn times_beyond_an_hour_are_counted_as_what_they_are() {
        const LONGEST: Duration = Duration::ns(1 << 63);
        let mut counts = TimeCounts::new();
        let times = [1, 3_600, 6_475, 88_735, 9_200_000_000].map(Duration::secs);
        times.iter().for_each(|time| counts.add(*time));
        let histogram = counts.histogram();
        let mean = times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / times.len() as f64;
        assert!((histogram.value_at_quantile(0.5) as f64 / 6_475e9 - 1.0).abs() < 1e-3, "{}", histogram.value_at_quantile(0.5));
        assert!((histogram.mean() / 1e9 / mean - 1.0).abs() < 1e-3);
        assert!(histogram.max() as f64 / 1e9 >= mean);
        let mut sum = TimeCounts::new();
        sum.add(LONGEST);
        sum.merge(&counts);
        counts.merge(&sum);
        assert_eq!((counts.len(), sum.len()), (11, 6));
        assert!(counts.histogram().max() >= LONGEST.as_nanos());
        counts.clear();
        assert!(counts.is_empty() && counts.histogram().is_empty());
    }

    #[test]
    fn sums_hold_both_and_nothing_is_left_after_clearing() {
        let (mut one, mut other) = (TimeCounts::new(), TimeCounts::new());
        one.add(Duration::us(3));
        other.add(Duration::us(3));
        other.add(Duration::ms(70));
        one.merge(&other);
        let sum = one.histogram();
        assert_eq!((one.len(), sum.count_at(3000), sum.count_at(70_000_000)), (3, 2, 1));
        one.clear();
        assert!(one.is_empty() && one.histogram().is_empty());
    }
}
