//! Functions of expressions that ask for measured values: `pick`, `one`, `axis`, `values_of`,
//! `runs`, `series`, `each_run`, `probe`.

use super::{Filter, Measured, PointData};
use crate::gallery::experiment::AxisValue;
use crate::gallery::expr::{Fault, Host, Value};
use crate::gallery::probes;

/// The selection among a figure's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The mean over all replications.
    Mean,
    /// That of one replication.
    Replication(usize),
}

/// The finished points of one paper, seen in one way.
pub struct PointsHost<'a> {
    /// The paper's experiments.
    pub measured: &'a [Measured],
    /// The paper.
    pub paper: &'a str,
    /// Replications that all points asked for have.
    pub replications: usize,
    /// The selection among their values.
    pub view: View,
}

type Outcome = Result<Value, Fault>;

impl Host for PointsHost<'_> {
    fn call(&self, name: &str, arguments: &[Value]) -> Option<Outcome> {
        Some(match name {
            "pick" => self.pick(arguments),
            "pick_or" => self.pick_or(arguments),
            "one" => self.one(arguments),
            "axis" => self.axis(arguments),
            "values_of" => self.values_of(arguments),
            "runs" => self.runs(arguments),
            "series" => self.series(arguments),
            "probe" => match arguments {
                [Value::Text(name), rest @ ..] => probes::call(self.paper, name, rest),
                _ => Err(Fault::Type("expected a probe's name first".to_owned())),
            },
            _ => return None,
        })
    }

    fn single_runs(&self) -> Vec<Box<dyn Host + '_>> {
        let numbers = match self.view {
            View::Mean => 0..self.replications,
            View::Replication(number) => number..number + 1,
        };
        numbers.map(|number| Box::new(Self { view: View::Replication(number), ..*self }) as Box<dyn Host>).collect()
    }
}

/// An experiment, the points of it that are meant, and what stands after them.
struct Asked<'a> {
    measured: &'a Measured,
    points: Vec<usize>,
    rest: &'a [Value],
}

impl<'a> PointsHost<'a> {
    fn experiment(&self, id: &str) -> Result<&'a Measured, Fault> {
        let found = self.measured.iter().find(|measured| measured.experiment.id == id);
        found.ok_or_else(|| Fault::NoValue(format!("experiment `{id}` was not run")))
    }

    fn asked<'b>(&self, arguments: &'b [Value]) -> Result<Asked<'b>, Fault>
    where
        'a: 'b,
    {
        let (id, filter, rest) = match arguments {
            [Value::Text(id), Value::Filter(entries), rest @ ..] => (id, Filter::of_entries(entries)?, rest),
            [Value::Text(id), rest @ ..] => (id, Filter::default(), rest),
            _ => return Err(Fault::Type("expected an experiment's name first".to_owned())),
        };
        let measured = self.experiment(id)?;
        let points = filter.points(&measured.experiment)?;
        if points.is_empty() {
            return Err(Fault::NoValue(format!("no point of `{id}` fits the filter")));
        }
        Ok(Asked { measured, points, rest })
    }

    fn pick(&self, arguments: &[Value]) -> Outcome {
        let asked = self.asked(arguments)?;
        let [Value::Text(metric)] = asked.rest else { return Err(Fault::Type("expected experiment, filter, metric".to_owned())) };
        let values = asked.points.iter().map(|at| self.figure(asked.measured, *at, metric));
        Ok(Value::numbers(values.collect::<Result<Vec<_>, _>>()?))
    }

    fn pick_or(&self, arguments: &[Value]) -> Outcome {
        let asked = self.asked(arguments)?;
        let [Value::Text(metric), Value::Number(default)] = asked.rest else {
            return Err(Fault::Type("expected experiment, filter, metric, number".to_owned()));
        };
        let value = |at: &usize| -> Result<f64, Fault> {
            data(asked.measured, *at)?;
            Ok(self.figure(asked.measured, *at, metric).unwrap_or(*default))
        };
        Ok(Value::numbers(asked.points.iter().map(value).collect::<Result<Vec<_>, _>>()?))
    }

    fn one(&self, arguments: &[Value]) -> Outcome {
        match self.pick(arguments)? {
            Value::Array(values) => match &values[..] {
                [only] => Ok(only.clone()),
                several => Err(Fault::NoValue(format!("{} points fit the filter: expected one", several.len()))),
            },
            other => Ok(other),
        }
    }

    fn axis(&self, arguments: &[Value]) -> Outcome {
        let asked = self.asked(arguments)?;
        let [Value::Text(name)] = asked.rest else { return Err(Fault::Type("expected experiment, filter, axis".to_owned())) };
        let axis = asked.measured.experiment.axis(name)?;
        Ok(Value::array(asked.points.iter().map(|at| shown(&axis.values[*at]))))
    }

    fn values_of(&self, arguments: &[Value]) -> Outcome {
        let asked = self.asked(arguments)?;
        let [Value::Text(name)] = asked.rest else { return Err(Fault::Type("expected experiment, axis".to_owned())) };
        let axis = asked.measured.experiment.axis(name)?;
        let mut distinct: Vec<&AxisValue> = Vec::new();
        for at in &asked.points {
            if !distinct.contains(&&axis.values[*at]) {
                distinct.push(&axis.values[*at]);
            }
        }
        Ok(Value::array(distinct.into_iter().map(shown)))
    }

    /// One value for each replication of each point; in the view of one replication, of that one.
    fn runs(&self, arguments: &[Value]) -> Outcome {
        let asked = self.asked(arguments)?;
        let [Value::Text(metric)] = asked.rest else { return Err(Fault::Type("expected experiment, filter, metric".to_owned())) };
        let mut values = Vec::new();
        for at in &asked.points {
            match self.view {
                View::Mean => {
                    let samples =
                        data(asked.measured, *at)?.samples.get(metric).ok_or_else(|| unknown(asked.measured, *at, metric))?;
                    values.extend(samples.iter().copied().flatten());
                }
                View::Replication(_) => values.push(self.figure(asked.measured, *at, metric)?),
            }
        }
        Ok(Value::numbers(values))
    }

    /// Samples of the one run that is seen.
    fn series(&self, arguments: &[Value]) -> Outcome {
        let asked = self.asked(arguments)?;
        let [Value::Text(name)] = asked.rest else { return Err(Fault::Type("expected experiment, filter, column".to_owned())) };
        let [at] = asked.points[..] else {
            return Err(Fault::NoValue(format!("{} points fit the filter: expected one", asked.points.len())));
        };
        let View::Replication(replication) = self.view else {
            return Err(Fault::Type("samples are of single runs: ask within `each_run(|run| ...)`".to_owned()));
        };
        let all = data(asked.measured, at)?.series.get(replication);
        let message = || "no series were kept: set `series = true` in the experiment".to_owned();
        let all = all.ok_or_else(|| Fault::NoValue(message()))?;
        let series = all.get(name).ok_or_else(|| {
            let names: Vec<&str> = all.keys().map(String::as_str).collect();
            Fault::Unknown(format!("there is no column `{name}`: allowed {}", names.join(", ")))
        })?;
        let samples = series.times.iter().zip(&series.values);
        let pairs = samples.filter_map(|(time, value)| Some(Value::numbers([*time, (*value)?])));
        Ok(Value::array(pairs))
    }

    fn figure(&self, measured: &Measured, at: usize, metric: &str) -> Result<f64, Fault> {
        let data = data(measured, at)?;
        let samples = data.samples.get(metric).ok_or_else(|| unknown(measured, at, metric))?;
        let value = match self.view {
            View::Mean => data.mean(metric),
            View::Replication(number) => samples.get(number).copied().flatten(),
        };
        value.ok_or_else(|| Fault::NoValue(format!("`{metric}` is not defined at {}", place(measured, at))))
    }
}

fn shown(value: &AxisValue) -> Value {
    value.number.map_or_else(|| Value::Text(value.text.clone()), Value::Number)
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
