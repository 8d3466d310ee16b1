//! The question that a recommendation answers.

use crate::run::recommend::candidates::Hardware;
use crate::run::recommend::corners::Line;
use crate::scenario::mix::Mix;
use crate::verdict::{Policy, Unit};

/// A question that a recommendation answers.
#[derive(Clone, Debug)]
pub struct Question {
    /// The line as far as it is known.
    pub line: Line,
    /// The mix of traffic that people put on the line.
    pub mix: &'static Mix,
    /// The hardware of the router, which decides the queues that it can run.
    pub hardware: Hardware,
    /// The policy that a candidate must satisfy before it is ranked.
    pub policy: Policy,
    /// The unit of the latency under load.
    pub unit: Unit,
    /// The amount of work to put into the answer.
    pub effort: Effort,
    /// Root of all randomness.
    pub seed: u64,
    /// Runs at the same time, at least 1.
    pub jobs: usize,
}

/// The amount of work to put into an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Three shaped shares, two rounds of seeds at many corners, runs of up to 20 s.
    Quick,
    /// Seven shaped shares, up to eight rounds, runs of up to 40 s.
    Thorough,
}

impl Effort {
    /// Shares of the measured rate to shape to, the largest first: the rules of thumb say 85, 90 or
    /// 95 %.
    pub(super) const fn shares(self) -> &'static [f64] {
        match self {
            Self::Quick => &[0.95, 0.9, 0.85],
            Self::Thorough => &[0.975, 0.95, 0.925, 0.9, 0.85, 0.8, 0.75],
        }
    }

    /// Rounds of seeds; each adds one block per corner. Where there are few corners there are more
    /// rounds, so that intervals are of eight blocks at least.
    pub(crate) fn rounds(self, corners: usize) -> u32 {
        let blocks: u32 = match self {
            Self::Quick => 8,
            Self::Thorough => 64,
        };
        blocks.div_ceil(corners.max(1) as u32).clamp(2, 12)
    }

    /// Packets of a run at the faster rate, and the longest run in seconds.
    pub(super) const fn length(self) -> (u64, u64) {
        match self {
            Self::Quick => (60_000, 20),
            Self::Thorough => (250_000, 40),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A candidate's scenario cannot be simulated.
    #[error("{0}")]
    Scenario(String),
    /// The host of the check cannot run the scenario.
    #[error("{0}")]
    Host(String),
    /// A search that was stopped before the first round had ended.
    #[error("stopped before the first round had ended")]
    Stopped,
}
