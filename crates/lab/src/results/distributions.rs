//! Distributions of times over replications, for drawing.

use goodqueue_sim::Outcome;
use goodqueue_sim::trace::TimeCounts;

/// A distribution of times: in the queue at one link, or round trips of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// The link's or the group's name.
    pub subject: String,
    /// (time in seconds, share of the packets in [0, 1] that took at most this long), both rising.
    pub points: Vec<(f64, f64)>,
}

impl Cdf {
    /// From the packets counted in `times`; no points when it is empty.
    #[must_use]
    pub fn new(subject: impl Into<String>, times: &TimeCounts) -> Self {
        let total = times.len();
        let mut points = Vec::new();
        let mut below = 0;
        for bucket in times.buckets() {
            below += bucket.count;
            points.push((bucket.longest.as_nanos() as f64 * 1e-9, below as f64 / total as f64));
        }
        Self { subject: subject.into(), points }
    }
}

/// Times of one run, or of several added up.
#[derive(Clone, Debug, Default)]
pub struct Distributions {
    /// In the queue, by link.
    pub sojourn: Vec<(String, TimeCounts)>,
    /// Round trips of probes, by group: those of echoes, where they are requested.
    pub round_trips: Vec<(String, TimeCounts)>,
}

impl Distributions {
    /// Collects the distributions of one run.
    #[must_use]
    pub fn of(outcome: Outcome) -> Self {
        let is_probed = |group: usize| outcome.flows.iter().any(|flow| flow.is_probe && flow.group as usize == group);
        let round_trips = outcome.groups.into_iter().enumerate().filter(|(number, _)| is_probed(*number));
        Self {
            sojourn: outcome.links.into_iter().map(|link| (link.name, link.sojourn)).collect(),
            round_trips: round_trips.map(|(_, group)| (group.name, group.rtt)).collect(),
        }
    }

    /// Adds those of another replication of the same point.
    pub fn add(&mut self, other: Self) {
        add(&mut self.sojourn, other.sojourn);
        add(&mut self.round_trips, other.round_trips);
    }

    /// To be drawn: of times in the queue, and of round trips.
    #[must_use]
    pub fn cdfs(&self) -> [Vec<Cdf>; 2] {
        [&self.sojourn, &self.round_trips].map(|all| all.iter().map(|(name, times)| Cdf::new(name.as_str(), times)).collect())
    }
}

/// Adds `others` to `sums`: both have the same subjects in the same order, unless nothing has been
/// added yet.
fn add(sums: &mut Vec<(String, TimeCounts)>, others: Vec<(String, TimeCounts)>) {
    if sums.is_empty() {
        *sums = others;
        return;
    }
    for ((_, sum), (_, times)) in sums.iter_mut().zip(&others) {
        sum.merge(times);
    }
}
