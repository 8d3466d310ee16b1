//! Comparing candidates over blocks: a block is one corner with one seed, in which all candidates
//! use the same random numbers.

use goodqueue_lab::experience::{Activity, ExperienceMetric, GroupExperience, Margin, advantage};
use goodqueue_lab::metrics::Description;
use goodqueue_lab::statistics::Figure;

/// What one candidate gave in one block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Number of the corner.
    pub corner: usize,
    /// What each group got.
    pub groups: Vec<GroupExperience>,
    /// Utilization of the line, toward the user and from the user.
    pub utilization: [Option<f64>; 2],
    /// Mean time in the router's queue, toward the user and from the user.
    pub waited_s: [Option<f64>; 2],
}

impl Block {
    /// Goodput of all bulk groups together.
    #[must_use]
    pub fn bulk_bit_s(&self) -> f64 {
        let bulk = self.groups.iter().filter(|group| group.activity == Activity::Bulk);
        bulk.filter_map(|group| group.goodput_bit_s).sum()
    }
}

/// A figure by which candidates are compared, in the order of their weight.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Whose it is.
    pub activity: Activity,
    /// What it is.
    pub about: &'static Description,
    /// Differences up to this do not count.
    pub margin: Margin,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// A figure of all groups of the activity; the worst counts.
    Worst(usize),
    /// The goodput of all bulk groups.
    Bulk,
}

/// More goodput counts only from here on. Our choice.
const GOODPUT_MARGIN: Margin = Margin::Relative(0.02);

impl Key {
    /// The keys of the groups of a block: what interactive groups get in the order of
    /// [`Activity::ALL`], then the goodput of bulk flows.
    #[must_use]
    pub fn all(groups: &[GroupExperience]) -> Vec<Self> {
        let occurs = |activity: &Activity| groups.iter().any(|group| group.activity == *activity);
        let of = |activity: Activity| {
            activity.deciding().filter_map(move |(place, metric): (usize, &'static ExperienceMetric)| {
                Some(Self { activity, about: &metric.about, margin: metric.decides?, source: Source::Worst(place) })
            })
        };
        let goodput = Activity::Bulk.metrics().iter().map(|metric| &metric.about).find(|about| about.name == "goodput_bit_s");
        let bulk = goodput.filter(|_| occurs(&Activity::Bulk)).map(|about| Self {
            activity: Activity::Bulk,
            about,
            margin: GOODPUT_MARGIN,
            source: Source::Bulk,
        });
        Activity::ALL.into_iter().filter(occurs).flat_map(of).chain(bulk).collect()
    }

    /// Its value in a block; `None` where one of the groups has none.
    #[must_use]
    pub fn value(&self, block: &Block) -> Option<f64> {
        match self.source {
            Source::Bulk => Some(block.bulk_bit_s()),
            Source::Worst(place) => {
                let groups = block.groups.iter().filter(|group| group.activity == self.activity);
                let values: Option<Vec<f64>> = groups.map(|group| group.values[place]).collect();
                values?.into_iter().min_by(|a, b| advantage(self.about, *a, *b).total_cmp(&0.0))
            }
        }
    }

    /// Its mean over blocks, with the interval.
    #[must_use]
    pub fn figure(&self, blocks: &[Block]) -> Figure {
        Figure::of(blocks.iter().map(|block| self.value(block)))
    }

    /// How far `blocks` are behind `best`, block by block, in the direction in which more is worse.
    #[must_use]
    pub fn behind(&self, blocks: &[Block], best: &[Block]) -> Figure {
        let pair = |(own, theirs): (&Block, &Block)| Some(advantage(self.about, self.value(theirs)?, self.value(own)?));
        Figure::of(blocks.iter().zip(best).map(pair))
    }

    /// How `blocks` stand to `best`.
    #[must_use]
    pub fn standing(&self, blocks: &[Block], best: &[Block]) -> Standing {
        let (own, theirs) = (self.figure(blocks), self.figure(best));
        let Some(best_mean) = theirs.mean else { return Standing::AsGood };
        if own.n < theirs.n {
            // Nothing arrived here, and something there.
            return Standing::Worse;
        }
        let (behind, margin) = (self.behind(blocks, best), self.margin.around(best_mean));
        match (behind.mean, behind.ci95) {
            (Some(mean), Some(half)) if mean - half > margin => Standing::Worse,
            (Some(mean), _) if mean > margin => Standing::Open,
            _ => Standing::AsGood,
        }
    }
}

/// How one candidate stands to a better one by one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Worse by more than the margin, with 95 % confidence.
    Worse,
    /// Worse by more than the margin, but the interval includes no difference.
    Open,
    /// Not worse by more than the margin.
    AsGood,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The best, as a place in the list.
    pub best: usize,
    /// Those that are as good for everybody on the line.
    pub as_good: Vec<usize>,
    /// Those that are worse by the means, but not significantly.
    pub open: Vec<usize>,
}

/// Ranks candidates by their blocks, key by key: those significantly worse than the best of a key
/// are out, those that seem worse without significance stay open, and only the others are compared
/// by the next key. What is left is as good for everybody; the first of it in the list is named,
/// since the list has the most widely deployed first.
///
/// Returns `None` without candidates.
#[must_use]
pub fn rank(keys: &[Key], all: &[&[Block]]) -> Option<Order> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for key in keys {
        let best = left.iter().copied().reduce(|best, one| {
            let (held, new) = (key.figure(all[best]).mean, key.figure(all[one]).mean);
            match (held, new) {
                (Some(held), Some(new)) if advantage(key.about, new, held) > 0.0 => one,
                (None, Some(_)) => one,
                _ => best,
            }
        })?;
        let standing = |one: usize| if one == best { Standing::AsGood } else { key.standing(all[one], all[best]) };
        open.extend(left.iter().filter(|one| standing(**one) == Standing::Open));
        left.retain(|one| standing(*one) == Standing::AsGood);
    }
    let (best, as_good) = left.split_first()?;
    open.sort_unstable();
    Some(Order { best: *best, as_good: as_good.to_vec(), open })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of one call with these opinion scores, and of bulk flows with these rates.
    fn blocks(figures: &[(f64, f64)]) -> Vec<Block> {
        let block = |(mos, bulk): &(f64, f64)| {
            let place = Activity::Call.deciding().next().expect("a call decides").0;
            let mut values = vec![None; Activity::Call.metrics().len()];
            values[place] = Some(*mos);
            let call = GroupExperience { group: "voip".into(), activity: Activity::Call, values, goodput_bit_s: Some(64e3) };
            let values = vec![None; Activity::Bulk.metrics().len()];
            let bulk = GroupExperience { group: "bulk".into(), activity: Activity::Bulk, values, goodput_bit_s: Some(*bulk) };
            Block { corner: 0, groups: vec![call, bulk], utilization: [Some(1.0); 2], waited_s: [Some(0.0); 2] }
        };
        figures.iter().map(block).collect()
    }

    fn order(all: &[Vec<Block>]) -> Order {
        let lists: Vec<&[Block]> = all.iter().map(Vec::as_slice).collect();
        rank(&Key::all(&all[0][0].groups), &lists).expect("candidates")
    }

    #[test]
    fn a_call_decides_before_goodput_and_goodput_among_equals() {
        let good = blocks(&[(4.3, 9.0e6), (4.31, 9.1e6), (4.3, 9.0e6)]);
        let faster = blocks(&[(4.28, 9.6e6), (4.29, 9.5e6), (4.28, 9.6e6)]);
        let ruined = blocks(&[(3.1, 9.9e6), (3.0, 9.9e6), (3.2, 9.9e6)]);
        // The margin of an opinion score is a tenth, so the second is as good for the call and
        // faster.
        assert_eq!(order(&[good, faster, ruined]), Order { best: 1, as_good: vec![], open: vec![] });
    }

    #[test]
    fn what_the_intervals_do_not_tell_stays_open() {
        let steady = blocks(&[(4.3, 9.0e6), (4.3, 9.0e6), (4.3, 9.0e6)]);
        let wild = blocks(&[(4.3, 9.0e6), (3.2, 9.0e6), (4.3, 9.0e6)]);
        assert_eq!(order(&[steady.clone(), wild.clone()]), Order { best: 0, as_good: vec![], open: vec![1] });
        assert_eq!(order(&[wild, steady.clone(), steady]), Order { best: 1, as_good: vec![2], open: vec![0] });
    }

    #[test]
    fn goodput_does_not_decide_while_the_call_is_open() {
        let steady = blocks(&[(4.3, 9.0e6), (4.3, 9.0e6), (4.3, 9.0e6)]);
        let wild = blocks(&[(4.3, 9.9e6), (3.2, 9.9e6), (4.3, 9.9e6)]);
        assert_eq!(order(&[steady, wild]), Order { best: 0, as_good: vec![], open: vec![1] });
    }

    #[test]
    fn one_without_the_figure_is_worse_than_one_that_has_it() {
        let some = blocks(&[(4.3, 9.0e6), (4.3, 9.0e6)]);
        let mut none = some.clone();
        none.iter_mut().for_each(|block| block.groups[0].values.fill(None));
        assert_eq!(order(&[none, some]), Order { best: 1, as_good: vec![], open: vec![] });
    }
}
