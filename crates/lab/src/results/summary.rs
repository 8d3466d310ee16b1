//! `summary.json`, schema [`SCHEMA`]: every figure of every point over its replications, in a fixed
//! order.

mod read;

use crate::results::experience::{Activity, GroupExperience};
use crate::results::headline::Headline;
use crate::results::metrics::{Description, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Metric, Presence, RunFigures};
use crate::results::provenance::Provenance;
use crate::results::statistics::Figure;
use crate::scenario::plan::Point;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

pub use read::Read;
pub(crate) use read::{read, read_point};

/// Name and version of the format.
pub const SCHEMA: &str = "goodqueue.summary/1";

/// Everything `summary.json` holds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary<P = Vec<PointSummary>> {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The name of the scenario.
    pub scenario: String,
    /// The host of the runs: `sim`, `linux` or `live`; both for a comparison of two.
    pub host: &'static str,
    /// Root of all randomness.
    pub seed: u64,
    /// Independent repetitions of each point that were asked for.
    pub replications: u32,
    /// False when runs are missing, because they were interrupted or failed.
    pub complete: bool,
    /// The answer in words; `None` where points are kept apart from each other, as sweeps keep
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<Headline>,
    /// The provenance of this result.
    pub provenance: Provenance,
    /// The points of the sweep in its order, those without a single finished run left out.
    pub points: P,
}

impl Summary {
    /// The file's content as a value, for the report.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("plain values with string keys always serialize")
    }

    /// The file's text: indented, one final line feed, the same bytes for the same values.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain values with string keys always serialize");
        text.push('\n');
        text
    }
}

/// One point of the sweep.
#[derive(Clone, Debug, Serialize)]
pub struct PointSummary {
    /// Swept keys and their values here.
    #[serde(serialize_with = "as_map")]
    pub set: Vec<(String, serde_json::Value)>,
    /// The kind of queue at the main link, followed by a colon and the algorithm that it contains;
    /// empty where it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub queue: String,
    /// Start and end of the measured part in seconds; `None` where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<(f64, f64)>,
    /// Observed links by name.
    #[serde(serialize_with = "as_map")]
    pub links: Vec<(String, Figures)>,
    /// Groups of flows by name.
    #[serde(serialize_with = "as_map")]
    pub groups: Vec<(String, GroupSummary)>,
    /// The experience of each group, by its name; empty where it is not known what the groups do.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub experience: Vec<(String, ExperienceSummary)>,
    /// All flows.
    pub flows: Vec<FlowSummary>,
    /// Fairness between all flows.
    pub jain: Figures,
}

/// Figures with what they are; a dot in a name nests.
#[derive(Clone, Debug)]
pub struct Figures {
    figures: Vec<(&'static Description, Figure)>,
    /// For links: each group's share of what was sent, under `group_share`.
    group_share: Vec<(String, Figure)>,
}

/// One group of flows.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSummary {
    /// The number of flows.
    pub flows: u32,
    /// Their figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The experience of one group.
#[derive(Clone, Debug, Serialize)]
pub struct ExperienceSummary {
    /// The activity of the group.
    #[serde(serialize_with = "as_name")]
    pub activity: Activity,
    /// The figures of this activity.
    #[serde(flatten)]
    pub figures: Figures,
}

/// One flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowSummary {
    /// Name of its group.
    pub group: String,
    /// Number within its group.
    pub index: u32,
    /// Data delivered per second, each byte counted once.
    pub goodput_bit_s: Figure,
}

impl Figures {
    /// The figure of `name`, or one without values when there is none.
    #[must_use]
    pub fn figure(&self, name: &str) -> Figure {
        let found = self.figures.iter().find(|(about, _)| about.name == name);
        found.map_or_else(Figure::default, |(_, figure)| *figure)
    }

    /// All figures, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Description, Figure)> + '_ {
        self.figures.iter().copied()
    }

    /// The figures of these metrics over runs, of which each has one value for each metric.
    fn over<'a, F>(metrics: &'static [Metric<F>], runs: impl Iterator<Item = &'a [Option<f64>]> + Clone) -> Self {
        let figure = |place: usize| Figure::of(runs.clone().map(|values| values[place]));
        let figures = metrics.iter().enumerate().map(|(place, metric)| (&metric.about, figure(place))).collect();
        Self { figures, group_share: Vec::new() }
    }
}

/// The most flows that are listed one by one: more would be most of the file.
const MAX_FLOWS: usize = 100_000;
/// Largest number of groups that a link lists whether or not they sent something over it: of more,
/// most belong to other links.
const MAX_FEW_GROUPS: usize = 20;

impl PointSummary {
    /// The figures over `runs`, which are replications of one point and so have the same links,
    /// groups and flows; `None` without runs.
    #[must_use]
    pub fn of(set: Vec<(String, serde_json::Value)>, runs: &[RunFigures]) -> Option<Self> {
        let first = runs.first()?;
        let link = |(number, link): (usize, &crate::results::metrics::LinkFigures)| {
            let mut figures = Figures::over(LINK_METRICS, runs.iter().map(|run| run.links[number].values.as_slice()));
            let share = |group: usize| Figure::of(runs.iter().map(|run| run.links[number].group_share[group]));
            let is_few = link.group_share.len() <= MAX_FEW_GROUPS;
            let is_there = |at: usize| is_few || runs.iter().any(|run| run.links[number].group_share[at] > Some(0.0));
            let groups = first.groups.iter().take(link.group_share.len()).enumerate().filter(|(at, _)| is_there(*at));
            figures.group_share = groups.map(|(at, group)| (group.name.clone(), share(at))).collect();
            (link.name.clone(), figures)
        };
        let group = |(number, group): (usize, &crate::results::metrics::GroupFigures)| {
            let figures = Figures::over(GROUP_METRICS, runs.iter().map(|run| run.groups[number].values.as_slice()));
            (group.name.clone(), GroupSummary { flows: group.flows, figures })
        };
        let flow = |(number, flow): (usize, &crate::results::metrics::FlowFigures)| FlowSummary {
            group: first.groups[flow.group as usize].name.clone(),
            index: flow.index,
            goodput_bit_s: Figure::of(runs.iter().map(|run| run.flows[number].goodput_bit_s)),
        };
        Some(Self {
            set,
            queue: String::new(),
            measured_s: None,
            links: first.links.iter().enumerate().map(link).collect(),
            groups: first.groups.iter().enumerate().map(group).collect(),
            experience: Vec::new(),
            flows: if first.flows.len() > MAX_FLOWS { Vec::new() } else { first.flows.iter().enumerate().map(flow).collect() },
            jain: Figures::over(JAIN_METRICS, runs.iter().map(|run| run.jain.as_slice())),
        })
    }

    /// The figures over `runs`, with what the settings of the point add: its queue, the measured
    /// part, and the experience of the groups.
    #[must_use]
    pub fn of_point(point: &Point, runs: &[RunFigures]) -> Option<Self> {
        let each: Vec<Vec<GroupExperience>> = runs.iter().map(|run| GroupExperience::of(point, run)).collect();
        let group = |(number, group): (usize, &GroupExperience)| {
            let values = |place: usize| Figure::of(each.iter().map(|run| run[number].values[place]));
            let metrics = group.activity.metrics().iter().enumerate();
            let figures = metrics.map(|(place, metric)| (&metric.about, values(place))).collect();
            let figures = Figures { figures, group_share: Vec::new() };
            (group.group.clone(), ExperienceSummary { activity: group.activity, figures })
        };
        let experience = each.first()?.iter().enumerate().map(group).collect();
        let plan = &point.plan;
        Some(Self {
            experience,
            queue: plan.main_queue(),
            measured_s: Some(plan.measured_s()),
            ..Self::of(point.set.clone(), runs)?
        })
    }

    /// The figures of a link.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&Figures> {
        self.links.iter().find(|(known, _)| known == name).map(|(_, figures)| figures)
    }
}

/// A list of pairs as a JSON object that keeps their order.
fn as_map<S: Serializer, V: Serialize>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

fn as_name<S: Serializer>(activity: &Activity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(activity.name())
}

impl Figures {
    /// All figures there are, by their names in full: those of some kinds of traffic only where
    /// their section has one.
    fn present(&self) -> Vec<(&'static str, Figure)> {
        let section = |about: &Description| about.name.split_once('.').map_or(about.name, |(section, _)| section);
        let mut defined: Vec<&str> = Vec::new();
        for (about, _) in self.figures.iter().filter(|(_, figure)| figure.n > 0) {
            if !defined.contains(&section(about)) {
                defined.push(section(about));
            }
        }
        let shown = |about: &Description| about.presence == Presence::Always || defined.contains(&section(about));
        self.figures.iter().filter(|(about, _)| shown(about)).map(|(about, figure)| (about.name, *figure)).collect()
    }
}

/// Writes figures under their names, what stands before a dot as an object of its own.
fn write_nested<M: SerializeMap>(map: &mut M, named: &[(&'static str, Figure)]) -> Result<(), M::Error> {
    let mut at = 0;
    while let Some((name, figure)) = named.get(at) {
        let Some((key, _)) = name.split_once('.') else {
            map.serialize_entry(name, figure)?;
            at += 1;
            continue;
        };
        let rest = |name: &'static str| name.strip_prefix(key)?.strip_prefix('.');
        let inner: Vec<_> = named[at..].iter().map_while(|(name, figure)| Some((rest(name)?, *figure))).collect();
        at += inner.len();
        map.serialize_entry(key, &Nested(inner))?;
    }
    Ok(())
}

struct Nested(Vec<(&'static str, Figure)>);

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_nested(&mut map, &self.0)?;
        map.end()
    }
}

/// Figures by names of groups, in which a dot is a letter like others.
struct Shares<'a>(&'a [(String, Figure)]);

impl Serialize for Shares<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_map(self.0, serializer)
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_nested(&mut map, &self.present())?;
        if !self.group_share.is_empty() {
            map.serialize_entry("group_share", &Shares(&self.group_share))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
