//! A paper's experiments in one mode: scenarios with that mode's settings, their points and axes.

pub use super::axis_value::AxisValue;
pub use super::axis_value::same;
use crate::gallery::error::GalleryError;
use crate::gallery::expr::Fault;
use crate::gallery::files::{ExperimentSpec, FigureKind, Paper};
use goodqueue_base::units::Duration;
use goodqueue_lab::quantity;
use goodqueue_lab::scenario::plan::{Plan, Point};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The extent of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Fewer replications and shorter runs of the same points.
    Quick,
    /// The studies' own counts.
    Full,
}

impl Mode {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// An experiment ready to be run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The id of the paper.
    pub paper: String,
    /// `cp-1`.
    pub id: String,
    /// One line.
    pub about: String,
    /// The scenario's file within the gallery.
    pub file: String,
    /// The settings changed in it, as `--set` would.
    pub overrides: Vec<(String, String)>,
    /// The scenario.
    pub plan: Plan,
    /// The points of the scenario.
    pub points: Vec<Point>,
    /// Short names and swept keys, in the order of the sweep.
    pub axes: Vec<Axis>,
    /// Time between samples of the series kept: `None` keeps none, `Some(None)` as many as fit.
    pub series: Option<Option<Duration>>,
}

/// One swept key.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The short name of the key; the key itself where the paper gives none.
    pub name: String,
    /// The swept key.
    pub key: String,
    /// The value at each point.
    pub values: Vec<AxisValue>,
}

/// Returns the values of one axis. Tables of one kind that differ are distinguished by the
/// parameters that do: `tail-drop:limit=30 ms`; one that is not given is `default`.
fn values(all: &[&serde_json::Value]) -> Vec<AxisValue> {
    let of = |value: &serde_json::Value| {
        let mut own = AxisValue::of(value);
        let Some(table) = value.as_object().filter(|table| !table.contains_key("name")) else { return own };
        let alike = all.iter().filter_map(|other| other.as_object()).filter(|other| other.get("kind") == table.get("kind"));
        let keys: BTreeSet<&String> = alike.clone().flat_map(|other| other.keys()).collect();
        for key in keys.into_iter().filter(|key| alike.clone().any(|other| other.get(*key) != table.get(*key))) {
            let parameter = table.get(key).map_or_else(|| "default".to_owned(), |parameter| AxisValue::of(parameter).text);
            own.text = format!("{}:{key}={parameter}", own.text);
        }
        own
    };
    all.iter().map(|value| of(value)).collect()
}

impl Experiment {
    /// Reads an experiment's scenario and sets what the mode, and then `more`, says.
    ///
    /// # Errors
    /// When the scenario or a setting is wrong, or an axis is not swept.
    pub fn load(paper: &Paper, spec: &ExperimentSpec, mode: Mode, more: &[(String, String)]) -> Result<Self, GalleryError> {
        let path = paper.folder.join(spec.file.get_ref());
        let mut overrides = match mode {
            Mode::Quick => spec.quick.overrides(),
            Mode::Full => spec.full.overrides(),
        };
        overrides.extend_from_slice(more);
        let plan = Plan::load(&path)?.with_overrides(&overrides)?;
        let points = plan.points()?;
        let axes = axes(paper, spec, &plan, &points)?;
        let time = paper.figures.iter().any(|figure| {
            figure.kind == FigureKind::Time && figure.experiment.get_ref().iter().any(|id| id == spec.id.get_ref())
        });
        let series = (spec.series || spec.sample.is_some() || time).then(|| sample(paper, spec)).transpose()?;
        Ok(Self {
            paper: paper.id.clone(),
            id: spec.id.get_ref().clone(),
            about: spec.about.clone(),
            file: format!("gallery/{}/{}", paper.id, spec.file.get_ref()),
            overrides,
            plan,
            points,
            axes,
            series,
        })
    }

    /// The command that runs one point by itself.
    #[must_use]
    pub fn command(&self, point: usize) -> String {
        let quoted = |text: &str| {
            let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "=.-_/".contains(c));
            if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
        };
        let mut command = format!("gq run {}", quoted(&self.file));
        for (key, value) in self.settings_of(point) {
            let _ = write!(command, " --set {}", quoted(&format!("{key}={value}")));
        }
        command
    }

    /// The scenario's file name; a copy of it is next to the results.
    #[must_use]
    pub fn scenario_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }

    /// The number of runs: points times replications.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.points.len() * self.plan.replications() as usize
    }

    /// An axis by its short name or its key.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn axis(&self, name: &str) -> Result<&Axis, Fault> {
        let found = self.axes.iter().find(|axis| axis.name == name).or_else(|| self.axes.iter().find(|axis| axis.key == name));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            Fault::Unknown(format!("`{}` has no axis `{name}`: allowed {names}", self.id))
        })
    }

    /// The settings that pick one point out of the file, as `--set` takes them, those of the mode
    /// included.
    #[must_use]
    pub fn settings_of(&self, point: usize) -> Vec<(String, String)> {
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => text.clone(),
            other => toml_text(other),
        };
        let swept = self.points[point].set.iter().map(|(key, value)| (key.clone(), text(value)));
        swept.chain(self.overrides.iter().cloned()).collect()
    }
}

/// A JSON value as one line of TOML.
fn toml_text(value: &serde_json::Value) -> String {
    use serde_json::Value as Json;
    match value {
        Json::Object(table) => {
            let key = |key: &str| {
                let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
                if bare { key.to_owned() } else { Json::from(key).to_string() }
            };
            let entries: Vec<String> = table.iter().map(|(name, item)| format!("{} = {}", key(name), toml_text(item))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(toml_text).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn axes(paper: &Paper, spec: &ExperimentSpec, plan: &Plan, points: &[Point]) -> Result<Vec<Axis>, GalleryError> {
    let keys: Vec<String> = plan.swept().map(|(key, _)| key).collect();
    for (name, key) in &spec.axes {
        if !keys.contains(key.get_ref()) && !plan.overrides().iter().any(|(set, _)| set == key.get_ref()) {
            let allowed = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
            let message = format!("`{}` is not swept by {}: allowed {allowed}", key.get_ref(), spec.file.get_ref());
            let field = format!("experiment.{}.axes.{name}", spec.id.get_ref());
            return Err(paper.source.fault(&key.span(), &field, message).into());
        }
    }
    let name = |key: &String| {
        let short = spec.axes.iter().find(|(_, named)| named.get_ref() == key);
        short.map_or_else(|| key.clone(), |(name, _)| name.clone())
    };
    let axis = |(at, key): (usize, &String)| Axis {
        name: name(key),
        key: key.clone(),
        values: values(&points.iter().map(|point| &point.set[at].1).collect::<Vec<_>>()),
    };
    Ok(keys.iter().enumerate().map(axis).collect())
}

fn sample(paper: &Paper, spec: &ExperimentSpec) -> Result<Option<Duration>, GalleryError> {
    let Some(text) = &spec.sample else { return Ok(None) };
    let field = format!("experiment.{}.sample", spec.id.get_ref());
    let fault = |message: String| paper.source.fault(&text.span(), &field, message);
    let period = quantity::duration(text.get_ref()).map_err(|error| fault(error.to_string()))?;
    if period.as_nanos() == 0 {
        return Err(fault("must not be zero".to_owned()).into());
    }
    Ok(Some(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_one_kind_are_told_apart() {
        let swept = serde_json::json!([
            "codel", { "kind": "gsp", "threshold": "2 ms" }, { "kind": "tail-drop", "limit": "2.5 ms" }, { "kind": "tail-drop", "limit": "30 ms" },
            { "kind": "pie", "ecn": true }, { "kind": "pie" }, { "kind": "tail-drop", "limit": "30 ms" }, { "name": "web", "kind": "web" },
        ]);
        let swept: Vec<&serde_json::Value> = swept.as_array().expect("a list").iter().collect();
        let axis = values(&swept);
        let texts: Vec<&str> = axis.iter().map(|value| value.text.as_str()).collect();
        let long = "tail-drop:limit=30 ms";
        assert_eq!(texts, ["codel", "gsp", "tail-drop:limit=2.5 ms", long, "pie:ecn=true", "pie:ecn=default", long, "web"]);
        let fits = |text| axis.iter().filter(|value| value.is(text)).count();
        assert_eq!((fits("tail-drop"), fits(long), fits("pie"), fits("tail"), fits("limit=30 ms")), (3, 2, 2, 0, 0));
    }
}
