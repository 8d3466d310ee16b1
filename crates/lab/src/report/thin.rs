//! Making long series short without losing their peaks, and numbers short without losing their meaning.

/// `value` with six significant digits, or nothing when it is not finite.
pub(super) fn round(value: f64) -> Option<f64> {
    if !value.is_finite() {
        return None;
    }
    // Printing and reading back rounds to the nearest decimal number, which multiplication by powers of ten does not.
    Some(format!("{value:.5e}").parse().unwrap_or(value))
}

/// How samples are grouped: `samples` of them in buckets of `width`, each bucket drawn with two points (one, if the last
/// bucket holds a single sample).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buckets {
    samples: usize,
    /// Samples a bucket; 0: keep every sample as it is.
    width: usize,
}

impl Buckets {
    /// At most `limit` points for `samples` samples.
    pub(super) fn new(samples: usize, limit: usize) -> Self {
        let pairs = (limit / 2).max(1);
        Self { samples, width: if samples <= limit.max(2) { 0 } else { samples.div_ceil(pairs) } }
    }

    /// The times of the points: those of the first and of the middle sample of each bucket.
    pub(super) fn times(self, times: &[f64]) -> Vec<f64> {
        if self.width == 0 {
            return times.to_vec();
        }
        let pair = |bucket: &[f64]| [bucket[0], bucket[bucket.len() / 2]];
        times.chunks(self.width).flat_map(|bucket| pair(bucket).into_iter().take(bucket.len())).collect()
    }

    /// The smallest and the largest value of each bucket, in the order in which they occurred.
    pub(super) fn extremes(self, values: &[f64]) -> Vec<f64> {
        if self.width == 0 {
            return values.to_vec();
        }
        values.chunks(self.width).flat_map(|bucket| extremes(bucket).into_iter().take(bucket.len())).collect()
    }

    /// The mean of each bucket's finite samples; nothing when every sample is kept anyway.
    pub(super) fn means(self, values: &[f64]) -> Vec<f64> {
        if self.width == 0 {
            return Vec::new();
        }
        values.chunks(self.width).map(mean).collect()
    }

    /// Samples behind one pair of points, 1 when nothing was left out.
    pub(super) fn samples_a_bucket(self) -> usize {
        self.width.max(1)
    }
}

/// The smallest and the largest finite value, first the one that came first; not-a-number when there is none.
fn extremes(bucket: &[f64]) -> [f64; 2] {
    let mut finite = bucket.iter().enumerate().filter(|(_, value)| value.is_finite());
    let Some(first) = finite.next() else { return [f64::NAN; 2] };
    let (mut low, mut high) = (first, first);
    for sample in finite {
        if sample.1 < low.1 {
            low = sample;
        }
        if sample.1 > high.1 {
            high = sample;
        }
    }
    if low.0 <= high.0 { [*low.1, *high.1] } else { [*high.1, *low.1] }
}

/// The mean of the finite values; not-a-number when there is none.
fn mean(bucket: &[f64]) -> f64 {
    let finite = bucket.iter().filter(|value| value.is_finite());
    finite.clone().sum::<f64>() / finite.count() as f64
}

/// `points` thinned to about `limit`, keeping the first and the last and those that are furthest apart in either direction:
/// a step of at least one part in `limit` of the height, or in `limit` of the decades of width.
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
