//! Shortening long series without losing their peaks.

/// Groups `samples` samples into buckets of `width`, each drawn with two points (one, if the last
/// bucket contains a single sample).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buckets {
    samples: usize,
    /// Samples per bucket; 0 to keep every sample.
    width: usize,
}

impl Buckets {
    /// At most `limit` points for `samples` samples.
    pub(super) fn new(samples: usize, limit: usize) -> Self {
        let pairs = (limit / 2).max(1);
        Self { samples, width: if samples <= limit.max(2) { 0 } else { samples.div_ceil(pairs) } }
    }

    /// Whether every sample is kept.
    pub(super) fn keep_all(self) -> bool {
        self.width == 0
    }

    /// The times of the points: those of the first and of the middle sample of each bucket.
    pub(super) fn times<T: Copy>(self, times: &[T]) -> impl Iterator<Item = T> {
        let pair = |bucket: &[T]| [bucket[0], bucket[bucket.len() / 2]];
        times.chunks(self.width.max(1)).flat_map(move |bucket| pair(bucket).into_iter().take(bucket.len()))
    }

    /// The smallest and the largest value of each bucket, in the order in which they occurred.
    pub(super) fn extremes(self, values: &[f64]) -> impl Iterator<Item = f64> {
        values.chunks(self.width.max(1)).flat_map(|bucket| extremes(bucket).into_iter().take(bucket.len()))
    }

    /// The mean of each bucket's finite samples.
    pub(super) fn means(self, values: &[f64]) -> impl Iterator<Item = f64> {
        values.chunks(self.width.max(1)).map(mean)
    }

    /// Samples behind one pair of points, 1 if nothing was omitted.
    pub(super) fn samples_a_bucket(self) -> usize {
        self.width.max(1)
    }
}

/// The smallest and the largest finite value, in order of occurrence; NaN if there is none.
fn extremes(bucket: &[f64]) -> [f64; 2] {
    let (low, high) = smallest_and_largest(bucket.iter().copied());
    if !(low.is_finite() && high.is_finite()) {
        return finite_extremes(bucket);
    }
    match bucket.iter().find(|&&value| value == low || value == high) {
        Some(first) if *first == low => [low, high],
        _ => [high, low],
    }
}

/// As [`extremes`], for buckets that may have infinite values, or none.
#[cold]
fn finite_extremes(bucket: &[f64]) -> [f64; 2] {
    let finite: Vec<f64> = bucket.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() { [f64::NAN; 2] } else { extremes(&finite) }
}

/// The first of the smallest and the first of the largest values that are numbers.
// A comparison and a choice each, which become one instruction without a jump.
fn smallest_and_largest(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (if value < low { value } else { low }, if value > high { value } else { high })
    })
}

/// The mean of the finite values; NaN if there is none.
fn mean(bucket: &[f64]) -> f64 {
    if bucket.iter().all(|value| value.is_finite()) {
        return bucket.iter().sum::<f64>() / bucket.len() as f64;
    }
    let finite = bucket.iter().filter(|value| value.is_finite());
    finite.clone().sum::<f64>() / finite.count() as f64
}

/// `points` reduced to about `limit`, keeping the first, the last, and steps of at least one part
/// in `limit` of the height, or in `limit` of the decades of width.
pub(super) fn thin_cdf(points: &[(f64, f64)], limit: usize) -> Vec<(f64, f64)> {
    if points.len() <= limit {
        return points.to_vec();
    }
    let smallest = points.iter().map(|point| point.0).find(|&x| x > 0.0).unwrap_or(1e-9);
    let decades = points.last().map_or(1.0, |last| log10(last.0, smallest) - log10(smallest, smallest)).max(0.1);
    let step = 2.0 / limit as f64;
    let mut kept: Vec<(f64, f64)> = vec![points[0]];
    for &point in &points[1..points.len() - 1] {
        let last = kept[kept.len() - 1];
        let right = (log10(point.0, smallest) - log10(last.0, smallest)) / decades;
        if point.1 - last.1 >= step || right >= step {
            kept.push(point);
        }
    }
    kept.push(points[points.len() - 1]);
    kept
}

fn log10(value: f64, smallest: f64) -> f64 {
    libm::log10(value.max(smallest))
}
