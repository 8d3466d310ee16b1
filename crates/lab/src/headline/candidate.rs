//! What is compared: points with their replications, and the figures that decide between them, in
//! their order.

use super::policy::Policy;
use super::words::{figure, percent, time};
use crate::experience::{Activity, Margin, advantage};
use crate::metrics::{Description, LINK_METRICS, LinkFigures};
use crate::runner::Replication;
use crate::statistics::Figure;

pub(super) const SOJOURN: &str = "sojourn_s.p95";
const SOJOURN_MEAN: &str = "sojourn_s.mean";
const UTILIZATION: &str = "utilization";
/// A link that no queue keeps this busy is not the bottleneck, so nothing is asked of it. Our
/// choice.
const BUSY: f64 = 0.5;

/// A queue with its finished replications: one point, or one combination of queues over several
/// settings.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    /// Its name.
    pub name: &'a str,
    /// The queue alone, of both directions where both are swept.
    pub queue: &'a str,
    /// The settings that are no choice of a queue.
    pub setting: &'a str,
    /// The queues it chooses, by the key that sets them.
    pub choices: &'a [(String, String)],
    /// Its finished replications, in their order.
    pub blocks: Vec<Block<'a>>,
}

/// One replication, in one setting or in each of several. Figures are means over these: all
/// settings weigh the same, and the replications remain independent samples.
#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    /// Number of the replication.
    pub number: u32,
    /// It in each setting.
    pub runs: Vec<&'a Replication>,
}

impl Block<'_> {
    /// Mean over the settings; `None` where one has none.
    fn mean(&self, of: impl Fn(&Replication) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.runs.iter().map(|run| of(run)).collect();
        values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
    }
}

impl<'a> Candidate<'a> {
    /// This queue over several settings: the replications that all of them have.
    pub fn over(points: &[&Self]) -> Option<Self> {
        let [first, rest @ ..] = points else { return None };
        let of = |one: &Self, number: u32| one.blocks.iter().find(|block| block.number == number).map(|block| block.runs.clone());
        let blocks = first.blocks.iter().filter_map(|block| {
            let others: Option<Vec<_>> = rest.iter().map(|one| of(one, block.number)).collect();
            let runs = block.runs.iter().copied().chain(others?.into_iter().flatten()).collect();
            Some(Block { number: block.number, runs })
        });
        Some(Self { name: first.queue, setting: "", blocks: blocks.collect(), ..(*first).clone() })
    }

    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Every run of it.
    pub fn runs(&self) -> impl Iterator<Item = &'a Replication> {
        self.blocks.iter().flat_map(|block| block.runs.iter().copied())
    }

    /// A figure of a link over the replications.
    pub fn link(&self, link: &str, metric: &str) -> Figure {
        Figure::of(self.blocks.iter().map(|block| block.mean(|run| of_link(run, link)?.value(metric))))
    }

    /// A figure that decides, over the replications.
    pub fn figure(&self, key: &Key<'_>) -> Figure {
        Figure::of(self.blocks.iter().map(|block| block.mean(|run| key.value(run))))
    }

    /// The goodput of a group.
    fn goodput(&self, group: &str) -> Option<f64> {
        let of = |run: &Replication| run.experience.iter().find(|one| one.group == group)?.goodput_bit_s;
        Figure::of(self.blocks.iter().map(|block| block.mean(of))).mean
    }

    /// Replications that both have.
    pub fn shared(&self, other: &Self) -> usize {
        self.blocks.iter().filter(|block| other.blocks.iter().any(|theirs| theirs.number == block.number)).count()
    }

    /// How much better `other` is than this one by `key`, paired by replication: both used the same
    /// random numbers, so their common spread cancels out.
    fn behind(&self, other: &Self, key: &Key<'_>) -> Figure {
        Figure::of(self.blocks.iter().filter_map(|block| {
            let theirs = other.blocks.iter().find(|theirs| theirs.number == block.number)?;
            let value = |block: &Block<'_>| block.mean(|run| key.value(run));
            Some(Some(advantage(key.about, value(theirs)?, value(block)?)))
        }))
    }

    /// Whether this one is worse than `best` by `key`, by more than its margin, with the interval
    /// of the paired differences; by the means alone where one replication gives no interval.
    pub fn is_worse(&self, best: &Self, key: &Key<'_>) -> bool {
        let (Some(best_mean), Some(_)) = (best.figure(key).mean, self.figure(key).mean) else {
            // Nothing arrived here, and something there.
            return best.figure(key).n > 0;
        };
        let behind = self.behind(best, key);
        behind.mean.is_some_and(|mean| mean - behind.ci95.unwrap_or(0.0) > key.margin.around(best_mean))
    }
}

fn of_link<'a>(run: &'a Replication, link: &str) -> Option<&'a LinkFigures> {
    run.links.iter().find(|known| known.name == link)
}

/// A figure that decides between queues.
#[derive(Clone, Debug)]
pub(super) struct Key<'a> {
    /// What it is.
    pub about: &'static Description,
    /// Differences up to this do not count.
    pub margin: Margin,
    /// The first value with which the activity is of no use.
    unusable: Option<f64>,
    source: Source<'a>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    /// A figure of all groups of an activity; the worst counts.
    Groups(Activity, usize),
    /// The time in the queue at these links, added up.
    Links(Vec<&'a str>),
}

impl<'a> Key<'a> {
    /// Those of the activities that occur, in their order.
    pub fn interactive(candidates: &[Candidate<'_>]) -> Vec<Self> {
        let groups = || candidates.iter().flat_map(Candidate::runs).flat_map(|run| &run.experience);
        let occurs = |activity: &Activity| groups().any(|group| group.activity == *activity);
        let keys = |activity: Activity| {
            activity.deciding().filter_map(move |(place, metric)| {
                Some(Self {
                    about: &metric.about,
                    margin: metric.decides?,
                    unusable: metric.unusable,
                    source: Source::Groups(activity, place),
                })
            })
        };
        Activity::ALL.into_iter().filter(occurs).flat_map(keys).collect()
    }

    /// The time that packets of all groups wait at these links.
    pub fn waiting(links: &[&'a str]) -> Self {
        let about = LINK_METRICS.iter().map(|metric| &metric.about).find(|about| about.name == SOJOURN);
        let about = about.expect("the list of figures has it, as a test checks");
        Self { about, margin: Margin::Absolute(0.0), unusable: None, source: Source::Links(links.to_vec()) }
    }

    /// Whose it is.
    pub fn activity(&self) -> Option<Activity> {
        match self.source {
            Source::Groups(activity, _) => Some(activity),
            Source::Links(_) => None,
        }
    }

    /// Its value in one run; of several groups the worst, `None` where one of them has none.
    fn value(&self, run: &Replication) -> Option<f64> {
        match &self.source {
            Source::Groups(activity, place) => {
                let groups = run.experience.iter().filter(|group| group.activity == *activity);
                let values: Option<Vec<f64>> = groups.map(|group| group.values[*place]).collect();
                values?.into_iter().min_by(|a, b| advantage(self.about, *a, *b).total_cmp(&0.0))
            }
            Source::Links(links) => {
                let waits: Option<Vec<f64>> = links.iter().map(|link| of_link(run, link)?.value(SOJOURN)).collect();
                Some(waits?.iter().sum())
            }
        }
    }

    /// The bound of what is of use, where `one` misses it.
    pub fn misses(&self, one: &Candidate<'_>) -> Option<f64> {
        let bound = self.unusable?;
        let is_usable = one.figure(self).mean.is_some_and(|mean| advantage(self.about, mean, bound) > 0.0);
        (!is_usable).then_some(bound)
    }

    /// The best of these by the means.
    pub fn best<'b, 'c>(&self, among: &[&'b Candidate<'c>]) -> Option<&'b Candidate<'c>> {
        let mean = |one: &Candidate<'_>| one.figure(self).mean;
        among.iter().copied().reduce(|best, one| match (mean(best), mean(one)) {
            (Some(held), Some(new)) if advantage(self.about, new, held) > 0.0 => one,
            (None, Some(_)) => one,
            _ => best,
        })
    }
}

/// Why a candidate does not satisfy the policy among others in the same setting, in words; `None`
/// when it does.
pub(super) fn refused(one: &Candidate<'_>, among: &[&Candidate<'_>], links: &[&str], policy: &Policy) -> Option<String> {
    let used = |one: &Candidate<'_>, link: &str| one.link(link, UTILIZATION).mean;
    for link in links {
        let best = among.iter().filter_map(|other| used(other, link)).fold(0.0, f64::max);
        let here = used(one, link).unwrap_or(0.0);
        let of_best = best >= BUSY && here < policy.of_best * best;
        if of_best || (best >= BUSY && policy.u_low.is_some_and(|low| here < low)) {
            let whose = if links.len() > 1 { format!("{link} ") } else { String::new() };
            return Some(format!("{whose}{} used", percent(here)));
        }
        if let (Some(most), Some(mean)) = (policy.target_max, one.link(link, SOJOURN_MEAN).mean)
            && mean > most.as_secs_f64()
        {
            return Some(format!("mean queueing delay {}", time(mean)));
        }
    }
    starved(one, among, policy)
}

fn starved(one: &Candidate<'_>, among: &[&Candidate<'_>], policy: &Policy) -> Option<String> {
    let groups = one.runs().next()?.experience.iter().map(|group| group.group.as_str());
    let bits = |bits: f64| {
        let metric = crate::metrics::FLOW_METRICS.first().map(|metric| &metric.about);
        metric.map_or_else(String::new, |about| figure(about, Figure { mean: Some(bits), ci95: None, n: 1 }))
    };
    groups
        .filter_map(|group| {
            let best = among.iter().filter_map(|other| other.goodput(group)).fold(0.0, f64::max);
            let here = one.goodput(group)?;
            (here < policy.starved * best).then(|| format!("{group} gets {} of {}", bits(here), bits(best)))
        })
        .next()
}
