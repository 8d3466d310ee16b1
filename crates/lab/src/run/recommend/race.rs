//! Candidates as the rule of `lab` sees them: a block is one corner with one seed, in which all
//! candidates use the same random numbers, and counts as a replication.

use crate::results::experience::GroupExperience;
use crate::results::statistics::Figure;
use crate::run::recommend::candidates::Candidate;
use crate::verdict::Deployment;
use crate::verdict::rule::{self, Key, LinkUse, Outcome, Role, Sample, Standing};

/// The number of blocks before which no candidate is dropped: fewer have no interval that counts.
const MIN_BLOCKS: usize = rule::MIN_REPLICATIONS as usize;

/// The results of one candidate in one block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Number of the corner.
    pub corner: usize,
    /// The experience of each group.
    pub groups: Vec<GroupExperience>,
    /// The line and the router's queue, toward the user and from the user.
    pub links: [LinkUse; 2],
}

/// A candidate with its blocks, for the rule.
#[must_use]
pub fn contender<'a>(candidate: &Candidate, blocks: &'a [Block]) -> rule::Candidate<'a> {
    let role = if *candidate == Candidate::NOTHING { Role::Nothing } else { Role::SetUp };
    let names = [candidate.down.to_string(), candidate.up.to_string()];
    rule::Candidate { role, deployment: Deployment::of(names.iter().map(String::as_str)), ..of(blocks) }
}

/// Blocks alone, for figures.
fn of(blocks: &[Block]) -> rule::Candidate<'_> {
    let numbered = (0..).zip(blocks);
    let samples = numbered.map(|(number, block)| Sample { number, groups: &block.groups, links: block.links.to_vec() });
    let settings = vec![samples.collect()];
    rule::Candidate { role: Role::SetUp, deployment: Deployment::of(std::iter::empty()), settings }
}

/// The mean of a figure over blocks, with the interval.
#[must_use]
pub fn figure(key: &Key, blocks: &[Block]) -> Figure {
    key.figure(&of(blocks))
}

/// The amount by which `blocks` are behind `best`, block by block: more is worse.
#[must_use]
pub fn behind(key: &Key, blocks: &[Block], best: &[Block]) -> Figure {
    key.behind(&of(blocks), &of(best))
}

/// The standing of `blocks` against `best`.
#[must_use]
pub fn standing(key: &Key, blocks: &[Block], best: &[Block]) -> Standing {
    if blocks.len() < MIN_BLOCKS { Standing::Open } else { key.standing(&of(blocks), &of(best)) }
}

/// Ranks candidates by their blocks; `None` without any.
#[must_use]
pub fn order(keys: &[Key], all: &[(&Candidate, &[Block])]) -> Option<Outcome> {
    let contenders: Vec<_> = all.iter().map(|(candidate, blocks)| contender(candidate, blocks)).collect();
    let mut outcome = rule::rank(keys, &contenders)?;
    if all.iter().all(|(_, blocks)| blocks.len() < MIN_BLOCKS) {
        let is_sure = |one: &usize| *one == outcome.best || outcome.as_good.contains(one);
        outcome.open = (0..all.len()).filter(|one| !is_sure(one)).collect();
    }
    Some(outcome)
}
