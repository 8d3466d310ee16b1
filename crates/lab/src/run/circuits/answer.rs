//! The answer: in what share of circuits and hours an activity is poor.

use super::plan::{Case, Days, Stratum};
use super::{Level, Question};
use crate::results::experience::{Activity, GroupExperience};
use crate::results::grade::Grade;
use crate::results::statistics::mean_and_interval;
use crate::scenario::plan::Direction;
use crate::verdict::words::list;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The answer to a question about circuits.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Advice in sentences.
    pub text: String,
    /// The queues under which activities are poor least often, as far as the runs can tell.
    pub best: Vec<String>,
    /// Circuits.
    pub circuits: usize,
    /// Those whose plan was taken for a commoner one.
    pub merged_plans: usize,
    /// Whether even all that households do makes less traffic than the busy hour was said to have.
    pub is_short: bool,
    /// Circuits simulated in packets under each queue.
    pub simulated: usize,
    /// Parts of the day.
    pub day: Vec<Part>,
    /// Shares of circuits and hours in which activities are poor or unusable, queue by queue.
    pub queues: Vec<Poor>,
    /// The same by plan.
    pub plans: Vec<Poor>,
    /// The same behind full sites in the evening, and for all others.
    pub sites: Vec<Poor>,
    /// The number of sites that are full at times in the evening.
    pub full_sites: usize,
    /// The number of those of which more is wanted on average than they have.
    pub small_sites: usize,
    /// Those of which the largest part is wanted.
    pub full: Vec<FullSite>,
}

/// A part of the day.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Part {
    /// The word for it.
    pub name: &'static str,
    /// Hours of a day.
    pub hours: f64,
    /// Mean download of a circuit, bit/s.
    pub mean_bit_s: f64,
}

impl Part {
    fn of(part: &Level, question: &Question) -> Self {
        Self { name: part.name, hours: part.hours, mean_bit_s: question.busy_hour.as_bit_s() as f64 * part.load }
    }
}

/// A site that is full at times.
#[derive(Clone, Debug, Serialize)]
pub struct FullSite {
    /// The name in the operator's files.
    pub name: String,
    /// The direction of which the larger part is wanted.
    pub direction: &'static str,
    /// Share of the evening in which it is full in that direction.
    pub full: f64,
    /// The 95 % interval of that share.
    pub full_interval: (f64, f64),
    /// Its capacity in that direction, bit/s.
    pub capacity_bit_s: f64,
    /// Mean rate that it carries in the evening in that direction, bit/s.
    pub carried_bit_s: f64,
    /// Mean rate that its circuits want in the evening in that direction, bit/s.
    pub wanted_bit_s: f64,
}

/// The shares in which activities are poor under a queue.
#[derive(Clone, Debug, Serialize)]
pub struct Poor {
    /// The queue.
    pub queue: String,
    /// The plan or the site; none for all circuits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Circuits simulated.
    pub simulated: usize,
    /// By activity.
    pub activities: Vec<(&'static str, Share)>,
    /// Means of the figures that decide, by activity and figure.
    pub means: BTreeMap<String, f64>,
}

/// A share with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The estimate.
    pub share: f64,
    /// The interval.
    pub interval: (f64, f64),
}

/// The activities that are counted.
const COUNTED: [Activity; 4] = [Activity::Call, Activity::Game, Activity::Page, Activity::Video];
/// Quantile of the normal distribution for 95 %.
const Z: f64 = 1.96;

/// The groups of a run of each case, queue by queue.
type Runs = Vec<Vec<GroupExperience>>;

/// Judges all runs.
pub(super) fn of(question: &Question, days: &Days<'_>, cases: &[Case], runs: Runs, merged: usize) -> Answer {
    let verdicts: Vec<Vec<Option<bool>>> = runs.iter().map(|groups| COUNTED.map(|one| is_poor(groups, one)).to_vec()).collect();
    let of_queue = |queue: usize| &verdicts[queue * cases.len()..(queue + 1) * cases.len()];
    let poor = |queue: usize, of: Option<String>, is_in: &dyn Fn(&Case) -> bool| {
        let mine: Vec<(f64, &[Option<bool>])> = cases
            .iter()
            .zip(of_queue(queue))
            .filter(|(case, _)| is_in(case))
            .map(|(case, verdict)| (case.weight, verdict.as_slice()))
            .collect();
        let share = |(place, activity): (usize, Activity)| {
            let known = mine.iter().filter_map(|(weight, verdict)| Some((*weight, verdict[place]?)));
            Some((activity.name(), Share::of(known)?))
        };
        let activities = COUNTED.into_iter().enumerate().filter_map(share).collect();
        let groups = cases.iter().zip(&runs[queue * cases.len()..]).filter(|(case, _)| is_in(case));
        let means = means(groups.flat_map(|(case, groups)| groups.iter().map(|group| (case.weight, group))));
        Poor { queue: question.queues[queue].clone(), of, simulated: mine.len(), activities, means }
    };
    let queues: Vec<Poor> = (0..question.queues.len()).map(|queue| poor(queue, None, &|_| true)).collect();
    let mut plans = Vec::new();
    for plan in question.network.plans() {
        let is_in = move |case: &Case| case.plan == plan;
        if cases.iter().any(is_in) {
            plans.extend((0..question.queues.len()).map(|queue| poor(queue, Some(plan.to_string()), &is_in)));
        }
    }
    let mut sites = Vec::new();
    for site in days.named() {
        let is_in = |case: &Case| {
            matches!(case.stratum, Stratum::Full { level: 0, .. }) && question.network.path(case.site).any(|one| one == site)
        };
        if !cases.iter().any(is_in) {
            continue;
        }
        let name = question.network.sites[site].name.clone();
        sites.extend((0..question.queues.len()).map(|queue| poor(queue, Some(name.clone()), &is_in)));
    }
    let is_free = |case: &Case| matches!(case.stratum, Stratum::Free(_));
    if !sites.is_empty() && cases.iter().any(is_free) {
        let name = "sites that are not full";
        sites.extend((0..question.queues.len()).map(|queue| poor(queue, Some(name.to_owned()), &is_free)));
    }
    let full: Vec<FullSite> = days.named().into_iter().map(|site| full_site(question, days, site)).collect();
    let full_sites = days.full_sites();
    let small_sites = full_sites.iter().filter(|site| days.load(**site).0 > 1.0).count();
    let (mut text, best) = sentences(question, cases, &queues, &|queue| of_queue(queue));
    text.push_str(&of_sites(&full, full_sites.len(), small_sites));
    Answer {
        text,
        best,
        circuits: question.network.circuits.len(),
        merged_plans: merged,
        is_short: days.is_short,
        simulated: cases.len(),
        day: question.day().iter().map(|part| Part::of(part, question)).collect(),
        queues,
        plans,
        sites,
        full_sites: full_sites.len(),
        small_sites,
        full,
    }
}

/// Weighted means of the figures that decide.
fn means<'a>(groups: impl Iterator<Item = (f64, &'a GroupExperience)>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (weight, group) in groups.filter(|(_, group)| COUNTED.contains(&group.activity)) {
        for (place, metric) in group.activity.deciding() {
            if let Some(value) = group.values[place] {
                let sum = sums.entry(format!("{}.{}", group.activity.name(), metric.about.name)).or_default();
                *sum = (sum.0 + weight, sum.1 + weight * value);
            }
        }
    }
    sums.into_iter().map(|(name, (weight, sum))| (name, sum / weight)).collect()
}

fn full_site(question: &Question, days: &Days<'_>, site: usize) -> FullSite {
    let (_, way) = days.load(site);
    let (full, half) = (*days.full[0][site].of(way), *days.uncertain[site].of(way));
    FullSite {
        name: question.network.sites[site].name.clone(),
        direction: if way == Direction::Down { "down" } else { "up" },
        full,
        full_interval: ((full - half).max(0.0), (full + half).min(1.0)),
        capacity_bit_s: question.network.sites[site].rate.of(way).as_bit_s() as f64,
        carried_bit_s: *days.carried[0][site].of(way),
        wanted_bit_s: *days.wanted[site].of(way),
    }
}

/// Whether an activity is poor or unusable in a run; `None` if nobody had it.
fn is_poor(groups: &[GroupExperience], activity: Activity) -> Option<bool> {
    groups
        .iter()
        .filter(|group| group.activity == activity)
        .filter_map(grade)
        .map(|grade| grade >= Grade::Poor)
        .reduce(|a, b| a || b)
}

/// The worst grade of the figures of a group.
fn grade(group: &GroupExperience) -> Option<Grade> {
    let known = group.activity.metrics().iter().zip(&group.values);
    known.filter_map(|(metric, value)| Some(metric.grades?.of_value(&metric.about, (*value)?, group.base_rtt_s))).max()
}

impl Share {
    /// The weighted share with Wilson's interval for the effective number of samples.
    fn of(samples: impl Iterator<Item = (f64, bool)>) -> Option<Self> {
        let (mut sum, mut squares, mut poor) = (0.0, 0.0, 0.0);
        for (weight, is_poor) in samples {
            sum += weight;
            squares += weight * weight;
            poor += if is_poor { weight } else { 0.0 };
        }
        if sum <= 0.0 {
            return None;
        }
        let (share, n) = (poor / sum, sum * sum / squares);
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * libm::sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n));
        // The bounds of none and of all are exact; arithmetic is not.
        let low = if poor == 0.0 { 0.0 } else { middle - half };
        let high = if poor == sum { 1.0 } else { middle + half };
        Some(Self { share, interval: (low, high) })
    }
}

/// A share in words.
fn percent(share: Share) -> String {
    let rounded = share.share * 100.0;
    if rounded > 0.0 && rounded < 1.0 { format!("{rounded:.1} %") } else { format!("{rounded:.0} %") }
}

/// The answer in words, and the best queues.
fn sentences<'a>(
    question: &Question,
    cases: &[Case],
    queues: &[Poor],
    verdicts: &dyn Fn(usize) -> &'a [Vec<Option<bool>>],
) -> (String, Vec<String>) {
    // The number of activities that are poor in a case, and whether one is.
    let troubles = |case: &[Option<bool>]| case.iter().filter(|one| **one == Some(true)).count() as f64;
    let trouble = |activity: usize| move |case: &[Option<bool>]| f64::from(case[activity] == Some(true));
    let all: f64 = cases.iter().map(|case| case.weight).sum();
    let mean =
        |queue: usize| -> f64 { verdicts(queue).iter().zip(cases).map(|(one, case)| troubles(one) * case.weight / all).sum() };
    let order = {
        let mut order: Vec<usize> = (0..queues.len()).collect();
        order.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        order
    };
    let Some((&best, others)) = order.split_first() else { return (String::new(), Vec::new()) };
    // Behind the best one: in all activities together, or in one and ahead in none.
    let behind = |queue: usize, of: &dyn Fn(&[Option<bool>]) -> f64| {
        let pairs = verdicts(queue).iter().zip(verdicts(best)).zip(cases);
        let behind: Vec<f64> =
            pairs.map(|((mine, its), case)| (of(mine) - of(its)) * case.weight * cases.len() as f64 / all).collect();
        match mean_and_interval(&behind, 0.95) {
            Some((mean, Some(half))) if mean.abs() > half => mean.total_cmp(&0.0),
            _ => Ordering::Equal,
        }
    };
    let is_worse = |queue: usize| {
        let by_activity: Vec<Ordering> = (0..COUNTED.len()).map(|activity| behind(queue, &trouble(activity))).collect();
        behind(queue, &troubles).is_gt() || by_activity.iter().any(|one| one.is_gt()) && by_activity.iter().all(|one| one.is_ge())
    };
    let (worse, alike): (Vec<usize>, Vec<usize>) = others.iter().partition(|queue| is_worse(**queue));
    let name = |queue: &usize| question.queues[*queue].as_str();
    let states = |queue: usize| -> String {
        let said = |(place, (activity, share)): (usize, &(&str, Share))| {
            let verb = if place == 0 { " are poor" } else { "" };
            format!("{activity}s{verb} in {}", percent(*share))
        };
        let all: Vec<String> = queues[queue].activities.iter().enumerate().map(said).collect();
        list(&all)
    };
    let shares = |queue: usize| -> String {
        let all: Vec<String> = queues[queue].activities.iter().map(|(_, share)| percent(*share)).collect();
        list(&all)
    };
    let mut text = String::new();
    let good: Vec<&str> = std::iter::once(&best).chain(&alike).map(name).collect();
    match (alike.is_empty(), worse.last()) {
        (_, Some(worst)) => {
            text.push_str(&format!(
                "Give each circuit {} at the rate of its plan: {}in two busy minutes of a household {}; with {} in {}.",
                list(&good).replace(" and ", " or "),
                if alike.is_empty() { String::new() } else { format!("with {}, ", name(&best)) },
                states(best),
                name(worst),
                shares(*worst)
            ));
        }
        (true, None) => text.push_str(&format!("With {}, in two busy minutes of a household {}.", name(&best), states(best))),
        (false, None) => {
            let with = |queue: &usize| format!("with {} in {}", name(queue), shares(*queue));
            let others: Vec<String> = alike.iter().map(with).collect();
            text.push_str(&format!(
                "{} simulated circuits do not tell {} apart: with {}, in two busy minutes of a household {}; {}.",
                cases.len(),
                list(&good),
                name(&best),
                states(best),
                list(&others)
            ));
        }
    }
    (text, good.into_iter().map(str::to_owned).collect())
}

/// The sites that are too small, or that none is, in words.
fn of_sites(full: &[FullSite], full_sites: usize, small_sites: usize) -> String {
    let mbit = |rate: f64| format!("{:.0} Mbit/s", rate / 1e6);
    let Some(one) = full.first() else { return String::new() };
    let (wanted, capacity) = (mbit(one.wanted_bit_s), mbit(one.capacity_bit_s));
    if small_sites == 0 {
        let sites = if full_sites == 1 { "one site is".to_owned() } else { format!("{full_sites} sites are") };
        return format!(
            " No site has less than is wanted of it on average: {sites} full at times, {} with {wanted} wanted of \
             {capacity} {}.",
            if full_sites == 1 { one.name.clone() } else { format!("most of all {}", one.name) },
            one.direction
        );
    }
    let others = match small_sites - 1 {
        0 => String::new(),
        1 => ", and one site more has less than is wanted".to_owned(),
        count => format!(", and {count} sites more have less than is wanted"),
    };
    format!(
        " No queue makes up for capacity: {} ({capacity} {}) is full in {:.0} % of the evening, where its circuits want {wanted} on \
         average{others}.",
        one.name,
        one.direction,
        one.full * 100.0
    )
}
