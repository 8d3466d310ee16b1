//! The `[sweep]` table: dotted keys with lists of values, and the grid they span.

use super::tree::{DottedKey, Entry, Node, Value};
use crate::scenario::diagnostic::{Fault, PlanError};

/// One swept key.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) key: DottedKey,
    /// At least one.
    pub(super) values: Vec<Node>,
}

const MAX_VALUES: usize = 10_000;
const MAX_POINTS: usize = 100_000;
/// These hold for the plan as a whole.
const NOT_SWEPT: &[&str] = &["goodqueue", "name", "description", "replications", "seed", "sweep"];

/// The way in which the values of the axes are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[sweep]`: every value of one with every value of the others.
    Grid,
    /// `[[sweep]]`: the first values together, the second values together, and so on.
    List,
}

/// Takes `[sweep]` or all `[[sweep]]` out of the document.
pub(super) fn take_axes(root: &mut Node) -> Result<(Vec<Axis>, Layout), Fault> {
    let Some(sweep) = root.take("sweep") else { return Ok((Vec::new(), Layout::Grid)) };
    let mut axes = Vec::new();
    match &sweep.node.value {
        Value::Table(entries) => collect(entries, "", &mut axes).map(|()| (axes, Layout::Grid)),
        Value::Array(items) => Ok((listed(items, &sweep)?, Layout::List)),
        _ => Err(Fault::at(&sweep.node.origin, "sweep", format!("is {}: expected a table", sweep.node.kind()), None)),
    }
}

/// The axes of a list of points, each of which names the same keys.
fn listed(items: &[Node], sweep: &Entry) -> Result<Vec<Axis>, Fault> {
    if items.is_empty() || items.len() > MAX_POINTS {
        let message = format!("has {} points: allowed 1 to {MAX_POINTS}", items.len());
        return Err(Fault::at(&sweep.node.origin, "sweep", message, None));
    }
    let mut axes: Vec<Axis> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let field = format!("sweep.{number}");
        let fault = |message: String, help: &str| Err(Fault::at(&item.origin, &field, message, Some(help.to_owned())));
        let Value::Table(entries) = &item.value else {
            return fault(format!("is {}: expected a table", item.kind()), "write [[sweep]] and below it a line for each key");
        };
        if number == 0 {
            axes = entries.iter().map(|entry| listed_axis(entry, items.len())).collect::<Result<_, _>>()?;
        }
        if axes.is_empty() || entries.len() != axes.len() {
            return fault(format!("sets {} keys: every point sets the same, the first sets {}", entries.len(), axes.len()), SAME);
        }
        for axis in &mut axes {
            let Some(entry) = entries.iter().find(|entry| entry.key.trim() == axis.key.text()) else {
                return fault(format!("does not set `{}`, which the first point sets", axis.key.text()), SAME);
            };
            axis.values.push(entry.node.clone());
        }
    }
    Ok(axes)
}

const SAME: &str = "give each point a value of each key";

fn listed_axis(entry: &Entry, points: usize) -> Result<Axis, Fault> {
    let key = DottedKey::parse(&entry.key, entry.key_origin.clone())?;
    let field = format!("sweep.0.{}", key.text());
    check_swept(&key, &field)?;
    if key.parts.len() == 1 && matches!(entry.node.value, Value::Table(_)) {
        let message = format!("`{}` is a table", key.text());
        let help = "write keys in quotes: \"link.bottleneck.rate\" = \"10 Mbit/s\"".to_owned();
        return Err(Fault::at(&key.origin, &field, message, Some(help)));
    }
    Ok(Axis { key, values: Vec::with_capacity(points) })
}

fn check_swept(key: &DottedKey, field: &str) -> Result<(), Fault> {
    if NOT_SWEPT.contains(&key.parts[0].as_str()) {
        let message = format!("`{}` holds for the whole plan and cannot be swept", key.parts[0]);
        return Err(Fault::at(&key.origin, field, message, None));
    }
    Ok(())
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
    check_swept(&key, &field)?;
    let Value::Array(values) = &entry.node.value else {
        return fault(
            format!("`{}` is {}: expected a list of values", entry.node.shown(), entry.node.kind()),
            Some("write [1, 2, 3]"),
        );
    };
    if values.is_empty() || values.len() > MAX_VALUES {
        return fault(format!("has {} values: allowed 1 to {MAX_VALUES}", values.len()), None);
    }
    Ok(Axis { key, values: values.clone() })
}

/// An axis must not wipe out what an earlier one set, and the grid must be of a size that can be
/// run.
pub(super) fn check_order(axes: &[Axis], layout: Layout) -> Result<(), Fault> {
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
    if layout == Layout::List {
        return Ok(());
    }
    let points = axes.iter().try_fold(1usize, |points, axis| points.checked_mul(axis.values.len()));
    match (points, axes.last()) {
        (None, Some(last)) => Err(too_many(last, "too many".to_owned())),
        (Some(points), Some(last)) if points > MAX_POINTS => Err(too_many(last, points.to_string())),
        _ => Ok(()),
    }
}

fn too_many(last: &Axis, points: String) -> Fault {
    Fault::at(&last.key.origin, "sweep", format!("has {points} points: allowed up to {MAX_POINTS}"), None)
}

/// Makes points: the base settings, one value of each axis, then the late overrides.
pub(super) struct Expansion<'a> {
    pub(super) root: &'a Node,
    pub(super) axes: &'a [Axis],
    pub(super) layout: Layout,
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

    /// The number of points.
    pub(super) fn point_count(&self) -> usize {
        let sizes = self.axes.iter().map(|axis| axis.values.len());
        match self.layout {
            Layout::Grid => sizes.product(),
            Layout::List => sizes.min().unwrap_or(1),
        }
    }

    /// The values of point `number`: in a grid the last axis changes fastest.
    pub(super) fn choice(&self, mut number: usize) -> Vec<usize> {
        if self.layout == Layout::List {
            return vec![number % self.point_count().max(1); self.axes.len()];
        }
        let mut choice = vec![0; self.axes.len()];
        for (index, axis) in choice.iter_mut().zip(self.axes).rev() {
            *index = number % axis.values.len();
            number /= axis.values.len();
        }
        choice
    }

    /// Every value of every axis once, all other axes at their first value. Values of a list stand
    /// for no more than themselves, so its points are looked at when their turn comes.
    pub(super) fn one_at_a_time(&self) -> impl Iterator<Item = Vec<usize>> + use<'a> {
        let axes = if self.layout == Layout::List { &[] } else { self.axes };
        let sizes: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
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
