//! Functions of expressions that ask for measured values: `pick`, `one`, `axis`, `values_of`,
//! `runs`, `series`, `each_run`, `probe`.

use super::{Filter, Measured, PointData};
use crate::gallery::experiment::{AxisValue, Experiment};
use crate::gallery::expr::{Fault, Host, Value, unfit};
use crate::gallery::probes;
use std::rc::Rc;

/// The selection among a figure's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The mean over all replications.
    Mean,
    /// That of one replication.
    Replication(usize),
}

/// Figures, samples and probes of one paper: measured, or placeholders for a dry run.
pub trait Source {
    /// An experiment.
    ///
    /// # Errors
    /// When it is not there.
    fn experiment(&self, id: &str) -> Result<&Experiment, Fault>;

    /// Numbers of an experiment's points that fit a filter, at least one.
    ///
    /// # Errors
    /// When none fits, or an axis is unknown.
    fn points(&self, id: &str, filter: &[(String, Value)]) -> Result<Vec<usize>, Fault> {
        at_least_one(id, Filter::of_entries(filter)?.points(self.experiment(id)?)?)
    }

    /// A figure of a point, or `default` where it has none.
    ///
    /// # Errors
    /// When there is neither.
    fn figure(&self, id: &str, at: usize, name: &str, view: View, default: Option<f64>) -> Result<f64, Fault>;

    /// A figure's values in all replications of a point.
    ///
    /// # Errors
    /// When the point has no such figure.
    fn each(&self, id: &str, at: usize, name: &str) -> Result<Vec<f64>, Fault>;

    /// Samples of a replication, as `[time, value]`.
    ///
    /// # Errors
    /// When the point has no such column.
    fn series(&self, id: &str, at: usize, name: &str, replication: usize) -> Result<Value, Fault>;

    /// The value of a probe.
    ///
    /// # Errors
    /// When there is none of this name, or it takes other values.
    fn probe(&self, name: &str, given: &[Value]) -> Result<Value, Fault>;
}

/// The points that fit a filter, unless there are none.
pub(crate) fn at_least_one(id: &str, points: Vec<usize>) -> Result<Vec<usize>, Fault> {
    if points.is_empty() { Err(Fault::NoValue(format!("no point of `{id}` fits the filter"))) } else { Ok(points) }
}

/// The points of one paper, seen in one way.
#[derive(Clone)]
pub struct PointsHost {
    /// Where the values come from.
    pub source: Rc<dyn Source>,
    /// Replications that all points asked for have.
    pub replications: usize,
    /// The selection among their values.
    pub view: View,
}

impl Host for PointsHost {
    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, Fault> {
        if name == "probe" {
            return match arguments {
                [Value::Text(probe), given @ ..] => self.source.probe(probe, given),
                _ => Err(unfit(name, arguments)),
            };
        }
        let (id, filter, asked, default) = match arguments {
            [Value::Text(id), Value::Filter(filter), Value::Text(asked)] => (id, &filter[..], asked, None),
            [Value::Text(id), Value::Text(asked)] => (id, &[][..], asked, None),
            [Value::Text(id), Value::Filter(filter), Value::Text(asked), Value::Number(default)] => {
                (id, &filter[..], asked, Some(*default))
            }
            [Value::Text(id), Value::Text(asked), Value::Number(default)] => (id, &[][..], asked, Some(*default)),
            _ => return Err(unfit(name, arguments)),
        };
        if default.is_some() != (name == "pick_or") {
            return Err(unfit(name, arguments));
        }
        let points = self.source.points(id, filter)?;
        let only = || match points[..] {
            [at] => Ok(at),
            _ => Err(Fault::NoValue(format!("{} points fit the filter: expected one", points.len()))),
        };
        let figure = |at: usize| self.source.figure(id, at, asked, self.view, default);
        match (name, self.view) {
            ("pick" | "pick_or", _) | ("runs", View::Replication(_)) => {
                Ok(Value::numbers(points.iter().map(|at| figure(*at)).collect::<Result<Vec<_>, _>>()?))
            }
            ("one", _) => {
                let values = points.iter().map(|at| figure(*at)).collect::<Result<Vec<_>, _>>()?;
                only().map(|_| Value::Number(values[0]))
            }
            // One value for each replication of each point.
            ("runs", View::Mean) => {
                let each = points.iter().map(|at| self.source.each(id, *at, asked));
                Ok(Value::numbers(each.collect::<Result<Vec<_>, _>>()?.concat()))
            }
            ("axis", _) => {
                let axis = self.source.experiment(id)?.axis(asked)?;
                Ok(Value::array(points.iter().map(|at| axis.values[*at].value())))
            }
            ("values_of", _) => {
                let axis = self.source.experiment(id)?.axis(asked)?;
                let mut distinct: Vec<&AxisValue> = Vec::new();
                for at in &points {
                    if !distinct.contains(&&axis.values[*at]) {
                        distinct.push(&axis.values[*at]);
                    }
                }
                Ok(Value::array(distinct.into_iter().map(AxisValue::value)))
            }
            ("series", View::Replication(replication)) => {
                let samples = self.source.series(id, points[0], asked, replication)?;
                only().map(|_| samples)
            }
            ("series", View::Mean) => Err(Fault::Type("samples are of single runs: ask within `each_run(|run| ...)`".to_owned())),
            _ => Err(Fault::Unknown("is not there".to_owned())),
        }
    }

    fn single_runs(&self) -> Vec<Rc<dyn Host>> {
        let numbers = match self.view {
            View::Mean => 0..self.replications,
            View::Replication(number) => number..number + 1,
        };
        numbers.map(|number| Rc::new(Self { view: View::Replication(number), ..self.clone() }) as Rc<dyn Host>).collect()
    }
}

/// The measured points of one paper.
pub struct Points {
    /// Its experiments.
    pub measured: Rc<[Measured]>,
    /// The paper.
    pub paper: String,
}

impl Points {
    fn measured(&self, id: &str) -> Result<&Measured, Fault> {
        let found = self.measured.iter().find(|measured| measured.experiment.id == id);
        found.ok_or_else(|| Fault::NoValue(format!("experiment `{id}` was not run")))
    }
}

impl Source for Points {
    fn experiment(&self, id: &str) -> Result<&Experiment, Fault> {
        self.measured(id).map(|measured| &measured.experiment)
    }

    fn figure(&self, id: &str, at: usize, name: &str, view: View, default: Option<f64>) -> Result<f64, Fault> {
        let measured = self.measured(id)?;
        let data = data(measured, at)?;
        let value = match (data.samples.get(name), view) {
            (None, _) => default.ok_or_else(|| unknown(measured, at, name)).map(Some)?,
            (Some(_), View::Mean) => data.mean(name),
            (Some(samples), View::Replication(number)) => samples.get(number).copied().flatten(),
        };
        value.or(default).ok_or_else(|| Fault::NoValue(format!("`{name}` is not defined at {}", place(measured, at))))
    }

    fn each(&self, id: &str, at: usize, name: &str) -> Result<Vec<f64>, Fault> {
        let measured = self.measured(id)?;
        let samples = data(measured, at)?.samples.get(name).ok_or_else(|| unknown(measured, at, name))?;
        Ok(samples.iter().copied().flatten().collect())
    }

    fn series(&self, id: &str, at: usize, name: &str, replication: usize) -> Result<Value, Fault> {
        let all = data(self.measured(id)?, at)?.series.get(replication);
        let message = || "no series were kept: set `series = true` in the experiment".to_owned();
        let all = all.ok_or_else(|| Fault::NoValue(message()))?;
        let series = all.get(name).ok_or_else(|| {
            let names: Vec<&str> = all.keys().map(String::as_str).collect();
            Fault::Unknown(format!("there is no column `{name}`: allowed {}", names.join(", ")))
        })?;
        let samples = series.times.iter().zip(&series.values);
        Ok(Value::array(samples.filter_map(|(time, value)| Some(Value::numbers([*time, (*value)?])))))
    }

    fn probe(&self, name: &str, given: &[Value]) -> Result<Value, Fault> {
        probes::call(&self.paper, name, given)
    }
}

fn data(measured: &Measured, at: usize) -> Result<&PointData, Fault> {
    match &measured.points[at] {
        Some(data) if !data.fingerprints.is_empty() => Ok(data),
        Some(PointData { failures, .. }) => {
            let failure = failures.first().map_or("no run", String::as_str);
            Err(Fault::NoValue(format!("{} failed: {failure}", place(measured, at))))
        }
        None => Err(Fault::NoValue(format!("{} was not run", place(measured, at)))),
    }
}

fn place(measured: &Measured, at: usize) -> String {
    let axes = measured.experiment.axes.iter().map(|axis| format!("{} = {}", axis.name, axis.values[at].text));
    let axes: Vec<String> = axes.collect();
    format!("`{}`{}{}", measured.experiment.id, if axes.is_empty() { "" } else { " at " }, axes.join(", "))
}

fn unknown(measured: &Measured, at: usize, metric: &str) -> Fault {
    let Some(data) = &measured.points[at] else {
        return Fault::NoValue(format!("{} has no finished run", place(measured, at)));
    };
    // Groups come and go with the traffic of a point, so a figure can be missing at one and be
    // there at another.
    let near = near(data.samples.keys(), metric);
    Fault::NoValue(format!("there is no figure `{metric}` at {}; there are {near} …", place(measured, at)))
}

/// Names that end like one that is not there, or some names.
pub(crate) fn near<'a>(known: impl Iterator<Item = &'a String> + Clone, metric: &str) -> String {
    let last = metric.rsplit('.').next().unwrap_or(metric);
    let alike: Vec<&str> = known.clone().map(String::as_str).filter(|known| known.ends_with(last)).take(6).collect();
    let near = if alike.is_empty() { known.map(String::as_str).take(8).collect() } else { alike };
    near.join(", ")
}
