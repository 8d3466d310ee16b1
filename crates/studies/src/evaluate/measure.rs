//! Measures: the values read from a run, and their form in tables.

use crate::gallery::expr::{self, Branches, Env, ExprError, Fault, Value};
use crate::gallery::samples::{Measured, Points, PointsEnv, View};
use goodqueue_lab::results::metrics::{Better, Description, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Quantity};
use serde::{Deserialize, Serialize, Serializer};
use std::cell::RefCell;
use std::rc::Rc;

/// The source of a column's values, as `evaluation.toml` has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ColumnSpec {
    /// A figure by its path in `summary.json`: `links.bottleneck.sojourn_s.p95`.
    Figure(String),
    /// An expression, in which `one` and `series` ask for the point of the line.
    Measure {
        /// As in rows of the gallery.
        measure: String,
        /// The figure in whose unit it is, and which is better in the same direction.
        #[serde(default)]
        like: Option<String>,
    },
}

/// A column of a family's table.
#[derive(Clone, Debug, Serialize)]
pub struct Measure {
    /// The heading of the column.
    pub head: String,
    /// The figures that it reads, by their paths in `summary.json`.
    pub paths: Vec<String>,
    /// The direction in which values are better, and their printed form.
    #[serde(rename = "better", serialize_with = "direction")]
    pub scale: Scale,
    /// The aspect that it counts for in the scorecard; `None` only reports it.
    pub aspect: Option<Aspect>,
    #[serde(skip)]
    source: ColumnSpec,
}

/// An aspect of performance that a scorecard counts, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// The time that packets wait.
    Delay,
    /// The amount of data that gets through.
    Goodput,
    /// The losses.
    Loss,
    /// The fairness of shares.
    Fairness,
    /// The quality of short transfers, pages, calls and videos.
    Experience,
    /// The stability under changing load, such as the time it takes to settle.
    Stability,
}

impl Aspect {
    /// Returns the heading of the aspect.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Goodput => "goodput",
            Self::Loss => "loss",
            Self::Fairness => "fairness",
            Self::Experience => "experience",
            Self::Stability => "stability",
        }
    }
}

/// The direction in which values of a measure are better, and their printed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The factor that values are multiplied by before they are printed.
    pub factor: f64,
    /// The unit then.
    pub unit: &'static str,
    /// The direction in which values are better.
    pub better: Better,
}

impl Scale {
    /// The scale of a figure; of anything else plain numbers, of which neither end is better.
    fn of(path: &str) -> Self {
        let Some(about) = description(path) else { return Self { factor: 1.0, unit: "", better: Better::Neither } };
        let (factor, unit) = match about.quantity {
            Quantity::Time => (1e3, "ms"),
            Quantity::Rate => (1e-6, "Mbit/s"),
            Quantity::Ratio => (100.0, "%"),
            Quantity::Bytes => (1e-3, "kB"),
            Quantity::Packets => (1.0, "packets"),
            Quantity::Number | Quantity::Count(_) => (1.0, ""),
        };
        Self { factor, unit, better: about.better }
    }
}

fn direction<S: Serializer>(scale: &Scale, serializer: S) -> Result<S::Ok, S::Error> {
    match scale.better {
        Better::Higher => serializer.serialize_str("higher"),
        Better::Lower => serializer.serialize_str("lower"),
        Better::Neither => serializer.serialize_none(),
    }
}

impl Measure {
    /// The measure of a column.
    pub(super) fn of(head: &str, source: &ColumnSpec, aspect: Option<Aspect>) -> Result<Self, ExprError> {
        let (paths, like) = match source {
            ColumnSpec::Figure(path) => (vec![path.clone()], path.as_str()),
            ColumnSpec::Measure { measure, like } => (asked(measure)?, like.as_deref().unwrap_or_default()),
        };
        Ok(Self { head: head.to_owned(), paths, scale: Scale::of(like), aspect, source: source.clone() })
    }

    /// Returns the value of the measure in each replication of a point of an experiment.
    pub(super) fn samples(&self, measured: &Rc<[Measured]>, id: &str, point: usize) -> Vec<Option<f64>> {
        let one = measured.iter().find(|one| one.experiment.id == id);
        let Some(data) = one.and_then(|one| one.points[point].as_ref()) else { return Vec::new() };
        let replications = data.fingerprints.len();
        let measure = match &self.source {
            ColumnSpec::Figure(path) => return data.samples.get(path).cloned().unwrap_or_else(|| vec![None; replications]),
            ColumnSpec::Measure { measure, .. } => measure,
        };
        // It could be parsed when the suite was read.
        let Ok(expr) = expr::parse(measure, &[]) else { return vec![None; replications] };
        let source = Rc::new(Points { measured: Rc::clone(measured), paper: String::new() });
        let value = |number: usize| {
            let (source, here) = (Rc::<Points>::clone(&source), Some((id.to_owned(), point)));
            let env = PointsEnv { source, replications, view: View::Replication(number), here };
            match expr::evaluate(&expr, &[], Rc::new(env)) {
                Ok(Value::Number(number)) => Some(number),
                _ => None,
            }
        };
        (0..replications).map(value).collect()
    }
}

/// Figures that an expression asks for, found by a run without any.
fn asked(measure: &str) -> Result<Vec<String>, ExprError> {
    #[derive(Default)]
    struct Listening(RefCell<Vec<String>>);
    impl Env for Listening {
        fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, Fault> {
            match (name, arguments) {
                ("one", [Value::Text(figure)]) => {
                    self.0.borrow_mut().push(figure.clone());
                    Ok(Value::Number(1.0))
                }
                ("series", [Value::Text(_)]) => Ok(Value::array([Value::numbers([0.0, 1.0])])),
                _ => Err(expr::unfit(name, arguments)),
            }
        }
    }
    let env = Rc::new(Listening::default());
    expr::dry_run(&expr::parse(measure, &[])?, &[], Rc::<Listening>::clone(&env), Branches::ALL[0])?;
    Ok(env.0.take())
}

/// The description of a figure by its path.
pub(crate) fn description(path: &str) -> Option<&'static Description> {
    if let Some(name) = path.strip_prefix("jain.") {
        return JAIN_METRICS.iter().map(|metric| &metric.about).find(|about| about.name == name);
    }
    // Names of links have dots, too; of two figures whose names end a path, the longer is meant.
    let ends = |about: &&Description| path.strip_suffix(about.name).is_some_and(|before| before.ends_with('.'));
    if path.starts_with("groups.") {
        return GROUP_METRICS.iter().map(|metric| &metric.about).filter(ends).max_by_key(|about| about.name.len());
    }
    let links = || LINK_METRICS.iter().map(|metric| &metric.about);
    if path.starts_with("links.") {
        return links().filter(ends).max_by_key(|about| about.name.len());
    }
    // A series of a link; times are means over the sampling period.
    let (_, name) = path.rsplit_once('.')?;
    links().find(|about| about.name == name || about.name.strip_suffix(".mean") == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::experiment::Experiment;
    use crate::gallery::samples::PointData;
    use goodqueue_lab::scenario::plan::Plan;
    use std::path::Path;

    const SCENARIO: &str = "goodqueue = 1\nduration = \"1 s\"\n[link.l]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"\n\
                            [[traffic]]\nkind = \"bulk\"\n";

    fn measured(samples: &[(&str, &[Option<f64>])]) -> Rc<[Measured]> {
        let plan = Plan::parse("e", SCENARIO, Path::new("")).unwrap();
        let text = |text: &str| text.to_owned();
        let experiment = Experiment {
            paper: text("p"),
            id: text("e"),
            about: String::new(),
            file: text("e.toml"),
            overrides: Vec::new(),
            points: plan.points().unwrap(),
            plan,
            axes: Vec::new(),
            series: None,
        };
        let data = PointData {
            summary: serde_json::Value::Null,
            samples: samples.iter().map(|(path, values)| ((*path).to_owned(), values.to_vec())).collect(),
            series: Vec::new(),
            cpu_s: vec![0.0; 2],
            events: 0,
            fingerprints: vec!["0".into(); 2],
            failures: Vec::new(),
        };
        Rc::new([Measured { experiment, points: vec![Some(data)] }])
    }

    fn expression(measure: &str, like: Option<&str>) -> Result<Measure, ExprError> {
        Measure::of("", &ColumnSpec::Measure { measure: measure.to_owned(), like: like.map(str::to_owned) }, None)
    }

    #[test]
    fn measures_are_taken_run_by_run() {
        let (a, b) = ("groups.a.goodput_bit_s", "groups.b.goodput_bit_s");
        let measured = measured(&[(a, &[Some(6.0), Some(9.0)]), (b, &[Some(3.0), Some(0.0)])]);
        let samples = |measure: &Measure| measure.samples(&measured, "e", 0);
        let ratio = expression(&format!("one({a:?}) / one({b:?})"), None).unwrap();
        assert_eq!((samples(&ratio), ratio.paths.join(" ")), (vec![Some(2.0), None], format!("{a} {b}")));
        let figure = |path: &str| Measure::of("", &ColumnSpec::Figure(path.to_owned()), None).unwrap();
        assert_eq!(samples(&figure(a)), [Some(6.0), Some(9.0)]);
        assert_eq!(samples(&figure("groups.c.goodput_bit_s")), [None; 2]);
        assert_eq!(figure(a).samples(&measured, "f", 0), []);
    }

    #[test]
    fn a_wrong_measure_is_refused_when_it_is_read() {
        let said = |measure: &str| expression(measure, None).unwrap_err().to_string();
        assert_eq!(said("one("), "character 5: Expecting ')' to close the arguments list of this function call 'one'");
        assert!(said(r#"two("a")"#).contains("there is no function `two`"), "{}", said(r#"two("a")"#));
    }

    #[test]
    fn figures_are_shown_in_the_units_of_their_descriptions() {
        let scale = Scale::of;
        assert_eq!(scale("links.l.sojourn_s.p95"), Scale { factor: 1e3, unit: "ms", better: Better::Lower });
        assert_eq!(scale("groups.bulk.goodput_bit_s"), Scale { factor: 1e-6, unit: "Mbit/s", better: Better::Higher });
        assert_eq!(scale("jain.goodput").better, Better::Higher);
        let phase = expression(r#"mean(values(series("l.sojourn_s")))"#, Some("l.sojourn_s")).unwrap();
        assert_eq!((phase.scale.unit, phase.paths.len()), ("ms", 0));
    }
}
