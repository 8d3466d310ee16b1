//! The question that a recommendation answers.

use crate::results::experience::GroupExperience;
use crate::run::recommend::access::Modem;
use crate::run::recommend::candidates::{Candidate, Choice, Hardware, L4S, marking_early, usual, variants};
use crate::run::recommend::corners::Line;
use crate::scenario::mix::Mix;
use crate::verdict::rule::Key;
use crate::verdict::{Policy, Unit};
use goodqueue_base::units::{Direction, Rate};

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

impl Question {
    /// Shares of the measured rates to shape to, the largest first. On a line that varies much they
    /// are those of the bad hours.
    fn shares(&self) -> Vec<f64> {
        let usual = self.effort.shares();
        if !self.line.varies_much() {
            return usual.to_vec();
        }
        let least = 1.0 - self.line.varies;
        [1.0].iter().chain(usual).map(|share| share * least).collect()
    }

    /// The kinds of queues to try.
    fn kinds(&self) -> Vec<&'static str> {
        let l4s = (self.want == Want::L4s && self.hardware.has_l4s()).then_some(L4S);
        self.hardware.kinds().iter().copied().chain(l4s).collect()
    }

    /// Queues for both directions with their usual settings.
    fn queues(&self) -> Vec<[Choice; 2]> {
        let both = [Direction::Down, Direction::Up];
        if self.want != Want::Throughput {
            return self.kinds().into_iter().map(|kind| both.map(|heading| usual(kind, &self.line, heading))).collect();
        }
        // The modem's own buffer serves, unless it holds less than what is under way.
        let is_short = self.line.buffer.low < self.line.rtt.high;
        let deep = both.map(|heading| Choice::deep_buffer(self.line.rate(heading), self.line.rtt.high));
        if is_short { vec![deep] } else { Vec::new() }
    }

    /// The candidate as far as the router can shape.
    fn within_cpu(&self, candidate: Candidate) -> Candidate {
        let Some(most) = self.cpu else { return candidate };
        let rates = candidate.shaped_rates(&self.line);
        let [down, up] = rates.map(|rate| rate.is_some_and(|rate| rate <= most));
        candidate.only(|heading| if heading == Direction::Down { down } else { up })
    }

    /// The candidates to begin with: every kind with its usual settings at every share, the same in
    /// both directions unless the router is too slow for one, and the line as it is.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut add = |candidate: Candidate| {
            let candidate = self.within_cpu(candidate);
            if !all.contains(&candidate) && candidate != Candidate::NOTHING {
                all.push(candidate);
            }
        };
        for [down, up] in self.queues() {
            for share in self.shares() {
                let both = Candidate { down: down.clone(), up: up.clone(), shaped: [Some(share); 2] };
                add(both.clone());
                if self.line.access.modem == Modem::Pie {
                    add(both.only(|heading| heading == Direction::Down));
                }
            }
        }
        all.push(Candidate::NOTHING);
        all
    }

    /// Other settings and mixed directions around a candidate, of these kinds; some may be among
    /// the first ones.
    pub(super) fn variations(&self, best: &Candidate, kinds: &[&'static str]) -> Vec<Candidate> {
        if self.want == Want::Throughput {
            return Vec::new();
        }
        let settings = |heading| -> Vec<Choice> {
            let all = kinds.iter().flat_map(|kind| variants(kind, &self.line, heading));
            all.chain((self.want == Want::L4s).then(marking_early)).collect()
        };
        let ups = settings(Direction::Up);
        let pair = |down: Choice| {
            let ups = ups.iter().filter(move |up| self.hardware.mixes_kinds() || down.kind == up.kind);
            ups.map(|up| (down.clone(), up.clone())).collect::<Vec<_>>()
        };
        let mut all = Vec::new();
        for (down, up) in settings(Direction::Down).into_iter().flat_map(pair) {
            let [is_down, is_up] = best.shaped.map(|share| share.is_some());
            let both = Candidate { down, up, shaped: best.shaped };
            let candidate = both.only(|heading| if heading == Direction::Down { is_down } else { is_up });
            if !all.contains(&candidate) {
                all.push(candidate);
            }
        }
        all
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
