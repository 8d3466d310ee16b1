//! The rule that ranks queues by what people notice.
//!
//! Each activity gets a [`Grade`] under each queue, in each setting. The grades of a queue are
//! sorted from worst to best, and the queue whose list is better at the first difference wins
//! (leximin). Queues with equal lists are compared by their figures in the order of [`Key::all`],
//! and what is equal in these by how widely it is deployed. A difference counts when it is
//! significant and larger than the margin of its figure.

use super::deployed::Deployment;
use crate::results::experience::{Activity, Enough, GroupExperience, Margin, advantage};
use crate::results::grade::{Bounds, Grade};
use crate::results::metrics::{Description, LINK_METRICS};
use crate::results::statistics::Figure;
use crate::scenario::plan::Direction;
use std::cmp::Ordering;

/// Intervals count from this number of replications on; of two, the interval is thirteen times as
/// wide as of five.
pub const MIN_REPLICATIONS: u32 = 3;
/// Differences of goodput up to this do not count. Our choice: less than the step between two
/// shaped rates.
const GOODPUT_MARGIN: Margin = Margin::Relative(0.05);
/// Differences of queueing delay up to this do not count. Our choice.
const WAIT_MARGIN: Margin = Margin::Time { part: 0.1, least_s: 0.005 };

/// A queue and what it gave.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The extent of the queue's deployment.
    pub deployment: Deployment,
    /// Whether it is what a line has with nothing set up.
    pub role: Role,
    /// The replications by setting, the settings in the same order for all candidates.
    pub settings: Vec<Vec<Sample<'a>>>,
    /// The seeds of these.
    pub seeds: Seeds,
}

/// The random numbers of replications with the same number in different settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// The same: what is random does not average out over settings, so that intervals are over
    /// replications.
    Shared,
    /// Others in each setting: each is a sample of its own.
    Own,
}

/// The consequence of choosing a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Something is set up.
    SetUp,
    /// The line stays as it is.
    Nothing,
}

/// One replication in one setting. In a setting equal numbers had the same random numbers.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// The number of the replication.
    pub number: u32,
    /// The experience of the groups.
    pub groups: &'a [GroupExperience],
    /// The reported directions of the main link.
    pub links: Vec<LinkUse>,
}

/// One direction of the main link in one replication.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkUse {
    /// Share of what it could carry that it carried.
    pub utilization: Option<f64>,
    /// Mean time in the queue, s.
    pub wait_mean_s: Option<f64>,
    /// Time in the queue that 95 % of the packets did not exceed, s.
    pub wait_p95_s: Option<f64>,
}

/// A figure that decides between queues.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Whose it is; bulk flows for goodput and queueing delay.
    pub activity: Activity,
    /// The description of the figure.
    pub about: &'static Description,
    /// Differences up to this do not count.
    pub margin: Margin,
    bounds: Option<Bounds>,
    enough: Option<Enough>,
    source: Source,
    /// Intervals are taken this many times as wide.
    caution: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A figure of the groups of the activity whose packets are, or are not, ECT(1); the worst
    /// group counts.
    Groups { place: usize, is_l4s: bool },
    /// The goodput of the bulk groups in this direction.
    Goodput(Direction),
    /// The queueing delay at the reported directions of the main link, added up.
    Wait,
}

impl Key {
    /// The keys of these groups in their order: what interactive groups get, then the goodput of
    /// downloads, or of uploads where there are no downloads; the queueing delay where no group is
    /// interactive.
    #[must_use]
    pub fn all(groups: &[GroupExperience]) -> Vec<Self> {
        let has =
            |activity: Activity, is_l4s: bool| groups.iter().any(|group| group.activity == activity && group.is_l4s == is_l4s);
        let interactive = |activity: Activity| {
            [false, true].into_iter().filter(move |is_l4s| has(activity, *is_l4s)).flat_map(move |is_l4s| {
                activity.deciding().filter_map(move |(place, metric)| {
                    let source = Source::Groups { place, is_l4s };
                    let (about, margin) = (&metric.about, metric.decides?);
                    Some(Self { activity, about, margin, bounds: metric.grades, enough: metric.enough, source, caution: 1.0 })
                })
            })
        };
        let mut keys: Vec<Self> = Activity::ALL.into_iter().flat_map(interactive).collect();
        let is_bulk_alone = keys.is_empty();
        let goodput = Activity::Bulk.metrics().iter().map(|metric| &metric.about).find(|about| about.name == "goodput_bit_s");
        let bulk = |heading| groups.iter().any(|group| group.activity == Activity::Bulk && group.heading == heading);
        let heading = [Direction::Down, Direction::Up].into_iter().find(|heading| bulk(*heading));
        keys.extend(heading.zip(goodput).map(|(heading, about)| {
            let source = Source::Goodput(heading);
            Self { activity: Activity::Bulk, about, margin: GOODPUT_MARGIN, bounds: None, enough: None, source, caution: 1.0 }
        }));
        if is_bulk_alone {
            keys.push(Self::wait());
        }
        keys
    }

    /// The time that 95 % of the packets wait at most, at the link where they wait longest.
    #[must_use]
    pub fn wait() -> Self {
        let about = LINK_METRICS.iter().map(|metric| &metric.about).find(|about| about.name == "sojourn_s.p95");
        let about = about.expect("the list of figures has it, as a test checks");
        Self {
            activity: Activity::Bulk,
            about,
            margin: WAIT_MARGIN,
            bounds: None,
            enough: None,
            source: Source::Wait,
            caution: 1.0,
        }
    }

    /// The key for searches, which compare many candidates many times: intervals are twice as wide.
    /// Our choice, for fewer than one false alarm in 40 comparisons of ten rounds.
    #[must_use]
    pub const fn cautious(self) -> Self {
        Self { caution: 2.0, ..self }
    }

    /// The key for one comparison.
    #[must_use]
    pub const fn once(self) -> Self {
        Self { caution: 1.0, ..self }
    }

    /// Whether its values have grades.
    #[must_use]
    pub const fn is_graded(&self) -> bool {
        self.bounds.is_some()
    }

    /// Whether people wait for what it measures.
    #[must_use]
    pub const fn is_interactive(&self) -> bool {
        matches!(self.source, Source::Groups { .. })
    }

    /// Whose figure it is, in sentences: `call`, `L4S ping`, `downloads`.
    #[must_use]
    pub fn who(&self) -> &'static str {
        match self.source {
            Source::Groups { is_l4s: true, .. } if self.activity == Activity::Ping => "L4S ping",
            Source::Groups { .. } => self.activity.name(),
            Source::Goodput(Direction::Down) => "downloads",
            Source::Goodput(Direction::Up) => "uploads",
            Source::Wait => "packets",
        }
    }

    /// The value in one replication, of several groups the worst; `None` where one of them has
    /// none.
    #[must_use]
    pub fn value(&self, sample: &Sample<'_>) -> Option<f64> {
        let groups = || sample.groups.iter().filter(|group| group.activity == self.activity);
        match self.source {
            Source::Groups { place, is_l4s } => {
                let own = groups().filter(|group| group.is_l4s == is_l4s);
                let values: Option<Vec<f64>> = own.map(|group| group.values[place]).collect();
                values?.into_iter().min_by(|a, b| advantage(self.about, *a, *b).total_cmp(&0.0))
            }
            Source::Goodput(heading) => {
                Some(groups().filter(|group| group.heading == heading).filter_map(|group| group.goodput_bit_s).sum())
            }
            Source::Wait => sample.links.iter().filter_map(|link| link.wait_p95_s).max_by(f64::total_cmp),
        }
    }

    /// The mean over the settings that have the activity, with its interval.
    #[must_use]
    pub fn figure(&self, one: &Candidate<'_>) -> Figure {
        one.seeds.figure(one.numbers().map(|number| self.values(one, number, |value, _| value)))
    }

    /// As [`Key::figure`], with values up to what is enough.
    fn limited(&self, one: &Candidate<'_>) -> Figure {
        let limited = |value: f64, sample: &Sample<'_>| self.up_to_enough(value, sample.groups);
        one.seeds.figure(one.numbers().map(|number| self.values(one, number, limited)))
    }

    /// The amount by which `one` is behind `other`, replication by replication: more is worse.
    #[must_use]
    pub fn behind(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> Figure {
        let values =
            |one: &Candidate<'_>, number: u32| self.values(one, number, |value, sample| self.up_to_enough(value, sample.groups));
        let in_all = |number: u32| {
            let (other, one) = (values(other, number)?, values(one, number)?);
            Some(other.into_iter().zip(one).map(|(other, one)| advantage(self.about, other, one)).collect())
        };
        one.seeds.figure(pairs(one, other).map(in_all))
    }

    /// The values of one replication in the settings that have the activity; `None` where one of
    /// them has no value, or none has the activity.
    fn values(&self, one: &Candidate<'_>, number: u32, of: impl Fn(f64, &Sample<'_>) -> f64) -> Option<Vec<f64>> {
        let mut values = Vec::with_capacity(one.settings.len());
        for samples in &one.settings {
            let sample = samples.iter().find(|sample| sample.number == number)?;
            if self.is_in(sample) {
                values.push(of(self.value(sample)?, sample));
            }
        }
        (!values.is_empty()).then_some(values)
    }

    /// Whether the replication has the activity.
    fn is_in(&self, sample: &Sample<'_>) -> bool {
        let mut groups = sample.groups.iter().filter(|group| group.activity == self.activity);
        match self.source {
            Source::Groups { is_l4s, .. } => groups.any(|group| group.is_l4s == is_l4s),
            Source::Goodput(heading) => groups.any(|group| group.heading == heading),
            Source::Wait => true,
        }
    }

    /// The value, or what is enough for these groups where it is better than that.
    fn up_to_enough(&self, value: f64, groups: &[GroupExperience]) -> f64 {
        let enough = self.enough.map(|enough| match enough {
            Enough::Good(bound) => bound,
            // Packets that are marked for L4S ask for less.
            Enough::AboveBase(_) if matches!(self.source, Source::Groups { is_l4s: true, .. }) => 0.0,
            Enough::AboveBase(seconds) => {
                let own = groups.iter().filter(|group| group.activity == self.activity);
                seconds + own.map(|group| group.base_rtt_s).fold(0.0, f64::max)
            }
        });
        enough.filter(|enough| advantage(self.about, value, *enough) > 0.0).unwrap_or(value)
    }

    /// The standing of `one` against `best`.
    #[must_use]
    pub fn standing(&self, one: &Candidate<'_>, best: &Candidate<'_>) -> Standing {
        let Some(best_mean) = self.figure(best).mean else { return Standing::AsGood };
        let behind = self.behind(one, best);
        // Nothing arrived here, and something there.
        let Some(mean) = behind.mean else { return Standing::Worse };
        let margin = self.margin.around(best_mean);
        let half = if behind.n < MIN_REPLICATIONS { 0.0 } else { self.caution * behind.ci95.unwrap_or(f64::INFINITY) };
        match () {
            () if mean - half > margin => Standing::Worse,
            () if mean + half > margin => Standing::Open,
            () => Standing::AsGood,
        }
    }

    /// Whether choosing `one` instead of `other` has a price that must be said: it is significantly
    /// worse, and by more than the margin on average.
    #[must_use]
    pub fn costs(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        let behind = self.behind(one, other);
        let is_sure = |mean: f64| behind.n < MIN_REPLICATIONS || mean > behind.ci95.unwrap_or(f64::INFINITY);
        self.is_behind(one, other) && behind.mean.is_none_or(is_sure)
    }

    /// Whether `one` is behind by more than the margin on average.
    #[must_use]
    pub fn is_behind(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        match (self.behind(one, other).mean, self.figure(other).mean) {
            (Some(mean), Some(best)) => mean > self.margin.around(best),
            (mean, best) => mean.is_none() && best.is_some(),
        }
    }

    /// The grade of the mean; distance that no queue can shorten does not count.
    #[must_use]
    pub fn own_grade(&self, one: &Candidate<'_>) -> Option<Grade> {
        let bounds = self.bounds?;
        let Some(mean) = self.figure(one).mean else { return Some(Grade::Unusable) };
        Some(bounds.of_value(self.about, mean, self.base_rtt_s(one).unwrap_or(0.0)))
    }

    /// The base round-trip time of the groups.
    fn base_rtt_s(&self, one: &Candidate<'_>) -> Option<f64> {
        let groups = one.settings.iter().flatten().flat_map(|sample| sample.groups);
        let own = groups.filter(|group| group.activity == self.activity).map(|group| group.base_rtt_s);
        own.reduce(f64::max)
    }
}

/// The standing of one queue against a better one by one figure; the further behind, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Not worse by more than the margin, with 95 % confidence.
    AsGood,
    /// Perhaps worse by more than the margin.
    Open,
    /// Worse by more than the margin, with 95 % confidence.
    Worse,
}

impl Seeds {
    /// A figure from the values of each replication in all settings; replications without are left
    /// out.
    pub(super) fn figure(self, replications: impl Iterator<Item = Option<Vec<f64>>>) -> Figure {
        match self {
            Self::Shared => {
                let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
                Figure::of(replications.map(|values| values.map(mean)))
            }
            Self::Own => {
                let mut settings: Vec<Vec<f64>> = Vec::new();
                for values in replications.flatten() {
                    settings.resize_with(values.len().max(settings.len()), Vec::new);
                    settings.iter_mut().zip(values).for_each(|(held, value)| held.push(value));
                }
                Figure::of_strata(&settings)
            }
        }
    }
}

impl<'a> Candidate<'a> {
    /// Time in the queue that 95 % of the packets of one of the links did not exceed.
    #[must_use]
    pub fn wait_at(&self, link: usize) -> Figure {
        Figure::of(self.settings.iter().flatten().map(|sample| sample.links.get(link)?.wait_p95_s))
    }

    /// Replications in the setting that has the fewest.
    #[must_use]
    pub fn replications(&self) -> usize {
        self.settings.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// A figure of its samples: the mean over settings, with its interval.
    #[must_use]
    pub fn figure(&self, of: impl Fn(&Sample<'_>) -> Option<f64>) -> Figure {
        self.seeds.figure(self.numbers().map(|number| self.values(number, &of).into_iter().collect()))
    }

    /// Numbers of the replications.
    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.settings.first().into_iter().flatten().map(|sample| sample.number)
    }

    /// The values of one replication in each setting.
    pub(super) fn values(&self, number: u32, of: impl Fn(&Sample<'_>) -> Option<f64>) -> Vec<Option<f64>> {
        let one = |samples: &Vec<Sample<'_>>| of(samples.iter().find(|sample| sample.number == number)?);
        self.settings.iter().map(one).collect()
    }

    /// The queue in one setting alone.
    pub(super) fn in_setting(&self, setting: usize) -> Self {
        Self { settings: vec![self.settings[setting].clone()], ..*self }
    }
}

/// Numbers of the replications that two candidates share.
pub(super) fn pairs<'b>(one: &'b Candidate<'_>, other: &'b Candidate<'_>) -> impl Iterator<Item = u32> + 'b {
    let has = |candidate: &Candidate<'_>, number: u32| {
        candidate.settings.iter().all(|samples| samples.iter().any(|sample| sample.number == number))
    };
    one.numbers().filter(move |number| has(one, *number) && has(other, *number))
}

/// The outcome of a comparison; queues are places in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The queue that is named.
    pub best: usize,
    /// Those that do as well.
    pub as_good: Vec<usize>,
    /// Those of which the runs do not tell whether they are worse.
    pub open: Vec<usize>,
    /// The grade of each activity for each queue, in the order of the keys, the worst over
    /// settings.
    pub grades: Vec<Vec<(&'static str, Grade)>>,
}

impl Outcome {
    /// Whether this queue is named, does as well, or may do as well.
    #[must_use]
    pub fn keeps(&self, place: usize) -> bool {
        place == self.best || self.as_good.contains(&place) || self.open.contains(&place)
    }
}

/// Ranks queues. Returns `None` without any.
#[must_use]
pub fn rank(keys: &[Key], all: &[Candidate<'_>]) -> Option<Outcome> {
    let by_setting = by_setting(keys, all);
    let lists = lists(&by_setting, all.len());
    let top = lists.iter().min()?;
    let mut left: Vec<usize> = (0..all.len()).filter(|one| lists[*one] == *top).collect();
    // Those that may be worse by some figure: they stay, but rule nobody out.
    let mut doubtful: Vec<usize> = Vec::new();
    for key in keys {
        let sure = || left.iter().copied().filter(|one| !doubtful.contains(one));
        let first = best_of(key, all, &sure().collect::<Vec<_>>());
        let standing = |one: usize| {
            let others = first.iter().filter(|best| **best != one);
            others.map(|best| key.standing(&all[one], &all[*best])).max().unwrap_or(Standing::AsGood)
        };
        let standings: Vec<(usize, Standing)> = left.iter().map(|one| (*one, standing(*one))).collect();
        left = standings.iter().filter(|(_, how)| *how != Standing::Worse).map(|(one, _)| *one).collect();
        doubtful.extend(standings.iter().filter(|(_, how)| *how == Standing::Open).map(|(one, _)| *one));
    }
    let interactive = || keys.iter().filter(|key| key.is_interactive());
    let is_behind = |a: usize, b: usize| interactive().any(|key| key.standing(&all[a], &all[b]) == Standing::Worse);
    let is_surpassed = |one: &usize| left.iter().any(|other| is_behind(*one, *other) && !is_behind(*other, *one));
    // Leaving a line as it is must be shown to be as good; a queue only not to be worse.
    let is_eligible = |one: &usize| (all[*one].role == Role::SetUp || !doubtful.contains(one)) && !is_surpassed(one);
    let of_line = |enough: &Enough| matches!(enough, Enough::AboveBase(_));
    let unlimited = || keys.iter().map(|key| Key { enough: key.enough.filter(of_line), ..*key });
    let is_worse_than = |one: usize, other: usize| unlimited().any(|key| key.standing(&all[one], &all[other]) == Standing::Worse);
    let is_nothing = |one: &usize| {
        all[*one].role == Role::Nothing && is_eligible(one) && !left.iter().any(|other| is_worse_than(*one, *other))
    };
    let named = left.iter().copied().find(is_nothing);
    let wider = |a: &usize, b: &usize| all[*a].deployment.cmp(&all[*b].deployment).then_with(|| nearer(keys, &all[*a], &all[*b]));
    let named = named.or_else(|| left.iter().copied().filter(is_eligible).min_by(wider));
    let best = named.or_else(|| left.first().copied())?;
    let does_as_well = |one: &usize| unlimited().all(|key| key.standing(&all[*one], &all[best]) == Standing::AsGood);
    let is_worse = |one: &usize| keys.iter().any(|key| key.standing(&all[*one], &all[best]) == Standing::Worse);
    let (as_good, open) = left.into_iter().filter(|one| *one != best && !is_worse(one)).partition(does_as_well);
    let worst = |one: usize| {
        let mut grades = by_setting.first().map_or_else(Vec::new, |grades| grades[one].clone());
        for other in by_setting.iter().skip(1) {
            grades.iter_mut().zip(&other[one]).for_each(|(held, here)| held.1 = held.1.max(here.1));
        }
        grades
    };
    Some(Outcome { best, as_good, open, grades: (0..all.len()).map(worst).collect() })
}

/// Whether `one` has better grades than `other` over all settings, compared from the worst on.
#[must_use]
pub fn has_better_grades(keys: &[Key], one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    let lists = lists(&by_setting(keys, &[one.clone(), other.clone()]), 2);
    lists[0] < lists[1]
}

/// As [`has_better_grades`], by the means over settings.
#[must_use]
pub fn has_better_mean_grades(keys: &[Key], one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    let lists = lists(&[grades(keys, &[one.clone(), other.clone()])], 2);
    lists[0] < lists[1]
}

/// The grades in each setting, there of each queue.
fn by_setting(keys: &[Key], all: &[Candidate<'_>]) -> Vec<Vec<Vec<(&'static str, Grade)>>> {
    let settings = all.first().map_or(0, |one| one.settings.len());
    (0..settings).map(|setting| grades(keys, &all.iter().map(|one| one.in_setting(setting)).collect::<Vec<_>>())).collect()
}

/// All grades of each queue, the worst first.
fn lists(by_setting: &[Vec<Vec<(&'static str, Grade)>>], queues: usize) -> Vec<Vec<Grade>> {
    let list = |one: usize| {
        let mut list: Vec<Grade> = by_setting.iter().flat_map(|grades| grades[one].iter().map(|(_, grade)| *grade)).collect();
        list.sort_by(|a, b| b.cmp(a));
        list
    };
    (0..queues).map(list).collect()
}

/// Orders equally deployed queues by their means, so that the order of the list decides nothing.
fn nearer(keys: &[Key], a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    let one = |key: &Key| {
        let (a, b) = (key.figure(a).mean?, key.figure(b).mean?);
        Some(0.0_f64.total_cmp(&advantage(key.about, a, b)))
    };
    keys.iter().filter_map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Those of `among` with the best mean.
fn best_of(key: &Key, all: &[Candidate<'_>], among: &[usize]) -> Vec<usize> {
    let means: Vec<(usize, f64)> = among.iter().filter_map(|one| Some((*one, key.limited(&all[*one]).mean?))).collect();
    let Some(best) = means.iter().map(|(_, mean)| *mean).reduce(|a, b| if advantage(key.about, b, a) > 0.0 { b } else { a })
    else {
        return Vec::new();
    };
    means.into_iter().filter(|(_, mean)| *mean == best).map(|(one, _)| one).collect()
}

/// The grade of each activity under each queue by the means over settings: of its figures the
/// worst.
pub(super) fn grades(keys: &[Key], all: &[Candidate<'_>]) -> Vec<Vec<(&'static str, Grade)>> {
    let mut grades: Vec<Vec<(&'static str, Grade)>> = vec![Vec::new(); all.len()];
    for key in keys {
        // A figure that no queue has a value of says nothing.
        if key.bounds.is_none() || all.iter().all(|one| key.figure(one).mean.is_none()) {
            continue;
        }
        for (held, grade) in grades.iter_mut().zip(promoted(key, all)) {
            match held.last_mut().filter(|(who, _)| *who == key.who()) {
                Some(last) => last.1 = last.1.max(grade),
                None => held.push((key.who(), grade)),
            }
        }
    }
    grades
}

/// Grades by one figure. From the best grade down, a queue takes the better grade if it is not
/// significantly worse than the worst queue that holds that grade by its own mean.
fn promoted(key: &Key, all: &[Candidate<'_>]) -> Vec<Grade> {
    let own: Vec<Grade> = all.iter().map(|one| key.own_grade(one).unwrap_or(Grade::Unusable)).collect();
    let worst_of = |grade: Grade| {
        let holders = (0..all.len()).filter(|one| own[*one] == grade);
        let means = holders.filter_map(|one| Some((one, key.figure(&all[one]).mean?)));
        means.reduce(|a, b| if advantage(key.about, a.1, b.1) > 0.0 { b } else { a }).map(|(one, _)| one)
    };
    let worst: Vec<(Grade, usize)> = Grade::ALL.into_iter().filter_map(|grade| Some((grade, worst_of(grade)?))).collect();
    let grade_of = |one: usize| {
        let reach = |(_, worst): &&(Grade, usize)| key.standing(&all[one], &all[*worst]) != Standing::Worse;
        let better = worst.iter().filter(|(grade, _)| *grade < own[one]).find(reach);
        better.map_or(own[one], |(grade, _)| *grade)
    };
    (0..all.len()).map(grade_of).collect()
}
