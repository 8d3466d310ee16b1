//! Candidates with what they gave.

use crate::results::statistics::Figure;
use crate::run::recommend::candidates::Candidate;
use crate::run::recommend::race::{self, Block};

/// A candidate and what it gave so far.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The candidate that was tried.
    pub candidate: Candidate,
    /// One entry for each corner and round, in the order in which they were run.
    pub blocks: Vec<Block>,
    /// The round after which it was significantly worse; `None` while it is not.
    pub dropped: Option<u32>,
}

impl Tried {
    /// A candidate that has not been run.
    #[must_use]
    pub const fn new(candidate: Candidate) -> Self {
        Self { candidate, blocks: Vec::new(), dropped: None }
    }

    /// Whether it ran in this setting in this round.
    #[must_use]
    pub fn has(&self, setting: usize, round: u32) -> bool {
        self.blocks.iter().any(|block| block.setting == setting && block.round == round)
    }

    /// Rounds that it has in each of these settings.
    #[must_use]
    pub fn rounds(&self, settings: &[usize]) -> u32 {
        let of = |setting: &usize| self.blocks.iter().filter(|block| block.setting == *setting).count() as u32;
        settings.iter().map(of).min().unwrap_or(0)
    }

    /// The blocks of these settings.
    #[must_use]
    pub fn within(&self, settings: &[usize]) -> Vec<&Block> {
        self.blocks.iter().filter(|block| settings.contains(&block.setting)).collect()
    }

    /// Utilization of the line toward the user (0) or from the user (1).
    #[must_use]
    pub fn utilization(&self, direction: usize) -> Figure {
        over_settings(&self.blocks, |block| block.links[direction].utilization)
    }

    /// The candidate as the rule sees it.
    #[must_use]
    pub fn contender(&self) -> crate::verdict::rule::Candidate<'_> {
        race::contender(&self.candidate, &self.blocks.iter().collect::<Vec<_>>())
    }
}

/// The mean over settings that have a value, with its interval.
pub fn over_settings(blocks: &[Block], of: impl Fn(&Block) -> Option<f64>) -> Figure {
    let settings = blocks.iter().map(|block| block.setting + 1).max().unwrap_or(0);
    let in_setting = |setting: usize| blocks.iter().filter(|block| block.setting == setting).filter_map(&of).collect();
    Figure::of_strata(&(0..settings).map(in_setting).collect::<Vec<_>>())
}
