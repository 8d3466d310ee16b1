//! Counting times into buckets of three significant digits, quickly.

use goodqueue_base::units::Duration;

/// Times in nanoseconds, to three significant digits above a microsecond.
pub type TimeHistogram = hdrhistogram::Histogram<u64>;

/// Times below this share buckets of half this width.
const MIN: u64 = 1_000;
const DIGITS: u8 = 3;
/// A bucket of the lowest octave is 2^9 ns wide, the largest power of two within [`MIN`].
const UNIT_SHIFT: u32 = MIN.ilog2();
/// Each octave above the first has 2^10 buckets: the power of two at or above 10^3.
const HALF_SHIFT: u32 = 10;

/// Octaves of all times: the lowest two have one width of buckets.
const OCTAVES: usize = (u64::BITS - UNIT_SHIFT - HALF_SHIFT) as usize + 1;
/// The place of an octave that holds nothing.
const NOWHERE: u8 = u8::MAX;

/// Counts of times in nanoseconds: the buckets of a [`TimeHistogram`] of the same digits, without
/// what that type does besides counting.
///
/// A world has dozens of them, and every packet counts in one or two at a random place, so they are
/// kept small enough for the nearest caches.
#[derive(Clone, Debug)]
pub struct TimeCounts {
    /// The buckets of each octave that holds something, in the order in which octaves came up: many
    /// counts hold a few octaves only.
    counts: Vec<u16>,
    /// The place of each octave among `counts`, in octaves.
    places: [u8; OCTAVES],
    /// Buckets whose count has wrapped around, and how often.
    wraps: Vec<(usize, u64)>,
}

/// Counts of a bucket that are one wrap.
const WRAP: u64 = 1 << u16::BITS;

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

impl Default for TimeCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeCounts {
    /// Nothing counted yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new(), places: [NOWHERE; OCTAVES], wraps: Vec::new() }
    }

    /// Counts one time.
    #[inline]
    pub fn add(&mut self, time: Duration) {
        let bucket = bucket(time.as_nanos());
        let (octave, within) = (bucket >> HALF_SHIFT, bucket % (1 << HALF_SHIFT));
        let place = usize::from(self.places[octave]);
        match self.counts.get_mut(place << HALF_SHIFT | within) {
            Some(count) if *count < u16::MAX => *count += 1,
            _ => self.add_to(bucket, 1),
        }
    }

    /// Counts in a bucket, the octave of which may hold nothing yet.
    #[cold]
    fn add_to(&mut self, bucket: usize, times: u64) {
        let place = &mut self.places[bucket >> HALF_SHIFT];
        if *place == NOWHERE {
            *place = (self.counts.len() >> HALF_SHIFT) as u8;
            self.counts.resize(self.counts.len() + (1 << HALF_SHIFT), 0);
        }
        let begin = usize::from(*place) << HALF_SHIFT;
        let count = &mut self.counts[begin + bucket % (1 << HALF_SHIFT)];
        let sum = u64::from(*count) + times;
        *count = sum as u16;
        if sum >= WRAP {
            match self.wraps.iter_mut().find(|(wrapped, _)| *wrapped == bucket) {
                Some((_, wraps)) => *wraps += sum / WRAP,
                None => self.wraps.push((bucket, sum / WRAP)),
            }
        }
    }

    /// The buckets that hold something, and their counts, from the longest octave down.
    fn buckets(&self) -> impl Iterator<Item = (usize, u64)> {
        let octaves = self.places.iter().enumerate().rev().filter(|(_, place)| **place != NOWHERE);
        let counted = octaves.flat_map(|(octave, place)| {
            let counts = &self.counts[usize::from(*place) << HALF_SHIFT..][..1 << HALF_SHIFT];
            counts.iter().enumerate().map(move |(within, count)| (octave << HALF_SHIFT | within, u64::from(*count)))
        });
        counted.filter(|(_, count)| *count > 0).chain(self.wraps.iter().map(|(bucket, wraps)| (*bucket, wraps * WRAP)))
    }

    /// The number of times that were counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        let wraps = self.wraps.iter().map(|(_, wraps)| wraps * WRAP).sum::<u64>();
        wraps + self.counts.iter().map(|count| u64::from(*count)).sum::<u64>()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        other.buckets().for_each(|(bucket, count)| self.add_to(bucket, count));
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.places = [NOWHERE; OCTAVES];
        self.wraps.clear();
    }

    /// The counts as a histogram, which knows percentiles.
    #[must_use]
    pub fn histogram(&self) -> TimeHistogram {
        let mut histogram = empty_histogram();
        // From the longest octave down, so that the histogram grows once.
        for (bucket, count) in self.buckets() {
            let counted = histogram.record_n(least(bucket), count);
            debug_assert!(counted.is_ok(), "a histogram that grows takes every time");
        }
        histogram
    }
}

/// An empty histogram of times, which grows with those it counts: many never count anything, and
/// one with room for an hour would write 200 kB.
fn empty_histogram() -> TimeHistogram {
    let mut histogram = TimeHistogram::new_with_bounds(MIN, 2 * MIN, DIGITS).expect("the bounds are constants in order");
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
    use goodqueue_base::units::Rng;

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
    fn a_bucket_counts_beyond_what_fits_it() {
        let (often, seldom) = (Duration::ms(3), Duration::us(2));
        let mut counts = TimeCounts::new();
        (0..3 * WRAP).for_each(|_| counts.add(often));
        counts.add(seldom);
        let mut sum = counts.clone();
        sum.merge(&counts);
        assert_eq!((counts.len(), sum.len()), (3 * WRAP + 1, 6 * WRAP + 2));
        let histogram = sum.histogram();
        assert_eq!(histogram.len(), 6 * WRAP + 2);
        assert_eq!((histogram.count_at(2_000), histogram.count_at(3_000_000)), (2, 6 * WRAP));
        counts.clear();
        assert!(counts.is_empty() && counts.histogram().is_empty());
    }

    #[test]
    fn times_beyond_an_hour_are_counted_as_what_they_are() {
        const MAX: Duration = Duration::ns(1 << 63);
        let mut counts = TimeCounts::new();
        let times = [1, 3_600, 6_475, 88_735, 9_200_000_000].map(Duration::secs);
        times.iter().for_each(|time| counts.add(*time));
        let histogram = counts.histogram();
        let mean = times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / times.len() as f64;
        assert!((histogram.value_at_quantile(0.5) as f64 / 6_475e9 - 1.0).abs() < 1e-3, "{}", histogram.value_at_quantile(0.5));
        assert!((histogram.mean() / 1e9 / mean - 1.0).abs() < 1e-3);
        assert!(histogram.max() as f64 / 1e9 >= mean);
        let mut sum = TimeCounts::new();
        sum.add(MAX);
        sum.merge(&counts);
        counts.merge(&sum);
        assert_eq!((counts.len(), sum.len()), (11, 6));
        assert!(counts.histogram().max() >= MAX.as_nanos());
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
