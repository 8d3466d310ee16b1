//! The `[sweep]` table: dotted keys with lists of values, and the grid they span.

use super::tree::{DottedKey, Entry, Node, Value};
use crate::diagnostic::{Fault, PlanError};

/// One swept key.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) key: DottedKey,
    /// At least one.
    pub(super) values: Vec<Node>,
}

const MOST_VALUES: usize = 10_000;
const MOST_POINTS: usize = 100_000;
/// These hold for the plan as a whole.
const NOT_SWEPT: &[&str] = &["goodqueue", "name", "description", "replications", "seed", "sweep"];

/// Takes `[sweep]` out of the document.
pub(super) fn take_axes(root: &mut Node) -> Result<Vec<Axis>, Fault> {
    let Some(sweep) = root.take("sweep") else { return Ok(Vec::new()) };
    let Value::Table(entries) = &sweep.node.value else {
        return Err(Fault::at(&sweep.node.origin, "sweep", format!("is {}: expected a table", sweep.node.kind()), None));
    };
    let mut axes = Vec::new();
    collect(entries, "", &mut axes)?;
    Ok(axes)
}

/// Keys may be written in quotes or with plain dots, which TOML reads as nested tables.
fn collect(entries: &[Entry], path: &str, axes: &mut Vec<Axis>) -> Result<(), Fault> {
    for entry in entries {
        let key = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        match &entry.node.value {
            Value::Table(inner) => collect(inner, &key, axes)?,
            _ => axes.push(axis(entry, &key)?),
        }
    }
    Ok(())
}

fn axis(entry: &Entry, path: &str) -> Result<Axis, Fault> {
    let key = DottedKey::parse(path, entry.key_origin.clone())?;
    let field = format!("sweep.{}", key.text());
    let fault =
        |message: String, help: Option<&str>| Err(Fault::at(&entry.node.origin, &field, message, help.map(str::to_owned)));
    if NOT_SWEPT.contains(&key.parts[0].as_str()) {
        let message = format!("`{}` holds for the whole plan and cannot be swept", key.parts[0]);
        return Err(Fault::at(&key.origin, &field, message, None));
    }
    let Value::Array(values) = &entry.node.value else {
        return fault(
            format!("`{}` is {}: expected a list of values", entry.node.shown(), entry.node.kind()),
            Some("write [1, 2, 3]"),
        );
    };
    if values.is_empty() || values.len() > MOST_VALUES {
        return fault(format!("has {} values: allowed 1 to {MOST_VALUES}", values.len()), None);
    }
    Ok(Axis { key, values: values.clone() })
}

/// An axis must not wipe out what an earlier one set, and the grid must be of a size that can be run.
pub(super) fn check_order(axes: &[Axis]) -> Result<(), Fault> {
    for (number, axis) in axes.iter().enumerate() {
        let field = format!("sweep.{}", axis.key.text());
        if let Some(earlier) = axes[..number].iter().find(|earlier| earlier.key.is_within(&axis.key)) {
            let message = if earlier.key.parts == axis.key.parts {
                "is swept twice".to_owned()
            } else {
                format!("would replace what `{}` sets: put it before that key", earlier.key.text())
            };
            return Err(Fault::at(&axis.key.origin, &field, message, None));
        }
    }
    let points = axes.iter().try_fold(1usize, |points, axis| points.checked_mul(axis.values.len()));
    match (points, axes.last()) {
        (None, Some(last)) => Err(too_many(last, "too many".to_owned())),
        (Some(points), Some(last)) if points > MOST_POINTS => Err(too_many(last, points.to_string())),
        _ => Ok(()),
    }
}

fn too_many(last: &Axis, points: String) -> Fault {
    Fault::at(&last.key.origin, "sweep", format!("has {points} points: allowed up to {MOST_POINTS}"), None)
}

/// Makes points: the base settings, one value of each axis, then the late overrides.
pub(super) struct Expansion<'a> {
    pub(super) root: &'a Node,
    pub(super) axes: &'a [Axis],
    pub(super) late: &'a [(DottedKey, Node)],
}

impl<'a> Expansion<'a> {
    /// The settings at `choice`, which has one index for each axis.
    pub(super) fn tree(&self, choice: &[usize]) -> Result<Node, PlanError> {
        let mut tree = self.root.clone();
        for (axis, &index) in self.axes.iter().zip(choice) {
            tree.set(&axis.key, axis.values[index].clone()).map_err(PlanError::new)?;
        }
        for (key, node) in self.late {
            tree.set(key, node.clone()).map_err(PlanError::new)?;
        }
        Ok(tree)
    }

    /// Keys and values at `choice`.
    pub(super) fn set(&self, choice: &[usize]) -> Vec<(String, serde_json::Value)> {
        self.axes.iter().zip(choice).map(|(axis, &index)| (axis.key.text(), axis.values[index].to_json())).collect()
    }

    /// All combinations, the last axis changing fastest.
    pub(super) fn grid(&self) -> impl Iterator<Item = Vec<usize>> + use<'a> {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| axis.values.len()).collect();
        let points: usize = sizes.iter().product();
        (0..points).map(move |mut number| {
            let mut choice = vec![0; sizes.len()];
            for (index, size) in choice.iter_mut().zip(&sizes).rev() {
                *index = number % size;
                number /= size;
            }
            choice
        })
    }

    /// Every value of every axis once, all other axes at their first value.
    pub(super) fn one_at_a_time(&self) -> impl Iterator<Item = Vec<usize>> + use<'a> {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| axis.values.len()).collect();
        let count = sizes.len();
        sizes.into_iter().enumerate().flat_map(move |(axis, size)| {
            (1..size).map(move |index| {
                let mut choice = vec![0; count];
                choice[axis] = index;
                choice
            })
        })
    }
}
