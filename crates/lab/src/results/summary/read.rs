//! `summary.json` read back. Figures are found by their names; those that this version does not
//! know are left out, and those that the file does not have are undefined.

use super::{ExperienceSummary, Figures, FlowSummary, GroupSummary, PointSummary};
use crate::results::experience::Activity;
use crate::results::metrics::{Description, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, descriptions};
use crate::results::statistics::Figure;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct Read {
    /// The name of the scenario.
    pub scenario: String,
    /// The host of the runs.
    pub host: String,
    /// Whether every run finished.
    pub complete: bool,
    /// The points in their order.
    pub points: Vec<PointSummary>,
}

/// A text that is no summary.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A text that is not JSON of this form.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// A form with another name or version.
    #[error("schema: is `{0}`: allowed {allowed}", allowed = super::SCHEMA)]
    Schema(String),
}

/// The summary that a text contains.
///
/// # Errors
/// When the text is not JSON of the form that this version writes.
pub fn read(text: &str) -> Result<Read, ReadError> {
    let File { schema, scenario, host, complete, points } = serde_json::from_str(text)?;
    if schema != super::SCHEMA {
        return Err(ReadError::Schema(schema));
    }
    Ok(Read { scenario, host, complete, points: points.into_iter().map(PointFile::point).collect() })
}

/// The point that a text contains, in the form that a summary gives it.
pub fn read_point(text: &str) -> serde_json::Result<PointSummary> {
    serde_json::from_str(text).map(PointFile::point)
}

#[derive(Deserialize)]
struct File {
    schema: String,
    scenario: String,
    host: String,
    complete: bool,
    points: Vec<PointFile>,
}

#[derive(Deserialize)]
struct PointFile {
    set: Pairs,
    #[serde(default)]
    queue: String,
    #[serde(default)]
    measured_s: Option<(f64, f64)>,
    links: Pairs,
    groups: Pairs,
    #[serde(default)]
    experience: Pairs,
    flows: Vec<FlowSummary>,
    jain: Value,
}

impl PointFile {
    fn point(self) -> PointSummary {
        let groups = &self.groups.0;
        let link = |(name, value): (String, Value)| {
            let mut figures = figures(&value, descriptions(LINK_METRICS));
            let share = |group: &String| Some((group.clone(), figure(value.get("group_share")?.get(group)?)));
            figures.group_share = groups.iter().filter_map(|(group, _)| share(group)).collect();
            (name, figures)
        };
        let links = self.links.0.into_iter().map(link).collect();
        let group = |(name, value): &(String, Value)| {
            let flows = value.get("flows").and_then(Value::as_u64).map_or(0, |flows| u32::try_from(flows).unwrap_or(u32::MAX));
            let figures = figures(value, descriptions(GROUP_METRICS));
            (name.clone(), GroupSummary { flows, figures })
        };
        let got = |(name, value): &(String, Value)| {
            let word = value.get("activity")?.as_str()?;
            let activity = Activity::ALL.into_iter().find(|activity| activity.name() == word)?;
            let figures = figures(value, activity.metrics().iter().map(|metric| &metric.about));
            Some((name.clone(), ExperienceSummary { activity, figures }))
        };
        PointSummary {
            set: self.set.0,
            queue: self.queue,
            measured_s: self.measured_s,
            links,
            groups: groups.iter().map(group).collect(),
            experience: self.experience.0.iter().filter_map(got).collect(),
            flows: self.flows,
            jain: figures(&self.jain, descriptions(JAIN_METRICS)),
        }
    }
}

fn figures(value: &Value, known: impl Iterator<Item = &'static Description>) -> Figures {
    let of = |about: &'static Description| {
        let found = about.name.split('.').try_fold(value, |at, key| at.get(key));
        (about, found.map_or_else(Figure::default, figure))
    };
    Figures { figures: known.map(of).collect(), group_share: Vec::new() }
}

fn figure(value: &Value) -> Figure {
    Figure::deserialize(value).unwrap_or_default()
}

/// A JSON object in the order of its keys.
#[derive(Default)]
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}
