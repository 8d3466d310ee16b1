//! Departures from a link between two observations.

use crate::thinning::Thinning;
use crate::trace::nearest_rank;
use goodqueue_base::units::{Bytes, Duration};

/// Most sojourn times kept between two observations, evenly spread.
const MAX_SAMPLES: usize = 1024;

/// Departures since the last look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    samples: Vec<Duration>,
    departed: u64,
    thinning: Thinning,
    sum_nanos: u64,
    longest: Duration,
    sent_bytes: u64,
}

/// Departures from a link in an interval: packets whose transmission began in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Packets.
    pub departed: u64,
    /// Bytes of these packets, framing included.
    pub sent: Bytes,
    /// Mean time they spent in the queue; zero without packets.
    pub sojourn_mean: Duration,
    /// Time in the queue that 95 % of them did not exceed.
    pub sojourn_p95: Duration,
    /// Longest time in the queue.
    pub sojourn_max: Duration,
}

impl Watch {
    pub(crate) fn departed(&mut self, sojourn: Duration, wire_bytes: u64) {
        self.thinning.add::<MAX_SAMPLES, _>(&mut self.samples, sojourn);
        self.departed += 1;
        self.sum_nanos = self.sum_nanos.saturating_add(sojourn.as_nanos());
        self.longest = self.longest.max(sojourn);
        self.sent_bytes += wire_bytes;
    }

    /// Takes the departures since the last call.
    pub(crate) fn take(&mut self) -> Interval {
        self.samples.sort_unstable();
        let interval = Interval {
            departed: self.departed,
            sent: Bytes::new(self.sent_bytes),
            sojourn_mean: Duration::ns(self.sum_nanos / self.departed.max(1)),
            sojourn_p95: nearest_rank(&self.samples, 95).unwrap_or_default(),
            sojourn_max: self.longest,
        };
        self.samples.clear();
        *self = Self { samples: std::mem::take(&mut self.samples), ..Self::default() };
        interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_mean_percentile_and_maximum() {
        let mut watch = Watch::default();
        (1..=100).for_each(|ms| watch.departed(Duration::ms(ms), 1500));
        let seen = watch.take();
        assert_eq!((seen.departed, seen.sent), (100, Bytes::new(150_000)));
        assert_eq!(seen.sojourn_mean, Duration::us(50_500));
        assert_eq!((seen.sojourn_p95, seen.sojourn_max), (Duration::ms(95), Duration::ms(100)));
        assert_eq!(watch.take(), Interval::default(), "what was taken is gone");
    }

    #[test]
    fn a_long_interval_keeps_an_even_selection() {
        let mut watch = Watch::default();
        (0..100_000).for_each(|us| watch.departed(Duration::us(us), 1));
        assert!((MAX_SAMPLES / 2..=MAX_SAMPLES).contains(&watch.samples.len()));
        let step = watch.samples[1].saturating_sub(watch.samples[0]);
        assert!(watch.samples.windows(2).all(|pair| pair[1].saturating_sub(pair[0]) == step));
        let seen = watch.take();
        assert_eq!(seen.sojourn_max, Duration::us(99_999));
        assert!(seen.sojourn_p95.as_nanos().abs_diff(95_000_000) < 200_000, "{seen:?}");
    }
}
