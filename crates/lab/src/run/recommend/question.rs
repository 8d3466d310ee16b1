//! The question that a recommendation answers.

use crate::results::experience::GroupExperience;
use crate::run::recommend::access::Modem;
use crate::run::recommend::candidates::{Candidate, Choice, Hardware, L4S, marking_early, usual};
use crate::run::recommend::corners::Line;
use crate::scenario::mix::{self, Mix};
use crate::verdict::rule::Key;
use crate::verdict::{Policy, Unit};
use goodqueue_base::units::{Direction, Rate};

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
    /// Fastest that the router can shape; `None`: fast enough.
    pub cpu: Option<Rate>,
    /// The aim of the answer.
    pub want: Want,
}

/// The aim of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Want {
    /// The best for what people notice.
    #[default]
    People,
    /// The most data, at whatever delay.
    Throughput,
    /// Short queues for senders of L4S.
    L4s,
}

impl Want {
    /// The aims that can be asked for, with their names on the command line.
    pub const WORDS: [(&'static str, Self); 2] = [("throughput", Self::Throughput), ("l4s", Self::L4s)];
}

/// Rates up to this are shaped by one core of most routers that have the rate at all. Our choice.
const ONE_CORE: Rate = Rate::gbit(1);
/// The part of the budget for lines that are faster, whose packets take longer to simulate.
const FAST_PART: f64 = 0.5;

impl Question {
    /// Shares of the measured rates to shape to, the largest first. On a line that varies much they
    /// are those of the bad hours.
    pub(super) fn shares(&self) -> Vec<f64> {
        let usual = self.effort.shares();
        if !self.line.varies_much() {
            return usual.to_vec();
        }
        let least = 1.0 - self.line.varies;
        [1.0].iter().chain(usual).map(|share| share * least).collect()
    }

    /// Queues for both directions with their usual settings, the one that users reach for first
    /// at the head.
    fn queues(&self) -> Vec<[Choice; 2]> {
        let both = [Direction::Down, Direction::Up];
        match self.want {
            Want::People => self.usual_queues(),
            Want::L4s if self.hardware.has_l4s() => vec![[Choice::plain(L4S), Choice::plain(L4S)]],
            // FreeBSD's limiters have no threshold for marks.
            Want::L4s if matches!(self.hardware, Hardware::PfSense | Hardware::OpnSense) => self.usual_queues(),
            Want::L4s => vec![both.map(|heading| marking_early(&self.line, heading))],
            Want::Throughput => {
                // The modem's own buffer serves, unless it holds less than what is under way.
                let is_short = self.line.buffer.low < self.line.rtt.high;
                let deep = both.map(|heading| Choice::deep_buffer(self.line.rate(heading), self.line.rtt.high));
                if is_short { vec![deep] } else { Vec::new() }
            }
        }
    }

    fn usual_queues(&self) -> Vec<[Choice; 2]> {
        let kinds = self.by_cost(self.hardware.kinds()).into_iter();
        kinds.map(|kind| [Direction::Down, Direction::Up].map(|heading| usual(kind, &self.line, heading))).collect()
    }

    fn is_faster_than(&self, rate: Rate) -> bool {
        self.line.down.max(self.line.up) > rate
    }

    /// Whether a shaper for the line takes more than a core.
    pub(super) fn takes_cores(&self) -> bool {
        self.is_faster_than(ONE_CORE)
    }

    /// The packets that an answer may simulate.
    pub(super) fn budget(&self) -> f64 {
        self.effort.packets() * if self.takes_cores() { FAST_PART } else { 1.0 }
    }

    /// The kinds in their order; where the processor is short, cake, which takes more of it than
    /// fq-codel, comes second: a direction is faster than the router, or than what one core shapes.
    fn by_cost(&self, kinds: &[&'static str]) -> Vec<&'static str> {
        let is_short = self.is_faster_than(self.cpu.unwrap_or(ONE_CORE));
        let mut kinds = kinds.to_vec();
        if is_short && kinds.starts_with(&["cake", "fq-codel"]) {
            kinds.swap(0, 1);
        }
        kinds
    }

    /// The candidate as far as the router can shape.
    fn within_cpu(&self, candidate: Candidate) -> Candidate {
        let Some(most) = self.cpu else { return candidate };
        let rates = candidate.shaped_rates(&self.line);
        let [down, up] = rates.map(|rate| rate.is_some_and(|rate| rate <= most));
        candidate.only(|heading| if heading == Direction::Down { down } else { up })
    }

    /// The share at which kinds are compared, and from which the search begins: nine tenths, and
    /// one step more of the bad hours, which leave room already.
    pub(super) fn first_share(&self) -> f64 {
        if self.line.varies_much() { 0.95 * (1.0 - self.line.varies) } else { 0.9 }
    }

    /// The candidates at one share: every kind with its usual settings, the same in both directions
    /// unless one is left as it is.
    pub(super) fn candidates(&self, share: f64) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut add = |candidate: Candidate| {
            let candidate = self.within_cpu(candidate);
            if !all.contains(&candidate) && candidate != Candidate::NOTHING {
                all.push(candidate);
            }
        };
        for [down, up] in self.queues() {
            let both = Candidate { down, up, shaped: [Some(share); 2] };
            add(match self.line.access.modem {
                // The modem's PIE keeps the uplink short already.
                Modem::Pie => both.only(|heading| heading == Direction::Down),
                Modem::Fifo => both,
            });
        }
        all
    }

    /// Every candidate to begin with at every share, kind by kind, and the line as it is.
    #[cfg(test)]
    pub(super) fn all_candidates(&self) -> Vec<Candidate> {
        let mut all: Vec<(usize, Candidate)> =
            self.shares().into_iter().flat_map(|share| self.candidates(share).into_iter().enumerate()).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, candidate)| candidate).chain([Candidate::NOTHING]).collect()
    }

    /// Whether the router can set nothing up at all.
    pub(super) fn has_no_candidates(&self) -> bool {
        self.shares().into_iter().all(|share| self.candidates(share).is_empty())
    }

    /// The figures that decide: of throughput the goodput alone.
    pub(super) fn keys(&self, groups: &[GroupExperience]) -> Vec<Key> {
        let mut keys = Key::all(groups);
        if self.want == Want::Throughput && keys.iter().any(|key| !key.is_interactive()) {
            keys.retain(|key| !key.is_interactive());
        }
        keys
    }
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

    /// Packets of a run at the faster rate, and the longest run in seconds, where no people come
    /// and go.
    pub(super) const fn length(self) -> (u64, u64) {
        match self {
            Self::Quick => (60_000, 20),
            Self::Thorough => (250_000, 40),
        }
    }

    /// Simulated packets that an answer may take, about 30 seconds of one processor or four times
    /// as much. Counted in packets, so that every machine answers the same.
    pub(super) const fn packets(self) -> f64 {
        match self {
            Self::Quick => 50e6,
            Self::Thorough => 200e6,
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
