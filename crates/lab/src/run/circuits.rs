//! Many circuits behind shared sites: in what share of circuits and hours calls, pages and videos
//! are poor, and under which queue less. A sample of the circuits is simulated in packets, each
//! with the rate that all others leave it, which flow as fluid.

pub mod answer;
pub mod demand;
pub mod fluid;
pub mod network;
mod plan;

pub use answer::{Answer, Share};
pub use network::{Circuit, Network, Plan, Site, Ways};

use crate::results::error::RunFailure;
use crate::results::record::NoRecorder;
use crate::run::runner::{self, RunOptions, RunReport};
use crate::scenario::mix::Mix;
use crate::scenario::plan::PlanError;
use goodqueue_base::units::{Duration, Rate};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The word for it.
    pub name: &'static str,
    /// Hours of a day.
    pub hours: f64,
    /// Traffic as a part of that of the busy hour.
    pub load: f64,
}

/// The day: four busy hours in the evening, as speed tests and regulators have them; the other
/// loads are means of three measured profiles of fixed lines, which docs/circuits.md lists.
pub const DAY: [Level; 3] = [
    Level { name: "evening", hours: 4.0, load: 1.0 },
    Level { name: "day", hours: 12.0, load: 0.7 },
    Level { name: "night", hours: 8.0, load: 0.35 },
];

/// Mean download of a circuit in the busy hour when none is given, with which that of [`DAY`] is
/// 1.9 Mbit/s (OpenVault, second quarter of 2025: 615 GB a month, 1.87 Mbit/s).
pub const BUSY_HOUR: Rate = Rate::mbit(3);

/// Plans beyond so many are taken for the nearest of the commonest.
pub const MAX_PLANS: usize = 12;

/// A question about circuits.
#[derive(Clone, Debug)]
pub struct Question {
    /// The circuits and their sites.
    pub network: Network,
    /// Activities of a household in use.
    pub mix: &'static Mix,
    /// Queues to compare, as on the command line.
    pub queues: Vec<String>,
    /// Round-trip time without queueing.
    pub rtt: Duration,
    /// Buffer of each circuit, as time at the rate of its plan.
    pub buffer: Duration,
    /// Mean download of a circuit in the busy hour.
    pub busy_hour: Rate,
    /// Circuits that are simulated in packets, about.
    pub samples: u32,
    /// The circuits that are asked about.
    pub asked: Asked,
    /// Root of all randomness.
    pub seed: u64,
    /// Runs at the same time.
    pub jobs: usize,
}

/// The circuits that a question is about; all others only make traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Asked {
    /// All.
    #[default]
    All,
    /// Those at these places.
    These(BTreeSet<usize>),
    /// Those behind a site, in the evening, while its rate changes.
    Behind(Played),
}

/// The rate of a site over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The site.
    pub site: usize,
    /// Its rates from times on, as steps of seconds and bit/s; the first is at 0.
    pub rates: Ways<Vec<(f64, f64)>>,
    /// The time that they cover, in seconds; parts of it are played.
    pub seconds: f64,
}

impl Question {
    /// The parts of the day that are asked about.
    pub(crate) fn day(&self) -> &'static [Level] {
        if matches!(self.asked, Asked::Behind(_)) { &DAY[..1] } else { &DAY }
    }

    /// Whether it is about a circuit.
    pub(crate) fn is_about(&self, circuit: usize) -> bool {
        match &self.asked {
            Asked::All => true,
            Asked::These(places) => places.contains(&circuit),
            Asked::Behind(played) => self.network.path(self.network.circuits[circuit].site).any(|site| site == played.site),
        }
    }
}

/// A question that has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The traffic has no counterpart as fluid.
    #[error("{0}")]
    Traffic(#[from] demand::NoFluid),
    /// A queue is wrong.
    #[error("{0}")]
    Queue(#[from] crate::scenario::compare::ComparisonError),
    /// A scenario of a circuit is wrong.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// A run failed.
    #[error("{0}")]
    Run(RunFailure),
    /// The runs were stopped before all had finished.
    #[error("interrupted before there was an answer")]
    Stopped,
}

/// Answers a question. `progress` receives the finished part, in [0, 1].
///
/// # Errors
/// When a queue or the traffic is refused, a run fails, or `stop` is set.
pub fn answer(question: &Question, stop: &AtomicBool, progress: &mut dyn FnMut(f64)) -> Result<Answer, Refused> {
    let mut question = question.clone();
    let merged = question.network.merge_plans(MAX_PLANS);
    let days = plan::Days::new(&question, stop)?;
    progress(0.1);
    let cases = days.cases(&question)?;
    let points = plan::points(&question, &cases)?;
    let options = RunOptions::unrecorded(question.jobs, 1);
    let report: RunReport = runner::run(&points, &options, stop, &mut |part| progress(0.1 + 0.9 * part), &mut NoRecorder);
    if let Some(failure) = report.failures.first() {
        return Err(Refused::Run(failure.clone()));
    }
    if !report.complete || stop.load(Ordering::Relaxed) {
        return Err(Refused::Stopped);
    }
    let runs = report.points.into_iter().map(|mut point| point.runs.remove(0).experience).collect();
    Ok(answer::of(&question, &days, &cases, runs, merged))
}

#[cfg(test)]
mod tests;
