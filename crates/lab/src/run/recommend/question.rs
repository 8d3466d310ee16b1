//! The question that a recommendation answers.

use crate::run::recommend::candidates::Hardware;
use crate::run::recommend::corners::Line;
use crate::scenario::mix::{self, Mix};
use crate::verdict::{Policy, Unit};

/// A question that a recommendation answers.
#[derive(Clone, Debug)]
pub struct Question {
    /// The line as far as it is known.
    pub line: Line,
    /// The mixes of traffic that people put on the line; the worst counts.
    pub mixes: Vec<&'static Mix>,
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

impl Question {
    /// Whether the line is too slow for a call, which then decides nothing.
    #[must_use]
    pub fn carries_no_call(&self) -> bool {
        mix::carries_no_call(self.line.down, Some(self.line.up))
    }
}

/// The amount of work to put into an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Three shaped shares, few corners, runs of two minutes.
    Quick,
    /// Seven shaped shares, more corners and rounds, runs of three minutes.
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

    /// Packets of a run at the faster rate, and the longest run in seconds, where no people come and
    /// go.
    pub(super) const fn length(self) -> (u64, u64) {
        match self {
            Self::Quick => (60_000, 20),
            Self::Thorough => (250_000, 40),
        }
    }

    /// Simulated packets that an answer may take, about 60 seconds of one processor or four times as
    /// much. Counted in packets, so that every machine answers the same.
    pub(super) const fn packets(self) -> f64 {
        match self {
            Self::Quick => 100e6,
            Self::Thorough => 400e6,
        }
    }

    /// Rounds of seeds that the answer is searched in, at most.
    pub(crate) const fn rounds(self) -> u32 {
        match self {
            Self::Quick => 10,
            Self::Thorough => 20,
        }
    }

    /// Unknown quantities that are crossed with each other; further ones share their corners.
    pub(super) const fn crossed(self) -> usize {
        match self {
            Self::Quick => 2,
            Self::Thorough => 3,
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
