//! Ratios, counts and percentiles as values of figures.

use goodqueue_aqm::Tally;
use goodqueue_base::units::Duration;
use goodqueue_sim::trace::TimeCounts;

/// `part` of `whole`; `None` when there is no whole.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(super) fn packets(tally: Tally) -> u64 {
    tally.packets.get()
}

/// Percentiles of times below this count as zero, in seconds.
pub const MIN_TIME_S: f64 = 1e-6;

/// The `q` quantile by nearest rank, in seconds; zero within the first bucket, which holds all that
/// is shorter than half a microsecond; `None` where nothing was counted.
pub(super) fn quantile_s(times: &TimeCounts, q: f64) -> Option<f64> {
    let value = |time: Duration| if time < TimeCounts::MIN_TIME { 0.0 } else { time.as_nanos() as f64 / 1e9 };
    times.quantile(q).map(value)
}
