//! The verdict on a comparison of queues: which one to use, what people will notice, and what it
//! costs. Commands, reports, pages and Python show these sentences as they are made here.
//!
//! [`rule`] ranks the queues, `sentences` puts the outcome into words.

mod deployed;
pub mod gate;
mod policy;
mod range;
pub mod rule;
mod sentences;
mod units;
pub mod words;

pub use crate::results::grade::Grade;
pub use crate::results::headline::{Graded, Headline};
pub use deployed::{DEPLOYED, Deployment};
pub use policy::{POLICY_KEYS, Policy, PolicyError};
pub use sentences::{by_who, cannot_carry, effect};
pub use units::{Unit, grade};

use crate::results::labels::{Labels, Split};
use crate::results::metrics::LinkFigures;
use crate::results::runs::{PointResult, Replication};
use crate::scenario::plan::{Direction, Point};
use goodqueue_base::units::Rate;
use rule::{Candidate, Key, LinkUse, Role, Sample, Seeds};

/// The criteria of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Criteria {
    /// The policy that a queue must satisfy before it is ranked.
    pub policy: Policy,
    /// The unit of the latency under load in the details.
    pub unit: Unit,
}

/// A point with its names.
struct Row<'a> {
    name: &'a str,
    split: &'a Split,
    result: &'a PointResult,
}

/// Queues over the settings that all of them have.
struct Comparison<'a> {
    names: Vec<&'a str>,
    /// The queues that each chooses, by the key that sets them.
    choices: Vec<&'a [(String, String)]>,
    candidates: Vec<Candidate<'a>>,
    keys: Vec<Key>,
    /// The reported directions of the main link.
    links: Vec<&'a str>,
    unit: Unit,
}

/// A rate below that of a link, to which the classes of its queue shape it.
#[derive(Clone, Copy, Debug)]
struct Shaped {
    rate: Rate,
    /// Its part of the link's rate.
    part: f64,
}

impl Shaped {
    /// That of one direction of a link of this point, by its name.
    fn of(point: &Point, name: &str) -> Option<Self> {
        let found = point.plan.direction_called(name)?;
        let rate = found.queue.as_ref()?.rate_of_classes()?;
        let part = rate.as_bit_s() as f64 / found.nominal_rate().as_bit_s() as f64;
        (part < 1.0).then_some(Self { rate, part })
    }
}

impl Headline {
    /// The verdict on these points and their results, at their main link.
    #[must_use]
    pub fn of(points: &[Point], results: &[PointResult], labels: &Labels, criteria: &Criteria) -> Self {
        let link = points.first().map_or("", |point| point.plan.main_link().name.as_str());
        Self::new(&points.iter().collect::<Vec<_>>(), results, labels, link, criteria)
    }

    /// The verdict on these points and their results, at `link` and its return direction.
    #[must_use]
    pub fn new(points: &[&Point], results: &[PointResult], labels: &Labels, link: &str, criteria: &Criteria) -> Self {
        let names = points.iter().find_map(|point| {
            let link = point.plan.links.iter().find(|known| known.name == link)?;
            Some([Direction::Down, Direction::Up].map(|heading| link.name_of(heading)))
        });
        let names = names.unwrap_or_else(|| [link.to_owned(), String::new()]);
        let runs = || results.iter().flat_map(|point| &point.runs);
        let links: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| runs().any(|run| of_link(run, name).is_some())).collect();
        let passed =
            |point: &PointResult| point.runs.iter().any(|run| links.iter().any(|link| use_of(run, link).wait_p95_s.is_some()));
        let named = labels.names.iter().zip(&labels.splits).zip(results).filter(|(_, result)| passed(result));
        let rows: Vec<Row<'_>> = named.map(|((name, split), result)| Row { name, split, result }).collect();
        let mut settings: Vec<&str> = Vec::new();
        for row in &rows {
            if !settings.contains(&row.split.setting.as_str()) {
                settings.push(&row.split.setting);
            }
        }
        let keys = runs().next().map_or_else(Vec::new, |run| Key::all(&run.experience));
        let mut comparison = Comparison::over(&rows, &settings, keys, links, criteria.unit);
        let not_judged = comparison.leave_out_unknown();
        let mut headline = match rows.as_slice() {
            [] if runs().next().is_none() => Self::only("No run finished, so there is nothing to compare.".to_owned()),
            [] => Self::only(format!("No packet passed {link} in the measured part, so there is nothing to compare.")),
            [_] => {
                let shaped: Vec<Option<Shaped>> = comparison.links.iter().map(|link| Shaped::of(points.first()?, link)).collect();
                comparison.about_one(&shaped)
            }
            rows if rows.iter().any(|row| row.split.choices.is_empty()) => {
                let alone = rows.iter().map(|row| Comparison::candidate(row, vec![comparison.samples(row.result)]));
                let points: Vec<(&str, Candidate<'_>)> = rows.iter().map(|row| row.name).zip(alone).collect();
                Comparison::range(&comparison.keys, &points)
            }
            _ if comparison.candidates.len() < 2 => {
                Self::only("No two queues ran in every setting, so none is best over all of them.".to_owned())
            }
            _ => comparison.judge(&criteria.policy),
        };
        if !not_judged.is_empty() {
            headline.text += &format!("\nNot judged, since these runs have no figures of it: {}.", words::list(&not_judged));
        }
        headline
    }

    /// Only words, where nothing is ranked.
    fn only(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl<'a> Comparison<'a> {
    /// Each queue that all settings have, over them.
    fn over(rows: &[Row<'a>], settings: &[&str], keys: Vec<Key>, links: Vec<&'a str>, unit: Unit) -> Self {
        let mut all = Self { names: Vec::new(), choices: Vec::new(), candidates: Vec::new(), keys, links, unit };
        for row in rows.iter().filter(|row| settings.first().is_some_and(|first| row.split.setting == *first)) {
            let here = |setting: &&str| {
                let same = |other: &&Row<'a>| other.split.setting == **setting && other.split.choices == row.split.choices;
                rows.iter().find(same).map(|row| all.samples(row.result))
            };
            let Some(samples) = settings.iter().map(here).collect::<Option<Vec<_>>>() else { continue };
            let name = if settings.len() > 1 { row.split.queue.as_deref().unwrap_or(row.name) } else { row.name };
            let candidate = Self::candidate(row, samples);
            all.names.push(name);
            all.choices.push(&row.split.choices);
            all.candidates.push(candidate);
        }
        all
    }

    /// Leaves out what no run has figures of, and returns whose it is: a call of less than a second
    /// is neither good nor bad.
    fn leave_out_unknown(&mut self) -> Vec<String> {
        let is_known = |key: &Key| self.candidates.is_empty() || self.candidates.iter().any(|one| key.figure(one).n > 0);
        let (known, unknown): (Vec<Key>, Vec<Key>) = self.keys.iter().partition(|key| is_known(key));
        self.keys = known;
        if self.keys.is_empty() {
            self.keys.push(Key::wait());
        }
        let mut whose: Vec<String> = Vec::new();
        for key in unknown {
            if !whose.iter().any(|known| known == key.who()) {
                whose.push(key.who().to_owned());
            }
        }
        whose
    }

    /// The number of settings.
    fn settings(&self) -> usize {
        self.candidates.first().map_or(0, |one| one.settings.len())
    }

    fn candidate(row: &Row<'a>, settings: Vec<Vec<Sample<'a>>>) -> Candidate<'a> {
        let kinds = row.split.choices.iter().map(|(_, name)| name.as_str());
        let is_nothing = !row.split.choices.is_empty() && kinds.clone().all(|name| name == deployed::NOTHING_SET_UP);
        let role = if is_nothing { Role::Nothing } else { Role::SetUp };
        Candidate { deployment: Deployment::of(kinds), role, settings, seeds: Seeds::Shared }
    }

    fn samples(&self, point: &'a PointResult) -> Vec<Sample<'a>> {
        let links = |run: &Replication| self.links.iter().map(|link| use_of(run, link)).collect();
        point.runs.iter().map(|run| Sample { number: run.number, groups: &run.experience, links: links(run) }).collect()
    }
}

fn of_link<'a>(run: &'a Replication, link: &str) -> Option<&'a LinkFigures> {
    run.links.iter().find(|known| known.name == link)
}

fn use_of(run: &Replication, link: &str) -> LinkUse {
    let Some(figures) = of_link(run, link) else { return LinkUse::default() };
    LinkUse {
        utilization: figures.value("utilization"),
        wait_mean_s: figures.value("sojourn_s.mean"),
        wait_p95_s: figures.value("sojourn_s.p95"),
    }
}

#[cfg(test)]
mod tests;
