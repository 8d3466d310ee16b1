//! Names that rows, tables and figures of a paper may use: its experiments, their axes, figures and
//! columns, and its probes.
//!
//! The figures of a run depend on its links and groups. Which there are is read from a run of the
//! point cut down to a few milliseconds, so a misspelled figure is found before hours of runs and
//! not after them.

use crate::gallery::error::FileFault;
use crate::gallery::experiment::{Axis, AxisValue, Experiment};
use crate::gallery::expr::types::{self, Literal, Names, Static, Type};
use crate::gallery::expr::{self, ExprError, Fault, Value};
use crate::gallery::files::{Expected, FigureSpec, Paper, Row, TableSpec};
use crate::gallery::probes;
use crate::gallery::samples::{Filter, PointData, TimedRun, near};
use goodqueue_base::units::Duration;
use goodqueue_lab::runner;
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

/// Checks every expression of a paper, and every name in its figures and tables.
///
/// # Errors
/// At the first that is wrong, with its place in the file.
pub fn check(paper: &Paper, experiments: &[Experiment]) -> Result<(), FileFault> {
    let catalogue = Catalogue { paper: &paper.id, experiments, glimpses: RefCell::default() };
    paper.rows.iter().try_for_each(|row| catalogue.row(paper, row))?;
    paper.tables.iter().try_for_each(|table| catalogue.table(paper, table))?;
    paper.figures.iter().try_for_each(|figure| catalogue.drawing(paper, figure))?;
    catalogue.labels(paper)
}

struct Catalogue<'a> {
    paper: &'a str,
    experiments: &'a [Experiment],
    /// Names of figures and of sampled columns, by experiment and point.
    glimpses: RefCell<BTreeMap<(String, usize, Duration), Rc<Glimpse>>>,
}

#[derive(Default)]
struct Glimpse {
    figures: BTreeSet<String>,
    columns: BTreeSet<String>,
    /// The point could not be run, so nothing is known of its names.
    is_blind: bool,
}

impl Catalogue<'_> {
    fn experiment(&self, id: &str) -> Result<&Experiment, Fault> {
        self.experiments.iter().find(|one| one.id == id).ok_or_else(|| {
            let ids: Vec<&str> = self.experiments.iter().map(|one| one.id.as_str()).collect();
            Fault::Unknown(format!("`{id}` is no experiment of paper.toml: allowed {}", ids.join(", ")))
        })
    }

    fn row(&self, paper: &Paper, row: &Row) -> Result<(), FileFault> {
        let field = format!("row.{}.measure", row.id.get_ref());
        let wrong = |error: &ExprError| paper.expected_source.fault_in(&row.measure, error, &field);
        let of = types::check(&row.expr, &[], self).map_err(|error| wrong(&error))?;
        let is_truth = |of: &Static| of.ty == Type::Bool;
        let is_number = |of: &Static| of.ty == Type::Number;
        let (fits, needed) = match row.expected.get_ref() {
            Expected::Truth(_) => (is(&of, is_truth), "true or false"),
            Expected::Number(_) | Expected::Range(_) => (is(&of, is_number), "a number or a list of numbers"),
        };
        if fits {
            return Ok(());
        }
        let message = format!("gives {of}: relation `{}` needs {needed}", row.relation.sign());
        Err(wrong(&ExprError { at: 0, fault: Fault::Type(message) }))
    }

    fn table(&self, paper: &Paper, table: &TableSpec) -> Result<(), FileFault> {
        let field = format!("table.{}", table.id.get_ref());
        let mut values = Vec::new();
        for id in table.experiment.get_ref() {
            let of = self.axis(id, table.rows.get_ref());
            values
                .extend(of.map_err(|fault| paper.source.fault(&table.rows.span(), &format!("{field}.rows"), fault.to_string()))?);
        }
        // Each row by itself: a column may only make sense for the names of this axis.
        let row = Static::one_of(values);
        for column in &table.columns {
            let field = format!("{field}.columns.{}.measure", column.label);
            let wrong = |error: &ExprError| paper.source.fault_in(&column.measure, error, &field);
            let of = expr::parse(column.measure.get_ref())
                .and_then(|expr| types::check(&expr, &[("row", row.clone())], self))
                .map_err(|error| wrong(&error))?;
            if of.ty != Type::Number {
                let message = format!("gives {of}: expected a number");
                return Err(wrong(&ExprError { at: 0, fault: Fault::Type(message) }));
            }
        }
        Ok(())
    }

    fn drawing(&self, paper: &Paper, figure: &FigureSpec) -> Result<(), FileFault> {
        let field = format!("figure.{}", figure.id.get_ref());
        let wrong = |fault: Fault| paper.source.fault(&figure.id.span(), &field, fault.to_string());
        let axes = [&figure.x, &figure.curve, &figure.panel];
        for id in figure.experiment.get_ref() {
            let experiment = self.experiment(id).map_err(wrong)?;
            for axis in axes.into_iter().flatten() {
                let of = experiment.axis(axis.get_ref());
                of.map_err(|fault| paper.source.fault(&axis.span(), &field, fault.to_string()))?;
            }
            if Filter::of_spec(&figure.filter).points(experiment).map_err(wrong)?.is_empty() {
                return Err(wrong(Fault::Unknown(format!("no point of `{id}` fits `where`"))));
            }
            figure.y.iter().flatten().try_for_each(|metric| self.figure(id, metric)).map_err(wrong)?;
            figure.series.iter().flatten().try_for_each(|column| self.column(id, column)).map_err(wrong)?;
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
        let run = runner::run_single(&short, 0, Some(Some(length)), &AtomicBool::new(false), &mut |_| {});
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
        let experiment = self.experiment(id)?;
        let has = |point, length| {
            let glimpse = self.glimpse(experiment, point, length);
            glimpse.is_blind || of(&glimpse).contains(name)
        };
        let points = 0..experiment.points.len();
        let few = points.clone().step_by(points.len().div_ceil(MAX_LONGER_GLIMPSES).max(1));
        if points.clone().any(|point| has(point, GLIMPSE)) || few.clone().any(|point| has(point, LONGER_GLIMPSE)) {
            return Ok(());
        }
        let first = self.glimpse(experiment, 0, GLIMPSE);
        let near = near(of(&first).iter(), name);
        Err(Fault::Unknown(format!("`{id}` has no {what} `{name}`; there are {near} …")))
    }
}

/// Whether a row's result, or each element of it, is of a kind.
fn is(of: &Static, kind: fn(&Static) -> bool) -> bool {
    match &of.ty {
        Type::List(element) => kind(element),
        _ => kind(of),
    }
}

impl Names for Catalogue<'_> {
    fn axis(&self, experiment: &str, axis: &str) -> Result<Vec<Literal>, Fault> {
        let mut distinct: Vec<&AxisValue> = Vec::new();
        for value in &self.experiment(experiment)?.axis(axis)?.values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        let literal = |value: &AxisValue| value.number.map_or_else(|| Literal::Text(value.text.clone()), Literal::Number);
        Ok(distinct.into_iter().map(literal).collect())
    }

    fn filter(&self, experiment: &str, filter: &[(String, Static)]) -> Result<(), Fault> {
        let experiment = self.experiment(experiment)?;
        let mut all = Vec::new();
        for (axis, of) in filter {
            experiment.axis(axis)?;
            let Some(literals) = &of.known else { continue };
            for literal in literals {
                let alone = Filter::of_entries(&[(axis.clone(), literal.value())])?;
                if alone.points(experiment)?.is_empty() {
                    return Err(Fault::Unknown(format!("no point of `{}` has {axis} = {literal}", experiment.id)));
                }
            }
            all.push((axis.clone(), Value::array(literals.iter().map(Literal::value))));
        }
        if Filter::of_entries(&all)?.points(experiment)?.is_empty() {
            return Err(Fault::Unknown(format!("no point of `{}` fits the filter", experiment.id)));
        }
        Ok(())
    }

    fn figure(&self, experiment: &str, figure: &str) -> Result<(), Fault> {
        self.named(experiment, "figure", figure, |glimpse| &glimpse.figures)
    }

    fn column(&self, experiment: &str, column: &str) -> Result<(), Fault> {
        if self.experiment(experiment)?.series.is_none() {
            return Err(Fault::Unknown(format!("`{experiment}` keeps no series: set `series = true` in paper.toml")));
        }
        self.named(experiment, "column", column, |glimpse| &glimpse.columns)
    }

    fn probe(&self, name: &str) -> Result<(usize, Type), Fault> {
        let probe = probes::find(self.paper, name)?;
        Ok((probe.arguments, if probe.gives_truth() { Type::Bool } else { Type::Number }))
    }
}
