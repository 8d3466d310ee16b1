//! The results of runs, and the reduction of the runs of a point to its figures.

use crate::results::distributions::{Cdf, Distributions};
use crate::results::error::RunFailure;
use crate::results::experience::GroupExperience;
use crate::results::metrics::{FlowFigures, GroupFigures, LinkFigures, RunFigures};
use crate::results::provenance::Provenance;
use crate::results::report::ReportPoint;
use crate::results::summary::{PointSummary, SCHEMA, Summary};
use crate::results::validity::Validity;
use crate::scenario::plan::{Direction, Plan, Point, Step, Traffic};
use goodqueue_base::units::Duration;
use goodqueue_sim::trace::PacketEvent;
use goodqueue_sim::{Outcome, Series};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The results of all runs.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// The host of the runs: `sim`, `linux` or `live`.
    pub host: &'static str,
    /// One entry for each point, in order, also when none of its runs finished.
    pub points: Vec<PointResult>,
    /// Runs that failed, in order.
    pub failures: Vec<RunFailure>,
    /// Whether every run finished.
    pub complete: bool,
    /// Fingerprints of finished runs, in order.
    pub fingerprints: Vec<u64>,
    /// Events of all finished runs.
    pub events: u64,
    /// The validity of each attempt at a run, in the order of runs; empty on hosts whose time is
    /// their own.
    pub attempts: Vec<Validity>,
}

impl RunReport {
    /// The report of a host on which no run has ended yet.
    #[must_use]
    pub fn begun(host: &'static str) -> Self {
        Self { host, complete: true, ..Self::default() }
    }

    /// The summary of all points of `plan`, which these runs are of.
    #[must_use]
    pub fn summary(&self, plan: &Plan) -> Summary {
        Summary {
            schema: SCHEMA,
            scenario: plan.name().to_owned(),
            host: self.host,
            seed: plan.seed(),
            replications: plan.replications(),
            complete: self.complete,
            headline: None,
            provenance: Provenance::new(plan.sha256(), self.fingerprints.iter().copied()),
            points: self.points.iter().filter_map(|point| point.summary.clone()).collect(),
        }
    }
}

/// The results of one point.
#[derive(Clone, Debug, Default)]
pub struct PointResult {
    /// The figures of the point; `None` when no run finished.
    pub summary: Option<PointSummary>,
    /// Each finished replication, for comparisons replication by replication.
    pub runs: Vec<Replication>,
    /// Distributions of sojourn times over all replications, if kept.
    pub cdfs: Vec<Cdf>,
    /// Distributions of the round trips of probes, by group, over all replications, if kept.
    pub rtt_cdfs: Vec<Cdf>,
    /// Series of the first replication, if kept.
    pub series: Vec<Series>,
}

impl PointResult {
    /// The part that a report draws, under a name and with a kind of queue.
    #[must_use]
    pub fn drawn(&self, label: String, kind: String) -> ReportPoint<'_> {
        ReportPoint { label, kind, cdfs: self.cdfs.clone(), rtt_cdfs: self.rtt_cdfs.clone(), series: &self.series }
    }

    /// Builds the results from one run of `point` that something else carried out, as its
    /// replication 0. `measured` is the length of its measured part.
    #[must_use]
    pub fn of_one_run(point: &Point, outcome: Outcome, measured: Duration) -> Self {
        let Finished { figures, series, times, .. } = Finished::of(point, outcome, measured, true);
        PointRuns { figures: vec![figures], replications: vec![0], times, series }.reduce(point)
    }
}

/// The data kept of one replication. A sweep's files keep the part of it that decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replication {
    /// The number of the replication, from zero.
    pub number: u32,
    /// Figures of its links.
    pub links: Vec<LinkFigures>,
    /// The experience of its groups.
    pub experience: Vec<GroupExperience>,
    /// Figures of its groups of flows.
    #[serde(skip)]
    pub groups: Vec<GroupFigures>,
    /// Figures of fairness between all flows, in the order of
    /// [`JAIN_METRICS`](crate::results::metrics::JAIN_METRICS).
    #[serde(skip)]
    pub jain: Vec<Option<f64>>,
    /// Data that crossed the first link and was delivered, per second, each byte counted once.
    pub goodput_bit_s: f64,
}

/// The data kept of one run until its point is reduced.
pub(crate) struct Finished {
    pub(crate) figures: RunFigures,
    pub(crate) series: Vec<Series>,
    pub(crate) packets: Vec<PacketEvent>,
    pub(crate) times: Distributions,
}

impl Finished {
    pub(crate) fn of(point: &Point, mut outcome: Outcome, duration: Duration, drawn: bool) -> Self {
        let figures = RunFigures::of(&outcome, duration, &point.plan.base_rtts());
        let (series, packets) = (std::mem::take(&mut outcome.series), std::mem::take(&mut outcome.packets));
        let times = if drawn { Distributions::of(outcome) } else { Distributions::default() };
        Self { figures, series, packets, times }
    }
}

/// Results of the point being collected.
#[derive(Default)]
pub(crate) struct PointRuns {
    pub(crate) figures: Vec<RunFigures>,
    pub(crate) replications: Vec<u32>,
    pub(crate) times: Distributions,
    pub(crate) series: Vec<Series>,
}

impl PointRuns {
    pub(crate) fn reduce(self, point: &Point) -> PointResult {
        let [cdfs, rtt_cdfs] = self.times.cdfs();
        PointResult {
            summary: PointSummary::of_point(point, &self.figures),
            runs: self.replications.into_iter().zip(self.figures).map(|run| Replication::of(point, run)).collect(),
            cdfs,
            rtt_cdfs,
            series: self.series,
        }
    }
}

impl Replication {
    fn of(point: &Point, (number, figures): (u32, RunFigures)) -> Self {
        let named: HashMap<&str, &Traffic> = point.plan.traffic.iter().map(|traffic| (traffic.name.as_str(), traffic)).collect();
        let crosses = |flow: &&FlowFigures| {
            let traffic = named.get(figures.groups[flow.group as usize].name.as_str());
            let part = traffic.and_then(|traffic| traffic.parts().nth((flow.index / traffic.flows.max(1)) as usize));
            part.is_some_and(|part| part.path.forward.contains(&Step { link: 0, heading: Direction::Down }))
        };
        let goodput_bit_s = figures.flows.iter().filter(crosses).filter_map(|flow| flow.goodput_bit_s).sum();
        let experience = GroupExperience::of(point, &figures);
        let RunFigures { links, groups, jain, .. } = figures;
        Self { number, links, experience, groups, jain, goodput_bit_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn goodput_is_that_of_the_first_link_in_its_direction() {
        let text = "goodqueue = 1\nwarmup = \"0 s\"\nduration = \"2 s\"\n[link.l]\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\n\
                    buffer = \"30 kB\"\nbuffer_up = \"30 kB\"\n\
                    [[traffic]]\nkind = \"bulk\"\n[[traffic]]\nkind = \"bulk\"\nname = \"up\"\ndirection = \"up\"\n\
                    [[traffic]]\nkind = \"voip\"\n";
        let results = Plan::parse("two", text, Path::new("")).expect("a scenario").run().expect("results");
        let run = &results.report.points[0].runs[0];
        assert!((1.5e6..2e6).contains(&run.goodput_bit_s), "both directions would be twice as much: {}", run.goodput_bit_s);
    }
}
