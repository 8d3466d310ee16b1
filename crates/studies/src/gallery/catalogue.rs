//! Names that rows, tables and figures of a paper may use: its experiments, their axes, figures and
//! columns, and its probes.
//!
//! The figures of a run depend on its links and groups. Which there are is read from a run of the
//! point cut down to a few milliseconds, so a misspelled figure is found before hours of runs and
//! not after them.

use crate::gallery::error::FileFault;
use crate::gallery::evaluate::{Measure, measure};
use crate::gallery::experiment::{Axis, AxisValue, Experiment};
use crate::gallery::expr::{self, Branches, Expr, ExprError, Fault, Value};
use crate::gallery::files::{Expected, FigureSpec, Paper, Row, TableSpec};
use crate::gallery::probes;
use crate::gallery::samples::{Filter, PointData, PointsEnv, Source, TimedRun, View, at_least_one, near};
use goodqueue_base::units::Duration;
use goodqueue_lab::run::backend::Simulator;
use goodqueue_lab::run::runner;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// Length of the run that shows which figures a point has.
const GLIMPSE: Duration = Duration::ms(2);
/// Length of a second run, for figures that are there only once something happened: a transfer
/// begun, a queue signaled.
const LONGER_GLIMPSE: Duration = Duration::secs(2);
const MAX_LONGER_GLIMPSES: usize = 8;

/// Checks every expression of a paper by dry runs, in which figures are placeholders, and every
/// name in its figures and tables.
///
/// # Errors
/// At the first that is wrong, with its place in the file.
pub fn check(paper: &Paper, experiments: Vec<Experiment>) -> Result<(), FileFault> {
    let (glimpses, known) = (RefCell::default(), RefCell::default());
    let catalogue = Rc::new(Catalogue { paper: paper.id.clone(), experiments, glimpses, known });
    paper.rows.iter().try_for_each(|row| catalogue.row(paper, row))?;
    paper.tables.iter().try_for_each(|table| catalogue.table(paper, table))?;
    paper.figures.iter().try_for_each(|figure| catalogue.drawing(paper, figure))?;
    catalogue.labels(paper)
}

struct Catalogue {
    paper: String,
    experiments: Vec<Experiment>,
    /// Names of figures and of sampled columns, by experiment and point.
    glimpses: RefCell<BTreeMap<(String, usize, Duration), Rc<Glimpse>>>,
    /// Experiments and names that were found.
    known: RefCell<BTreeSet<(String, String)>>,
}

#[derive(Default)]
struct Glimpse {
    figures: BTreeSet<String>,
    columns: BTreeSet<String>,
    /// The point could not be run, so nothing is known of its names.
    is_blind: bool,
}

impl Catalogue {
    fn find(&self, id: &str) -> Result<&Experiment, Fault> {
        self.experiments.iter().find(|one| one.id == id).ok_or_else(|| {
            let ids: Vec<&str> = self.experiments.iter().map(|one| one.id.as_str()).collect();
            Fault::Unknown(format!("`{id}` is no experiment of paper.toml: allowed {}", ids.join(", ")))
        })
    }

    fn row(self: &Rc<Self>, paper: &Paper, row: &Row) -> Result<(), FileFault> {
        let needs_truth = matches!(row.expected.get_ref(), Expected::Truth(_));
        let needed = if needs_truth { "true or false" } else { "a number or a list of numbers" };
        let checked = self.dry(&row.expr, &[], |value| {
            let fits = match measure(value.clone()) {
                Ok(Measure::Truth(_) | Measure::Truths(_)) => needs_truth,
                Ok(Measure::Number(_) | Measure::Numbers(_)) => !needs_truth,
                Err(_) => false,
            };
            let message = || format!("gives {}: relation `{}` needs {needed}", value.kind(), row.relation.sign());
            if fits { Ok(()) } else { Err(Fault::Type(message())) }
        });
        let field = || format!("row.{}.measure", row.id.get_ref());
        checked.map_err(|error| paper.expected_source.fault_in(&row.measure, &error, &field()))
    }

    /// Dry runs of an expression that together reach its branches. Those that end for want of
    /// measured values show no mistake.
    fn dry(
        self: &Rc<Self>,
        expr: &Expr,
        bound: &[(&str, Value)],
        check: impl Fn(&Value) -> Result<(), Fault>,
    ) -> Result<(), ExprError> {
        for branches in Branches::ALL {
            let env = PointsEnv { source: Rc::<Self>::clone(self), replications: 1, view: View::Mean, here: None };
            let value = expr::dry_run(expr, bound, Rc::new(env), branches);
            let checked = value.and_then(|value| check(&value).map_err(|fault| ExprError { at: 0, fault }));
            checked.or_else(|error| if error.fault.is_mistake() { Err(error) } else { Ok(()) })?;
        }
        Ok(())
    }

    fn table(self: &Rc<Self>, paper: &Paper, table: &TableSpec) -> Result<(), FileFault> {
        let field = format!("table.{}", table.id.get_ref());
        let mut rows: Vec<&AxisValue> = Vec::new();
        for id in table.experiment.get_ref() {
            let axis = self.find(id).and_then(|one| one.axis(table.rows.get_ref()));
            let axis =
                axis.map_err(|fault| paper.source.fault(&table.rows.span(), &format!("{field}.rows"), fault.to_string()))?;
            rows.extend(&axis.values);
        }
        rows.sort_by(|one, other| one.text.cmp(&other.text));
        rows.dedup();
        for column in &table.columns {
            let field = format!("{field}.columns.{}.measure", column.label);
            let wrong = |error: ExprError| paper.source.fault_in(&column.measure, &error, &field);
            let expr = expr::parse(column.measure.get_ref(), &["row"]).map_err(wrong)?;
            for row in &rows {
                let is_number = |value: &Value| match value {
                    Value::Number(_) => Ok(()),
                    other => Err(Fault::Type(format!("gives {}: expected a number", other.kind()))),
                };
                self.dry(&expr, &[("row", row.value())], is_number).map_err(wrong)?;
            }
        }
        Ok(())
    }

    fn drawing(&self, paper: &Paper, figure: &FigureSpec) -> Result<(), FileFault> {
        let field = format!("figure.{}", figure.id.get_ref());
        let wrong = |fault: Fault| paper.source.fault(&figure.id.span(), &field, fault.to_string());
        let axes = [&figure.x, &figure.curve, &figure.panel];
        for id in figure.experiment.get_ref() {
            let experiment = self.find(id).map_err(wrong)?;
            for axis in axes.into_iter().flatten() {
                let of = experiment.axis(axis.get_ref());
                of.map_err(|fault| paper.source.fault(&axis.span(), &field, fault.to_string()))?;
            }
            if Filter::of_spec(&figure.filter).points(experiment).map_err(wrong)?.is_empty() {
                return Err(wrong(Fault::Unknown(format!("no point of `{id}` fits `where`"))));
            }
            figure.y.iter().flatten().try_for_each(|metric| self.has_figure(id, metric)).map_err(wrong)?;
            figure.series.iter().flatten().try_for_each(|column| self.has_column(id, column)).map_err(wrong)?;
        }
        Ok(())
    }

    /// Checks that each label is for something that figures can show.
    fn labels(&self, paper: &Paper) -> Result<(), FileFault> {
        for name in paper.labels.keys() {
            let is = |axis: &Axis| axis.name == *name.get_ref() || axis.values.iter().any(|value| value.text == *name.get_ref());
            if !self.experiments.iter().flat_map(|one| &one.axes).any(is) {
                let message = format!("`{}` is neither an axis nor a value of one", name.get_ref());
                return Err(paper.source.fault(&name.span(), "labels", message));
            }
        }
        Ok(())
    }

    fn glimpse(&self, experiment: &Experiment, point: usize, length: Duration) -> Rc<Glimpse> {
        let key = (experiment.id.clone(), point, length);
        if let Some(known) = self.glimpses.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut short = experiment.points[point].clone();
        (short.plan.warmup, short.plan.duration) = (Duration::ZERO, length);
        let run = runner::run_single(&Simulator, &short, 0, Some(Some(length)), &AtomicBool::new(false), &mut |_| {});
        let glimpse = match run {
            Some(Ok(run)) => {
                let data = PointData::of(&[], vec![TimedRun { run: Ok(run), cpu_s: 0.0 }]);
                let columns = data.series.into_iter().flatten().map(|(name, _)| name).collect();
                Glimpse { figures: data.samples.into_keys().collect(), columns, is_blind: false }
            }
            _ => Glimpse { is_blind: true, ..Glimpse::default() },
        };
        let glimpse = Rc::new(glimpse);
        self.glimpses.borrow_mut().insert(key, Rc::clone(&glimpse));
        glimpse
    }

    /// Checks that one of the points has a name.
    fn named(&self, id: &str, what: &str, name: &str, of: fn(&Glimpse) -> &BTreeSet<String>) -> Result<(), Fault> {
        let experiment = self.find(id)?;
        let key = (id.to_owned(), format!("{what} {name}"));
        if self.known.borrow().contains(&key) {
            return Ok(());
        }
        let has = |point, length| {
            let glimpse = self.glimpse(experiment, point, length);
            glimpse.is_blind || of(&glimpse).contains(name)
        };
        let points = 0..experiment.points.len();
        let few = points.clone().step_by(points.len().div_ceil(MAX_LONGER_GLIMPSES).max(1));
        if points.clone().any(|point| has(point, GLIMPSE)) || few.clone().any(|point| has(point, LONGER_GLIMPSE)) {
            self.known.borrow_mut().insert(key);
            return Ok(());
        }
        let first = self.glimpse(experiment, 0, GLIMPSE);
        let near = near(of(&first).iter(), name);
        Err(Fault::Unknown(format!("`{id}` has no {what} `{name}`; there are {near} …")))
    }
    fn has_figure(&self, experiment: &str, figure: &str) -> Result<(), Fault> {
        self.named(experiment, "figure", figure, |glimpse| &glimpse.figures)
    }

    fn has_column(&self, experiment: &str, column: &str) -> Result<(), Fault> {
        if self.find(experiment)?.series.is_none() {
            return Err(Fault::Unknown(format!("`{experiment}` keeps no series: set `series = true` in paper.toml")));
        }
        self.named(experiment, "column", column, |glimpse| &glimpse.columns)
    }
}

/// A figure that nobody has measured yet.
const PLACEHOLDER: f64 = 1.0;

impl Source for Catalogue {
    fn experiment(&self, id: &str) -> Result<&Experiment, Fault> {
        self.find(id)
    }

    fn points(&self, id: &str, filter: &[(String, Value)]) -> Result<Vec<usize>, Fault> {
        let experiment = self.find(id)?;
        let fitting = |filter: &[(String, Value)]| Filter::of_entries(filter)?.points(experiment);
        for (axis, wanted) in filter {
            let each = if let Value::Array(each) = wanted { &each[..] } else { std::slice::from_ref(wanted) };
            for value in each {
                if fitting(&[(axis.clone(), value.clone())])?.is_empty() {
                    return Err(Fault::Unknown(format!("no point of `{id}` has {axis} = {value}")));
                }
            }
        }
        at_least_one(id, fitting(filter)?)
    }

    fn figure(&self, id: &str, _at: usize, name: &str, _view: View, _default: Option<f64>) -> Result<f64, Fault> {
        self.has_figure(id, name).map(|()| PLACEHOLDER)
    }

    fn each(&self, id: &str, _at: usize, name: &str) -> Result<Vec<f64>, Fault> {
        self.has_figure(id, name).map(|()| vec![PLACEHOLDER])
    }

    fn series(&self, id: &str, _at: usize, name: &str, _replication: usize) -> Result<Value, Fault> {
        self.has_column(id, name).map(|()| Value::array([Value::numbers([0.0, PLACEHOLDER])]))
    }

    fn probe(&self, name: &str, given: &[Value]) -> Result<Value, Fault> {
        let probe = probes::checked(&self.paper, name, given)?.0;
        Ok(if probe.gives_truth() { Value::Bool(true) } else { Value::Number(PLACEHOLDER) })
    }
}
