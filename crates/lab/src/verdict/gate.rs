//! Results against stored ones: a baseline file, and the regressions since it was written.
//!
//! Both sides have the same scenario and seeds, so figures are compared replication by replication
//! and what both have in common cancels out. The intervals of all differing figures together have a
//! confidence of 95 % (Bonferroni): a long list of figures gives no more false alarms than one.

mod baseline;

pub use baseline::{Baseline, BaselineError, SCHEMA};

use crate::results::metrics::{Better, Description, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Shown, descriptions};
use crate::results::runs::{PointResult, Replication};
use crate::results::statistics::{Figure, mean_and_interval};
use crate::verdict::words::count;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Probability that all intervals of a comparison hold.
const CONFIDENCE: f64 = 0.95;

/// A smaller relative difference is one of rounding.
const ROUNDING: f64 = 1e-9;

/// The figures that a gate can judge: those of which one direction is better.
pub fn gated() -> impl Iterator<Item = &'static Description> {
    descriptions(LINK_METRICS)
        .chain(descriptions(GROUP_METRICS))
        .chain(descriptions(JAIN_METRICS))
        .filter(|about| about.better != Better::Neither)
}

/// The description of a figure of `link NAME`, `group NAME` or `all flows`, if a gate can judge it.
fn description(of: &str, name: &str) -> Option<&'static Description> {
    let is_it = |about: &&'static Description| about.name == name && about.better != Better::Neither;
    match of.split(' ').next() {
        Some("link") => descriptions(LINK_METRICS).find(is_it),
        Some("group") => descriptions(GROUP_METRICS).find(is_it),
        _ => descriptions(JAIN_METRICS).find(is_it),
    }
}

/// The names of figures that a gate judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Those that the report shows at once.
    Main,
    /// These.
    Named(Vec<String>),
}

/// A name of no figure that a gate could judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure `{name}` of which one direction is better{help}")]
pub struct NoSuchFigure {
    /// The name.
    pub name: String,
    /// The nearest name, or all of them.
    help: String,
}

impl Choice {
    /// The named ones; the main ones if there are no names.
    ///
    /// # Errors
    /// A name that is no figure, or whose figure has no better direction.
    pub fn of(names: &[String]) -> Result<Self, NoSuchFigure> {
        for name in names {
            if gated().any(|about| about.name == name) {
                continue;
            }
            let mut known: Vec<&str> = gated().map(|about| about.name).collect();
            known.sort_unstable();
            known.dedup();
            let help = match goodqueue_base::spec::nearest(name, known.iter().copied()) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => format!(": allowed {}", known.join(", ")),
            };
            return Err(NoSuchFigure { name: name.clone(), help });
        }
        Ok(if names.is_empty() { Self::Main } else { Self::Named(names.to_vec()) })
    }

    fn includes(&self, about: &Description) -> bool {
        about.better != Better::Neither
            && match self {
                Self::Main => about.shown == Shown::AtOnce,
                Self::Named(names) => names.iter().any(|name| name == about.name),
            }
    }
}

/// One figure of one link, group, or of all flows, at one point: a value for each replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The point, by its name in tables.
    pub point: String,
    /// `link NAME`, `group NAME` or `all flows`.
    pub of: String,
    /// The description of the figure.
    pub about: &'static Description,
    /// By replication; `None` where it is not defined.
    pub values: Vec<Option<f64>>,
}

/// The chosen figures of finished points, whose names are `names`. Those that no replication
/// defines are left out.
#[must_use]
pub fn measured(points: &[PointResult], names: &[String], choice: &Choice) -> Vec<Measured> {
    let mut found = Vec::new();
    for (point, name) in points.iter().zip(names) {
        let Some(first) = point.runs.first() else { continue };
        for (at, link) in first.links.iter().enumerate() {
            let of = format!("link {}", link.name);
            collect(&mut found, (point, name, &of), choice, descriptions(LINK_METRICS), |run| &run.links[at].values);
        }
        for (at, group) in first.groups.iter().enumerate() {
            let of = format!("group {}", group.name);
            collect(&mut found, (point, name, &of), choice, descriptions(GROUP_METRICS), |run| &run.groups[at].values);
        }
        collect(&mut found, (point, name, "all flows"), choice, descriptions(JAIN_METRICS), |run| &run.jain);
    }
    found
}

fn collect(
    found: &mut Vec<Measured>,
    (point, name, of): (&PointResult, &str, &str),
    choice: &Choice,
    metrics: impl Iterator<Item = &'static Description>,
    values: impl Fn(&Replication) -> &Vec<Option<f64>>,
) {
    for (place, about) in metrics.enumerate().filter(|(_, about)| choice.includes(about)) {
        let values: Vec<Option<f64>> = point.runs.iter().map(|run| values(run)[place]).collect();
        if values.iter().any(Option::is_some) {
            found.push(Measured { point: name.to_owned(), of: of.to_owned(), about, values });
        }
    }
}

/// The outcome of comparing a figure with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Identical values.
    Same,
    /// Other values, and no significant difference beyond the margin.
    Unclear,
    /// Significantly better.
    Better,
    /// Significantly worse by more than the margin.
    Worse,
    /// No longer defined in replications in which it was.
    Lost,
}

impl Verdict {
    /// Whether it fails the gate.
    #[must_use]
    pub const fn is_regression(self) -> bool {
        match self {
            Self::Worse | Self::Lost => true,
            Self::Same | Self::Unclear | Self::Better => false,
        }
    }

    /// In a table.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Unclear => "not significant",
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::Lost => "NOT DEFINED",
        }
    }
}

/// A figure and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The point, by its name in tables.
    pub point: String,
    /// `link NAME`, `group NAME` or `all flows`.
    pub of: String,
    /// The description of the figure.
    pub about: &'static Description,
    /// In the baseline.
    pub before: Figure,
    /// In this run.
    pub now: Figure,
    /// Mean of the differences, now less before, over replications that define both, and the
    /// half-width of its interval.
    pub difference: Option<(f64, Option<f64>)>,
    /// The outcome of the comparison.
    pub verdict: Verdict,
}

/// A comparison with a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// All compared figures, in the order of the baseline.
    pub rows: Vec<Row>,
    /// Confidence of the interval of one difference.
    pub confidence: f64,
    /// Replications on both sides.
    pub replications: u32,
}

impl Comparison {
    /// Compares figures with those of `baseline` that `choice` has. A figure that is worse by no
    /// more than `margin`, a part of its value in the baseline, is no regression.
    ///
    /// # Errors
    /// A chosen figure that the baseline does not have.
    pub fn of(baseline: &Baseline, now: &[Measured], choice: &Choice, margin: f64) -> Result<Self, BaselineError> {
        let stored = chosen(baseline, choice)?;
        let key = |figure: &'_ Measured| (figure.point.clone(), figure.of.clone(), figure.about.name);
        let now: BTreeMap<_, _> = now.iter().map(|measured| (key(measured), &measured.values)).collect();
        let pair =
            |stored: &Measured| now.get(&key(stored)).map_or_else(|| vec![None; stored.values.len()], |now| (*now).clone());
        let pairs: Vec<(&Measured, Vec<Option<f64>>)> = stored.iter().map(|stored| (*stored, pair(stored))).collect();
        let differing = pairs.iter().filter(|(stored, now)| !are_same(&stored.values, now)).count();
        let confidence = 1.0 - (1.0 - CONFIDENCE) / differing.max(1) as f64;
        let rows = pairs.into_iter().map(|(stored, now)| Row::of(stored, &now, confidence, margin)).collect();
        Ok(Self { rows, confidence, replications: baseline.replications })
    }

    /// Whether something is significantly worse.
    #[must_use]
    pub fn has_regressed(&self) -> bool {
        self.rows.iter().any(|row| row.verdict.is_regression())
    }

    /// The number of figures with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The result in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let total = self.rows.len();
        let compared = format!("{} over {} replications", count(total, "figure"), self.replications);
        if self.count(Verdict::Same) == total {
            return format!("No regression: {compared} have the same values.");
        }
        let regressions: Vec<&Row> = self.rows.iter().filter(|row| row.verdict.is_regression()).collect();
        let others =
            [(Verdict::Better, "better"), (Verdict::Unclear, "not significantly different"), (Verdict::Same, "the same")];
        let others: Vec<String> = others
            .into_iter()
            .filter(|(verdict, _)| self.count(*verdict) > 0)
            .map(|(verdict, word)| format!("{} {word}", self.count(verdict)))
            .collect();
        let Some(worst) = regressions.iter().max_by(|a, b| a.relative().total_cmp(&b.relative())) else {
            return format!("No significant regression: of {compared}, {}.", others.join(", "));
        };
        let mut sentence = format!("Regression: {} of {compared} significantly worse", regressions.len());
        if !others.is_empty() {
            let _ = write!(sentence, ", {}", others.join(", "));
        }
        let _ = write!(sentence, "; the worst is {} of {} at {}", worst.about.name, worst.of, worst.point);
        match worst.verdict {
            Verdict::Lost => sentence.push_str(", which is no longer defined."),
            Verdict::Worse if worst.relative().is_finite() => {
                let _ = write!(sentence, ", by {:.1} %.", 100.0 * worst.relative());
            }
            Verdict::Worse | Verdict::Same | Verdict::Unclear | Verdict::Better => sentence.push_str(", which was zero."),
        }
        sentence
    }
}

fn chosen<'a>(baseline: &'a Baseline, choice: &Choice) -> Result<Vec<&'a Measured>, BaselineError> {
    let Choice::Named(names) = choice else { return Ok(baseline.results.iter().collect()) };
    for name in names {
        if !baseline.results.iter().any(|stored| stored.about.name == name) {
            return Err(BaselineError::Missing(name.clone()));
        }
    }
    Ok(baseline.results.iter().filter(|stored| choice.includes(stored.about)).collect())
}

fn are_same(before: &[Option<f64>], now: &[Option<f64>]) -> bool {
    before.len() == now.len()
        && before.iter().zip(now).all(|pair| match pair {
            (Some(before), Some(now)) => (before - now).abs() <= ROUNDING * before.abs(),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        })
}

impl Row {
    fn of(stored: &Measured, values: &[Option<f64>], confidence: f64, margin: f64) -> Self {
        let before = Figure::of(stored.values.iter().copied());
        let now = Figure::of(values.iter().copied());
        let pairs: Vec<f64> = stored.values.iter().zip(values).filter_map(|(before, now)| Some((*now)? - (*before)?)).collect();
        let difference = mean_and_interval(&pairs, confidence);
        let is_lost = stored.values.iter().zip(values).any(|(before, now)| before.is_some() && now.is_none());
        let verdict = match difference {
            _ if are_same(&stored.values, values) => Verdict::Same,
            _ if is_lost => Verdict::Lost,
            Some((mean, Some(half))) => judge(stored.about.better, mean, half, margin * before.mean.unwrap_or(0.0).abs()),
            Some((_, None)) | None => Verdict::Unclear,
        };
        Self { point: stored.point.clone(), of: stored.of.clone(), about: stored.about, before, now, difference, verdict }
    }

    /// Size of the difference as a part of the value in the baseline; infinite for a figure that
    /// was zero or is lost.
    fn relative(&self) -> f64 {
        match (self.difference, self.before.mean) {
            (Some((difference, _)), Some(before)) if before != 0.0 && self.verdict != Verdict::Lost => {
                (difference / before).abs()
            }
            _ => f64::INFINITY,
        }
    }
}

/// `margin` is in the unit of the figure.
fn judge(better: Better, mean: f64, half: f64, margin: f64) -> Verdict {
    let worse_by = match better {
        Better::Higher => -mean,
        Better::Lower => mean,
        Better::Neither => return Verdict::Unclear,
    };
    if worse_by - half > margin {
        Verdict::Worse
    } else if worse_by + half < 0.0 {
        Verdict::Better
    } else {
        Verdict::Unclear
    }
}

#[cfg(test)]
mod tests;
