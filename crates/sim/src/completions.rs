//! Completion times of transfers: all, by size, and relative to the least that the path allows.

use crate::outcome::TransferOutcome;
use crate::trace::TimeCounts;
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Duration, Instant};

/// Size classes of transfers: each class ends below this many bytes; the last class has no end.
pub const SIZE_CLASSES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// A link that limits how fast a path can carry a transfer.
#[derive(Clone, Debug)]
pub(crate) struct Narrow {
    /// Rate of the link, never used to send, so that it answers for any start.
    pub(crate) rate: RateCursor,
    /// Bytes that a segment takes on this link besides its payload.
    pub(crate) extra: u64,
    /// Propagation from the host that begins a round trip up to this link.
    pub(crate) lead: Duration,
}

impl Narrow {
    /// Transmission time of `size` that arrives at `start`. A recorded link counts with its mean
    /// rate.
    fn transmission_time(&self, start: Instant, size: Bytes) -> Duration {
        match &self.rate {
            RateCursor::Recorded(_) => self.rate.known_rate(start).transmission_time(size),
            rate => rate.clone().end_of(start, size).since(start),
        }
    }
}

/// The least time in which a path can carry a transfer when it is empty.
#[derive(Clone, Debug)]
pub(crate) struct Ideal {
    /// Propagation there and back.
    pub(crate) base_rtt: Duration,
    /// Payload of a full segment.
    pub(crate) mss: u64,
    /// The links of the data's path that may be the slowest.
    pub(crate) narrow: Box<[Narrow]>,
}

impl Ideal {
    /// The least time from `began` in which `bytes` can be complete: `round_trips` and the
    /// transmission at the slowest link, at the rates of the time in which it carries them.
    pub(crate) fn time(&self, began: Instant, bytes: u64, round_trips: u64) -> Duration {
        let segments = bytes.div_ceil(self.mss);
        let before = self.base_rtt * round_trips.saturating_sub(1);
        let transmission = |narrow: &Narrow| {
            let wire = bytes.saturating_add(segments.saturating_mul(narrow.extra));
            narrow.transmission_time(began + before + narrow.lead, Bytes::new(wire))
        };
        self.base_rtt * round_trips + self.narrow.iter().map(transmission).max().unwrap_or_default()
    }
}

/// A slowdown of 1 is counted as this many nanoseconds.
const ONE_NANOS: f64 = 1e6;

/// Completion times of one group's transfers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    pub(crate) begun: u64,
    pub(crate) refused: u64,
    /// Transfers that are under way.
    pub(crate) open: u64,
    complete: u64,
    all: TimeCounts,
    by_size: [TimeCounts; SIZE_CLASSES.len() + 1],
    slowdown: TimeCounts,
    pub(crate) first_byte: TimeCounts,
    pub(crate) pages: TimeCounts,
    pub(crate) playing: TimeCounts,
}

impl Completions {
    /// A transfer of `bytes` took `span`, of which the path needs `ideal`.
    pub(crate) fn add(&mut self, bytes: u64, span: Duration, ideal: Duration) {
        self.complete += 1;
        self.all.add(span);
        let class = SIZE_CLASSES.partition_point(|end| *end <= bytes);
        self.by_size[class].add(span);
        let slowdown = span.as_secs_f64() / ideal.as_secs_f64().max(1e-9);
        self.slowdown.add(Duration::ns((slowdown * ONE_NANOS) as u64));
    }

    /// The figures; `None` when there was never a transfer.
    pub(crate) fn outcome(&self) -> Option<TransferOutcome> {
        (self.begun + self.refused + self.open + self.complete > 0).then(|| TransferOutcome {
            begun: self.begun,
            refused: self.refused,
            complete: self.complete,
            open: self.open,
            completion: self.all.clone(),
            by_size: self.by_size.to_vec(),
            slowdown_millionths: self.slowdown.clone(),
            first_byte: self.first_byte.clone(),
            page_load: self.pages.clone(),
            playing: self.playing.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::line::RateSpec;
    use goodqueue_base::units::Rate;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::ms(ms)
    }

    fn ideal(rate: &RateSpec) -> Ideal {
        let narrow = Narrow { rate: RateCursor::new(rate), extra: 100, lead: Duration::ms(2) };
        Ideal { base_rtt: Duration::ms(10), mss: 1_000, narrow: [narrow].into() }
    }

    #[test]
    fn minimal_time_is_round_trips_plus_bottleneck_transmission() {
        let ideal = ideal(&RateSpec::Constant(Rate::mbit(8)));
        // 2500 bytes in three segments: 2800 bytes on the wire, one microsecond each.
        assert_eq!(ideal.time(ms(7), 2_500, 2), Duration::us(22_800));
    }

    #[test]
    fn the_least_time_follows_the_rate_of_its_own_time() {
        let ideal = ideal(&RateSpec::Steps(vec![(ms(0), Rate::mbit(8)), (ms(100), Rate::mbit(80))]));
        assert_eq!(ideal.time(ms(0), 2_500, 2), Duration::us(22_800));
        assert_eq!(ideal.time(ms(200), 2_500, 2), Duration::us(20_280));
        // Data reaches the link 12 ms after the beginning, a millisecond before the step: 1000
        // bytes at the first rate, 1800 bytes at the second.
        assert_eq!(ideal.time(ms(87), 2_500, 2), Duration::us(21_180));
    }

    #[test]
    fn transfers_are_sorted_by_size() {
        let mut completions = Completions::default();
        assert!(completions.outcome().is_none());
        for bytes in [1, 9_999, 10_000, 5_000_000, 10_000_000] {
            completions.add(bytes, Duration::ms(30), Duration::ms(20));
        }
        let outcome = completions.outcome().expect("there were transfers");
        let counts: Vec<u64> = outcome.by_size.iter().map(TimeCounts::len).collect();
        assert_eq!((counts, outcome.complete), (vec![2, 1, 0, 1, 1], 5));
        assert!((outcome.slowdown_millionths.mean().expect("one") / 1e6 - 1.5).abs() < 0.001);
    }
}
