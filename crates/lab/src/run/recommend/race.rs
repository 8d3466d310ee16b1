//! Candidates as the rule of `lab` sees them: a setting is one mix at one corner, and a round is
//! one seed for each setting. All candidates have the same seeds.

use crate::results::experience::GroupExperience;
use crate::results::statistics::Figure;
use crate::run::recommend::candidates::Candidate;
use crate::verdict::Deployment;
use crate::verdict::rule::{self, Key, LinkUse, Role, Sample, Seeds, Standing};

/// The number of rounds before which no candidate is dropped: fewer have no interval that counts.
pub const MIN_ROUNDS: u32 = rule::MIN_REPLICATIONS;

/// The results of one candidate in one setting in one round.
#[derive(Clone, Debug)]
pub struct Block {
    /// Number of the setting.
    pub setting: usize,
    /// Number of the round.
    pub round: u32,
    /// The experience of each group.
    pub groups: Vec<GroupExperience>,
    /// The line and the router's queue, toward the user and from the user.
    pub links: [LinkUse; 2],
}

/// A candidate with its blocks, for the rule.
#[must_use]
pub fn contender<'a>(candidate: &Candidate, blocks: &[&'a Block]) -> rule::Candidate<'a> {
    let role = if *candidate == Candidate::NOTHING { Role::Nothing } else { Role::SetUp };
    rule::Candidate { role, ..of(blocks.iter().copied()) }
}

/// Blocks alone, for figures: settings with their rounds.
fn of<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> rule::Candidate<'a> {
    let mut settings: Vec<(usize, Vec<Sample<'a>>)> = Vec::new();
    for block in blocks {
        let sample = Sample { number: block.round, groups: &block.groups, links: block.links.to_vec() };
        match settings.iter_mut().find(|(setting, _)| *setting == block.setting) {
            Some((_, samples)) => samples.push(sample),
            None => settings.push((block.setting, vec![sample])),
        }
    }
    settings.sort_by_key(|(setting, _)| *setting);
    let settings = settings.into_iter().map(|(_, samples)| samples).collect();
    let deployment = Deployment::of(std::iter::empty());
    rule::Candidate { role: Role::SetUp, deployment, settings, seeds: Seeds::Own }
}

/// The mean of a figure over settings, with its interval.
#[must_use]
pub fn figure<'a>(key: &Key, blocks: impl IntoIterator<Item = &'a Block>) -> Figure {
    key.figure(&of(blocks))
}

/// The amount by which `blocks` are behind `best`, round by round: more is worse.
#[must_use]
pub fn behind<'a>(key: &Key, blocks: impl IntoIterator<Item = &'a Block>, best: impl IntoIterator<Item = &'a Block>) -> Figure {
    key.behind(&of(blocks), &of(best))
}

/// The standing of `blocks` against `best`.
#[must_use]
pub fn standing<'a>(
    key: &Key,
    blocks: impl IntoIterator<Item = &'a Block>,
    best: impl IntoIterator<Item = &'a Block>,
) -> Standing {
    let (one, best) = (of(blocks), of(best));
    if one.replications() < MIN_ROUNDS as usize { Standing::Open } else { key.standing(&one, &best) }
}
