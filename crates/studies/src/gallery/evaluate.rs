//! Verdicts: each row's measure on the means over replications, and once for each replication for
//! its interval.

use crate::gallery::error::FileFault;
use crate::gallery::expr::{self, ExprError, Fault, Value};
use crate::gallery::files::{Expected, Paper, Relation, Row, Tolerance};
use crate::gallery::samples::{self, Measured, Points, PointsEnv, View};
use goodqueue_lab::results::statistics::Figure;
use serde::Serialize;
use std::rc::Rc;

/// The verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The statement is true of what was measured.
    #[serde(rename = "holds")]
    Holds,
    /// The statement is not true of what was measured.
    #[serde(rename = "fails")]
    Fails,
    /// The row is only reported, or what it needs was not run.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl Verdict {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::NotComparable => "not comparable",
        }
    }
}

/// The value of a row's measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measure {
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// Several numbers, each of which must satisfy the row.
    Numbers(Vec<f64>),
    /// Several truths, all of which must be.
    Truths(Vec<bool>),
}

/// One evaluated row.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluated {
    /// The verdict on the row.
    pub verdict: Verdict,
    /// The measured value; `None` when it could not be measured.
    pub value: Option<Measure>,
    /// Mean and half-width of the 95 % interval over replications: of a number, or of the number of
    /// several that is closest to failing.
    pub interval: Option<Figure>,
    /// The share of replications in which the row is true by itself, where truths are measured.
    pub agreeing: Option<f64>,
    /// Whether the whole interval gives the same verdict; `None` without one.
    pub clear: Option<bool>,
    /// The one of several numbers that is closest to failing, or that fails most.
    pub worst: Option<f64>,
    /// Why it failed to be measured, or is not comparable.
    pub reason: Option<String>,
    /// The place in the file where the measure itself is wrong, whatever was measured.
    #[serde(skip)]
    pub mistake: Option<FileFault>,
}

/// Evaluates a row of a paper.
#[must_use]
pub fn evaluate(paper: &Paper, row: &Row, measured: &Rc<[Measured]>) -> Evaluated {
    let needed = || row.experiments.iter().map(|id| id.get_ref().as_str());
    for id in needed() {
        match samples::needed(measured, id) {
            Err(fault) => return not_comparable(fault.to_string()),
            Ok(one) if one.points.iter().any(Option::is_none) => {
                return not_comparable(format!("needs {id}, of which not every point was run"));
            }
            Ok(_) => {}
        }
    }
    let replications = samples::replications(measured, needed());
    let source = Rc::new(Points { measured: Rc::clone(measured), paper: paper.id.clone() });
    let ask = |view| {
        let env = PointsEnv { source: Rc::<Points>::clone(&source), replications, view, here: None };
        expr::evaluate(&row.expr, &[], Rc::new(env)).and_then(measure)
    };
    let value = match ask(View::Mean) {
        Ok(value) => value,
        Err(error) => {
            let field = format!("row.{}.measure", row.id.get_ref());
            let located = || paper.expected_source.fault_in(&row.measure, &error, &field);
            let mistake = error.fault.is_mistake().then(located);
            return Evaluated { mistake, ..failed(error.to_string()) };
        }
    };
    let each: Vec<Measure> = (0..replications).filter_map(|number| ask(View::Replication(number)).ok()).collect();
    judged(row, value, &each)
}

fn not_comparable(reason: String) -> Evaluated {
    Evaluated { verdict: Verdict::NotComparable, ..failed(reason) }
}

fn failed(reason: String) -> Evaluated {
    Evaluated {
        verdict: Verdict::Fails,
        value: None,
        interval: None,
        agreeing: None,
        clear: None,
        worst: None,
        reason: Some(reason),
        mistake: None,
    }
}

/// Converts a value to one that a row can be judged by.
pub(super) fn measure(value: Value) -> Result<Measure, ExprError> {
    let wrong = |value: &Value| {
        let message = format!("gives {}: expected a number, numbers, or true or false", value.kind());
        ExprError { at: 0, fault: Fault::Type(message) }
    };
    match value {
        Value::Number(number) => Ok(Measure::Number(number)),
        Value::Bool(truth) => Ok(Measure::Truth(truth)),
        Value::Array(items) if items.is_empty() => {
            Err(ExprError { at: 0, fault: Fault::NoValue("the measure gives an empty list".to_owned()) })
        }
        Value::Array(ref items) => {
            let truth = |item: &Value| if let Value::Bool(truth) = item { Some(*truth) } else { None };
            let number = |item: &Value| if let Value::Number(number) = item { Some(*number) } else { None };
            let truths = || items.iter().map(truth).collect::<Option<_>>().map(Measure::Truths);
            let numbers = || items.iter().map(number).collect::<Option<_>>().map(Measure::Numbers);
            truths().or_else(numbers).ok_or_else(|| wrong(&value))
        }
        other => Err(wrong(&other)),
    }
}

fn judged(row: &Row, value: Measure, each: &[Measure]) -> Evaluated {
    let bounds = Bounds::of(row.relation, row.expected.get_ref(), row.tolerance);
    let (holds, worst) = match (&value, &bounds) {
        (Measure::Truth(truth), Bounds::Truth(expected)) => (truth == expected, None),
        (Measure::Truths(truths), Bounds::Truth(expected)) => (truths.iter().all(|truth| truth == expected), None),
        (Measure::Number(number), Bounds::Range(range)) => (range.margin(*number) >= 0.0, None),
        (Measure::Numbers(numbers), Bounds::Range(range)) => {
            let worst = range.worst(numbers);
            (worst.is_some_and(|at| range.margin(numbers[at]) >= 0.0), worst)
        }
        (value, _) => {
            let kind = if matches!(value, Measure::Truth(_) | Measure::Truths(_)) { "true or false" } else { "numbers" };
            let reason = format!("the measure gives {kind}, which does not go with relation `{}`", row.relation.sign());
            return failed(reason);
        }
    };
    let samples = |at: Option<usize>| {
        each.iter().map(move |one| match (one, at) {
            (Measure::Number(number), _) => Some(*number),
            (Measure::Numbers(numbers), Some(at)) => numbers.get(at).copied(),
            _ => None,
        })
    };
    let interval = Some(Figure::of(samples(worst))).filter(|figure| figure.n > 0);
    let clear = match (&bounds, interval) {
        (Bounds::Range(range), Some(Figure { ci95: Some(half), .. })) => {
            let centre = match &value {
                Measure::Number(number) => Some(*number),
                Measure::Numbers(numbers) => worst.map(|at| numbers[at]),
                _ => None,
            };
            centre.map(|centre| (range.margin(centre - half) >= 0.0) == holds && (range.margin(centre + half) >= 0.0) == holds)
        }
        _ => None,
    };
    let agreeing = agreeing(&bounds, each);
    let verdict = match (row.report_only, holds) {
        (true, _) => Verdict::NotComparable,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Fails,
    };
    let reason = row.report_only.then(|| "reported next to the printed value, not required".to_owned());
    let worst = match &value {
        Measure::Numbers(numbers) => worst.map(|at| numbers[at]),
        _ => None,
    };
    Evaluated { verdict, value: Some(value), interval, agreeing, clear, worst, reason, mistake: None }
}

/// Returns the share of replications that are as expected, where the measure is true or false.
fn agreeing(bounds: &Bounds, each: &[Measure]) -> Option<f64> {
    let Bounds::Truth(expected) = bounds else { return None };
    let agrees = |one: &&Measure| match one {
        Measure::Truth(truth) => truth == expected,
        Measure::Truths(truths) => truths.iter().all(|truth| truth == expected),
        _ => false,
    };
    (!each.is_empty()).then(|| each.iter().filter(agrees).count() as f64 / each.len() as f64)
}

/// The values with which a row holds.
enum Bounds {
    Truth(bool),
    Range(Range),
}

/// The numbers that hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The ends are excluded.
    open: bool,
}

impl Range {
    /// The numbers with which a row holds; `None` of statements.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        match Bounds::of(row.relation, row.expected.get_ref(), row.tolerance) {
            Bounds::Range(range) => Some(range),
            Bounds::Truth(_) => None,
        }
    }

    /// Returns the distance of a number to the nearest end of the range; negative outside. An open
    /// end itself is outside.
    fn margin(&self, number: f64) -> f64 {
        let margin = (number - self.low).min(self.high - number);
        // A last digit that binary numbers cannot hold must not decide.
        let slack = 1e-9 * number.abs().max(1e-9);
        match self.open {
            true if margin <= slack => margin.min(-slack),
            false if margin >= -slack => margin.max(0.0),
            _ => margin,
        }
    }

    /// The number that is least inside.
    fn worst(&self, numbers: &[f64]) -> Option<usize> {
        (0..numbers.len()).min_by(|a, b| self.margin(numbers[*a]).total_cmp(&self.margin(numbers[*b])))
    }
}

impl Bounds {
    fn of(relation: Relation, expected: &Expected, tolerance: Tolerance) -> Self {
        let (low, high) = match expected {
            Expected::Truth(truth) => return Self::Truth(*truth),
            Expected::Number(number) => (*number, *number),
            Expected::Range([low, high]) => (*low, *high),
        };
        let factor = tolerance.factor.unwrap_or(1.0);
        let slack = |end: f64, own: Option<f64>| {
            tolerance.abs.unwrap_or(0.0) + tolerance.rel.unwrap_or(0.0) * end.abs() + own.unwrap_or(0.0)
        };
        // A factor widens away from the range, whatever the sign.
        let lowest = low.min(low / factor).min(low * factor) - slack(low, tolerance.below);
        let highest = high.max(high * factor).max(high / factor) + slack(high, tolerance.above);
        let range = |low, high, open| Self::Range(Range { low, high, open });
        match relation {
            Relation::Less => range(f64::NEG_INFINITY, highest, true),
            Relation::AtMost => range(f64::NEG_INFINITY, highest, false),
            Relation::Greater => range(lowest, f64::INFINITY, true),
            Relation::AtLeast => range(lowest, f64::INFINITY, false),
            _ => range(lowest, highest, false),
        }
    }
}

#[cfg(test)]
mod tests;
