//! How long transfers took: all, by size, and against the least the path allows.

use crate::outcome::{SojournHistogram, TransferOutcome};
use goodqueue_trace::{TimeCounts, empty_histogram};
use goodqueue_units::{Bytes, Duration, Rate};

/// Transfers are told apart by size: each class ends below this many bytes, the last one has no end.
pub const SIZE_CLASSES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// What a path allows at best, when it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ideal {
    /// Propagation there and back.
    pub(crate) base_rtt: Duration,
    /// The slowest link on the way of the data.
    pub(crate) narrowest: Rate,
    /// Payload of a full segment, and what it carries besides, framing of that link included.
    pub(crate) mss: u64,
    pub(crate) extra: u64,
}

impl Ideal {
    /// The shortest time in which `bytes` can be complete: so many round trips, and transmission at the narrowest link.
    pub(crate) fn time(&self, bytes: u64, round_trips: u64) -> Duration {
        let wire = bytes.saturating_add(bytes.div_ceil(self.mss).saturating_mul(self.extra));
        self.base_rtt * round_trips + self.narrowest.transmission_time(Bytes::new(wire))
    }
}

/// A slowdown of 1 is counted as this many nanoseconds.
const ONE_NANOS: f64 = 1e6;

/// What the transfers of one group took. Room for counts is made when it is first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    pub(crate) begun: u64,
    pub(crate) refused: u64,
    complete: u64,
    all: Option<TimeCounts>,
    by_size: [Option<TimeCounts>; SIZE_CLASSES.len() + 1],
    slowdown: Option<TimeCounts>,
    first_byte: Option<TimeCounts>,
    pages: Option<TimeCounts>,
    playing: Option<TimeCounts>,
}

fn count(counts: &mut Option<TimeCounts>, time: Duration) {
    counts.get_or_insert_with(TimeCounts::new).add(time);
}

fn histogram(counts: Option<&TimeCounts>) -> SojournHistogram {
    counts.map_or_else(empty_histogram, TimeCounts::histogram)
}

impl Completions {
    /// A transfer of `bytes` took `span`, of which the path needs `ideal`.
    pub(crate) fn add(&mut self, bytes: u64, span: Duration, ideal: Duration) {
        self.complete += 1;
        count(&mut self.all, span);
        let class = SIZE_CLASSES.partition_point(|end| *end <= bytes);
        count(&mut self.by_size[class], span);
        let slowdown = span.as_secs_f64() / ideal.as_secs_f64().max(1e-9);
        count(&mut self.slowdown, Duration::ns((slowdown * ONE_NANOS) as u64));
    }

    pub(crate) fn add_first_byte(&mut self, span: Duration) {
        count(&mut self.first_byte, span);
    }

    pub(crate) fn add_page(&mut self, span: Duration) {
        count(&mut self.pages, span);
    }

    pub(crate) fn add_playing(&mut self, span: Duration) {
        count(&mut self.playing, span);
    }

    /// The figures; `None` when there was never a transfer.
    pub(crate) fn outcome(&self) -> Option<TransferOutcome> {
        (self.begun + self.refused + self.complete > 0).then(|| TransferOutcome {
            begun: self.begun,
            refused: self.refused,
            complete: self.complete,
            completion: histogram(self.all.as_ref()),
            by_size: self.by_size.iter().map(|counts| histogram(counts.as_ref())).collect(),
            slowdown_millionths: histogram(self.slowdown.as_ref()),
            first_byte: histogram(self.first_byte.as_ref()),
            page_load: histogram(self.pages.as_ref()),
            playing: histogram(self.playing.as_ref()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_a_path_allows_is_its_round_trips_and_its_narrowest_link() {
        let ideal = Ideal { base_rtt: Duration::ms(10), narrowest: Rate::mbit(8), mss: 1_000, extra: 100 };
        // 2500 bytes in three segments: 2800 bytes on the wire, one microsecond each.
        assert_eq!(ideal.time(2_500, 2), Duration::us(22_800));
    }

    #[test]
    fn transfers_are_sorted_by_size() {
        let mut completions = Completions::default();
        assert!(completions.outcome().is_none());
        for bytes in [1, 9_999, 10_000, 5_000_000, 10_000_000] {
            completions.add(bytes, Duration::ms(30), Duration::ms(20));
        }
        let outcome = completions.outcome().expect("there were transfers");
        let counts: Vec<u64> = outcome.by_size.iter().map(SojournHistogram::len).collect();
        assert_eq!((counts, outcome.complete), (vec![2, 1, 0, 1, 1], 5));
        assert!((outcome.slowdown_millionths.mean() / 1e6 - 1.5).abs() < 0.001);
    }
}
