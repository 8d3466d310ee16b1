//! Counting times into buckets of three significant digits, quickly.

use goodqueue_base::units::Duration;

/// A bucket of the lowest octave is 2^9 ns wide.
const UNIT_SHIFT: u32 = 9;
/// Each octave above the first has 2^10 buckets: the power of two at or above 10^3.
const HALF_SHIFT: u32 = 10;

/// Octaves of all times: the lowest two have one width of buckets.
const OCTAVES: usize = (u64::BITS - UNIT_SHIFT - HALF_SHIFT) as usize + 1;
/// The place of an octave that holds nothing.
const NOWHERE: u8 = u8::MAX;

/// Counts of times in nanoseconds, to three significant digits above a microsecond: the buckets and
/// the figures of an HDR histogram.
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
    /// Buckets whose count has wrapped around, from the greatest to one, rising, and how often.
    wraps: Vec<(usize, u64)>,
}

/// A bucket that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The shortest time that it counts.
    pub shortest: Duration,
    /// The longest.
    pub longest: Duration,
    /// Its times.
    pub count: u64,
}

impl Bucket {
    fn of(bucket: usize, count: u64) -> Self {
        let longest = least(bucket).saturating_add(width(bucket) - 1);
        Self { shortest: Duration::ns(least(bucket)), longest: Duration::ns(longest), count }
    }

    /// The time in its middle, which stands for all of them in sums.
    #[must_use]
    pub fn middle(&self) -> Duration {
        Duration::ns(self.shortest.as_nanos() + (self.longest.as_nanos() - self.shortest.as_nanos()).div_ceil(2))
    }
}

/// Counts of a bucket that are one wrap.
const WRAP: u64 = u16::MAX as u64;

/// The bucket of a time.
#[inline]
const fn bucket(nanos: u64) -> usize {
    let units = nanos >> UNIT_SHIFT;
    let octave = (units | ((2 << HALF_SHIFT) - 1)).ilog2() - HALF_SHIFT;
    ((octave as usize) << HALF_SHIFT) + (units >> octave) as usize
}

/// Octaves by which the buckets of this one's octave are wider than those of the lowest.
const fn doublings(bucket: usize) -> usize {
    (bucket >> HALF_SHIFT).saturating_sub(1)
}

/// The nanoseconds that a bucket spans.
const fn width(bucket: usize) -> u64 {
    1 << (doublings(bucket) as u32 + UNIT_SHIFT)
}

/// The least time of a bucket.
const fn least(bucket: usize) -> u64 {
    let doublings = doublings(bucket);
    ((bucket - (doublings << HALF_SHIFT)) as u64) << (doublings as u32 + UNIT_SHIFT)
}

impl Default for TimeCounts {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal counts, in whatever order they came up.
impl PartialEq for TimeCounts {
    fn eq(&self, other: &Self) -> bool {
        self.counted().eq(other.counted())
    }
}

impl TimeCounts {
    /// Shorter times are all in one bucket.
    pub const MIN_TIME: Duration = Duration::ns(1 << UNIT_SHIFT);

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
        let further = u64::from(*count) + times - 1;
        *count = (further % WRAP) as u16 + 1;
        if further >= WRAP {
            match self.wraps.binary_search_by_key(&bucket, |(wrapped, _)| *wrapped) {
                Ok(known) => self.wraps[known].1 += further / WRAP,
                Err(place) => self.wraps.insert(place, (bucket, further / WRAP)),
            }
        }
    }

    /// The numbers of the buckets that hold something, rising, and their counts.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> {
        let octaves = self.places.iter().enumerate().filter(|(_, place)| **place != NOWHERE);
        let mut wraps = self.wraps.iter().peekable();
        let counted = octaves.flat_map(|(octave, place)| {
            let counts = &self.counts[usize::from(*place) << HALF_SHIFT..][..1 << HALF_SHIFT];
            let some = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            some.map(move |(within, count)| (octave << HALF_SHIFT | within, u64::from(*count)))
        });
        counted.map(move |(bucket, count)| {
            let wrapped = wraps.next_if(|(wrapped, _)| *wrapped == bucket);
            (bucket, count + wrapped.map_or(0, |(_, wraps)| wraps * WRAP))
        })
    }

    /// The buckets that hold something, from the shortest times on.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.counted().map(|(bucket, count)| Bucket::of(bucket, count))
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

    /// The number of times up to this one, and of those in its bucket.
    #[must_use]
    pub fn up_to(&self, time: Duration) -> u64 {
        let last = bucket(time.as_nanos());
        self.counted().take_while(|(bucket, _)| *bucket <= last).map(|(_, count)| count).sum()
    }

    /// The quantile `q`, in [0, 1], by nearest rank: the longest time of its bucket. `None` when
    /// nothing was counted.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = ((q.min(1.0) * self.len() as f64).ceil() as u64).max(1);
        let mut below = 0;
        let found = self.buckets().find(|bucket| {
            below += bucket.count;
            below >= rank
        });
        found.map(|bucket| bucket.longest)
    }

    /// The shortest time, or that of its bucket. `None` when nothing was counted.
    #[must_use]
    pub fn shortest(&self) -> Option<Duration> {
        self.buckets().next().map(|bucket| bucket.shortest)
    }

    /// The mean in nanoseconds; `None` when nothing was counted.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let total = self.len() as f64;
        let part = |bucket: Bucket| bucket.middle().as_nanos() as f64 * bucket.count as f64 / total;
        (total > 0.0).then(|| self.buckets().map(part).sum())
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        other.counted().for_each(|(bucket, count)| self.add_to(bucket, count));
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.places = [NOWHERE; OCTAVES];
        self.wraps.clear();
    }
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
        let mut library = hdrhistogram::Histogram::<u64>::new_with_bounds(1_000, 2_000, 3).unwrap();
        library.auto(true);
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
        assert_eq!((counts.len(), counts.mean()), (library.len(), Some(library.mean())));
        for q in [0.001, 0.05, 0.5, 0.9, 0.99, 0.9999, 1.0] {
            let theirs = library.value_at_quantile(q);
            assert_eq!(counts.quantile(q), Some(Duration::ns(theirs)), "{q}");
            assert_eq!(counts.up_to(Duration::ns(theirs)), library.count_between(0, theirs), "{q}");
        }
        let theirs = library
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), library.median_equivalent(step.value_iterated_to()), step.count_at_value()));
        let ours = counts.buckets().map(|bucket| (bucket.longest.as_nanos(), bucket.middle().as_nanos(), bucket.count));
        assert!(ours.eq(theirs));
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
        assert_eq!(sum.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [2, 6 * WRAP]);
        counts.clear();
        assert!(counts.is_empty() && counts.quantile(0.5).is_none());
    }

    #[test]
    fn times_beyond_an_hour_are_counted_as_what_they_are() {
        const MAX: Duration = Duration::ns(1 << 63);
        let mut counts = TimeCounts::new();
        let times = [1, 3_600, 6_475, 88_735, 9_200_000_000].map(Duration::secs);
        times.iter().for_each(|time| counts.add(*time));
        let mean = times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / times.len() as f64;
        let median = counts.quantile(0.5).expect("five");
        assert!((median.as_secs_f64() / 6_475.0 - 1.0).abs() < 1e-3, "{median}");
        assert!((counts.mean().expect("five") / 1e9 / mean - 1.0).abs() < 1e-3);
        let mut sum = TimeCounts::new();
        sum.add(MAX);
        sum.merge(&counts);
        counts.merge(&sum);
        assert_eq!((counts.len(), sum.len()), (11, 6));
        assert!(counts.quantile(1.0).is_some_and(|longest| longest >= MAX));
        counts.clear();
        assert!(counts.is_empty());
    }

    #[test]
    fn sums_hold_both_and_nothing_is_left_after_clearing() {
        let (mut one, mut other) = (TimeCounts::new(), TimeCounts::new());
        one.add(Duration::us(3));
        other.add(Duration::us(3));
        other.add(Duration::ms(70));
        one.merge(&other);
        assert_eq!(one.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(one.buckets().map(|bucket| bucket.shortest.as_nanos() / 1_000).collect::<Vec<_>>(), [2, 69_992]);
        one.clear();
        assert!(one.is_empty() && one.buckets().next().is_none());
    }
}
