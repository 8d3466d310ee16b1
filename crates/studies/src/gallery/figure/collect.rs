//! Data of a figure: what its definition asks of the finished points.

use super::factor;
use super::printed::{self, Printed};
use crate::gallery::experiment::AxisValue;
use crate::gallery::expr::{Fault, quantile};
use crate::gallery::files::{FigureKind, FigureSpec, Paper, Row};
use crate::gallery::samples::{Filter, Measured, needed};
use goodqueue_figure::{Axis, Curve, Figure, Look, Panel, Point, Reference, Series, Shape, Size, short};
use goodqueue_lab::results::statistics::Figure as Statistic;
use std::collections::BTreeMap;

/// Width of a panel, and height of its plot, in pixels.
const PANEL: (f64, f64) = (520.0, 250.0);

/// A figure's curves, bars, boxes or series, with what the study prints next to them.
///
/// # Errors
/// When an experiment was not run, or an axis, metric or column is not there.
pub fn collect<'a>(
    paper: &Paper,
    rows: impl Iterator<Item = &'a Row> + Clone,
    spec: &FigureSpec,
    measured: &[Measured],
) -> Result<Figure, Fault> {
    let mut builder = Builder {
        paper,
        spec,
        figure: Figure {
            id: format!("{}/{}", paper.id, spec.id.get_ref()),
            title: spec.title.clone(),
            size: Size { width: PANEL.0, columns: 1 },
            panels: Vec::new(),
            curves: Vec::new(),
        },
        positions: Vec::new(),
        boxes: BTreeMap::new(),
    };
    for id in spec.experiment.get_ref() {
        let one = needed(measured, id)?;
        builder.experiment(one, &printed::of(rows.clone(), one))?;
    }
    builder.finish();
    if builder.figure.panels.is_empty() {
        return Err(Fault::NoValue("no finished point fits".to_owned()));
    }
    Ok(builder.figure)
}

struct Builder<'a> {
    paper: &'a Paper,
    spec: &'a FigureSpec,
    figure: Figure,
    /// Values of the x axis so far, for axes of names.
    positions: Vec<String>,
    /// Values of each box, by panel, curve and place.
    boxes: BTreeMap<(usize, String, u64), Vec<f64>>,
}

impl Builder<'_> {
    fn experiment(&mut self, one: &Measured, printed: &[Printed]) -> Result<(), Fault> {
        let points = Filter::of_spec(&self.spec.filter).points(&one.experiment)?;
        let experiments = self.spec.experiment.get_ref().iter().count();
        match self.spec.kind {
            FigureKind::Time => points.into_iter().try_for_each(|at| self.series(one, at)),
            _ => {
                let prefix =
                    if experiments > 1 && self.spec.curve.is_none() { one.experiment.about.clone() } else { String::new() };
                points.into_iter().try_for_each(|at| self.point(one, at, &prefix, printed))
            }
        }
    }

    fn panel(&mut self, one: &Measured, at: usize) -> Result<usize, Fault> {
        let title = match &self.spec.panel {
            Some(axis) => self.paper.name_of(axis.get_ref(), &one.experiment.axis(axis.get_ref())?.values[at]),
            None => String::new(),
        };
        if let Some(found) = self.figure.panels.iter().position(|panel| panel.title == title) {
            return Ok(found);
        }
        let spec = self.spec;
        let axis = |label: &String, unit: &String, log, min, max| Axis {
            label: label.clone(),
            unit: unit.clone(),
            log,
            min,
            max,
            ..Axis::default()
        };
        self.figure.panels.push(Panel {
            title,
            height: PANEL.1,
            x: axis(&spec.x_label, &spec.x_unit, spec.x_log, spec.x_min, spec.x_max),
            y: axis(&spec.y_label, &spec.y_unit, spec.y_log, spec.y_min, spec.y_max),
            ..Panel::default()
        });
        Ok(self.figure.panels.len() - 1)
    }

    fn shape(&self) -> Shape {
        match self.spec.kind {
            FigureKind::Lines => Shape::Marked,
            FigureKind::Bars => Shape::Bars,
            FigureKind::Boxes => Shape::Boxes,
            FigureKind::Time => Shape::Line,
        }
    }

    /// The number of the curve of a name.
    fn curve(&mut self, name: String) -> usize {
        let known = self.figure.curves.iter().position(|curve| curve.name == name);
        known.unwrap_or_else(|| {
            let number = self.figure.curves.len();
            let mut look = Look::of(number);
            // Series over time have so many corners that dashes would only make them hard to
            // follow.
            if self.spec.kind == FigureKind::Time {
                look.dash = 0;
            }
            self.figure.curves.push(Curve { name, look });
            number
        })
    }

    fn points(&mut self, panel: usize, curve: usize) -> &mut Vec<Point> {
        let shape = self.shape();
        let series = &mut self.figure.panels[panel].series;
        let place = series.iter().position(|series| series.curve == curve).unwrap_or_else(|| {
            series.push(Series { curve, shape, points: Vec::new() });
            series.len() - 1
        });
        &mut series[place].points
    }

    fn point(&mut self, one: &Measured, at: usize, prefix: &str, printed: &[Printed]) -> Result<(), Fault> {
        let Some(data) = one.points[at].as_ref().filter(|data| !data.fingerprints.is_empty()) else { return Ok(()) };
        let (Some(x), Some(metrics)) = (&self.spec.x, &self.spec.y) else { return Ok(()) };
        let x = self.position(&one.experiment.axis(x.get_ref())?.values[at]);
        let panel = self.panel(one, at)?;
        let scale = factor(&self.spec.y_unit);
        let several = metrics.iter().count() > 1;
        let curve = match &self.spec.curve {
            Some(axis) => self.paper.name_of(axis.get_ref(), &one.experiment.axis(axis.get_ref())?.values[at]),
            None => prefix.to_owned(),
        };
        for metric in metrics {
            let samples = data
                .samples
                .get(metric)
                .ok_or_else(|| Fault::NoValue(format!("there is no figure `{metric}` in {}", one.experiment.id)))?;
            let name = match (several, curve.is_empty()) {
                (false, _) => curve.clone(),
                (true, true) => metric_name(metric).to_owned(),
                (true, false) => format!("{curve}, {}", metric_name(metric)),
            };
            if self.spec.kind == FigureKind::Boxes {
                // A box holds every run of every point that shares its place.
                let values = samples.iter().copied().flatten().map(|value| value * scale);
                self.boxes.entry((panel, name, x.to_bits())).or_default().extend(values);
            } else if let Some(point) = mark(samples, x, scale, self.spec.range) {
                let curve = self.curve(name);
                self.points(panel, curve).push(point);
                let scaled = |value: Option<f64>| value.map(|value| value * scale);
                let beside = printed.iter().filter(|printed| printed.is_about(metric, at)).map(|printed| Reference {
                    curve,
                    x,
                    value: scaled(printed.value),
                    low: scaled(printed.low),
                    high: scaled(printed.high),
                    words: printed.words.clone(),
                });
                self.figure.panels[panel].references.extend(beside);
            }
        }
        Ok(())
    }

    /// Returns the position of a value on the x axis: by its number, or in the order names appear.
    fn position(&mut self, value: &AxisValue) -> f64 {
        let by_name = value.number.is_none() || matches!(self.spec.kind, FigureKind::Bars | FigureKind::Boxes);
        if let (Some(number), false) = (value.number, by_name) {
            return number * factor(&self.spec.x_unit);
        }
        let name = self.paper.label(&value.text).to_owned();
        let place = self.positions.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.positions.push(name);
            self.positions.len() - 1
        });
        place as f64
    }

    fn series(&mut self, one: &Measured, at: usize) -> Result<(), Fault> {
        let Some(data) = one.points[at].as_ref() else { return Ok(()) };
        let Some(first) = data.series.first() else {
            return Err(Fault::NoValue(format!("{} kept no series", one.experiment.id)));
        };
        let panel = self.panel(one, at)?;
        let scale = factor(&self.spec.y_unit);
        for name in self.spec.series.iter().flatten() {
            let series =
                first.get(name).ok_or_else(|| Fault::NoValue(format!("there is no column `{name}` in {}", one.experiment.id)))?;
            let varied: Vec<String> = match &self.spec.curve {
                Some(axis) => vec![self.paper.name_of(axis.get_ref(), &one.experiment.axis(axis.get_ref())?.values[at])],
                None => Vec::new(),
            };
            let column = series_name(name, self.spec.series.iter().flatten());
            let label = varied.into_iter().chain(column).collect::<Vec<_>>().join(", ");
            let samples = series.times.iter().zip(&series.values);
            let mut samples: Vec<(f64, f64)> = samples.filter_map(|(time, value)| Some((*time, (*value)? * scale))).collect();
            if let Some(bin) = self.spec.bin_s {
                samples = binned(&samples, bin);
            }
            if self.spec.running {
                samples = so_far(&samples);
            }
            if self.spec.total {
                samples = integral(&samples);
            }
            let curve = self.curve(label);
            self.points(panel, curve).extend(samples.into_iter().map(|(x, y)| Point { x, y, ..Point::default() }));
        }
        Ok(())
    }

    fn finish(&mut self) {
        for ((panel, name, x), mut values) in std::mem::take(&mut self.boxes) {
            values.sort_by(f64::total_cmp);
            let point = five_numbers(&values, f64::from_bits(x));
            let curve = self.curve(name);
            self.points(panel, curve).extend(point);
        }
        let categories = (!self.positions.is_empty()).then(|| std::mem::take(&mut self.positions));
        let Figure { panels, curves, size, .. } = &mut self.figure;
        size.columns = panels.len().clamp(1, 2);
        size.width *= size.columns as f64;
        for panel in panels {
            panel.x.categories.clone_from(&categories);
            if self.spec.kind == FigureKind::Time && panel.x.label.is_empty() {
                (panel.x.label, panel.x.unit) = ("time".to_owned(), "s".to_owned());
            }
            for series in &mut panel.series {
                if series.shape == Shape::Marked {
                    series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
                }
                let name = &curves[series.curve].name;
                if series.shape != Shape::Line {
                    series
                        .points
                        .iter_mut()
                        .for_each(|point| point.words = told(point, name, &panel.x, &panel.y.unit, self.spec.range));
                }
            }
        }
    }
}

/// A point in words, for a reader who points at it.
fn told(point: &Point, name: &str, across: &Axis, unit: &str, is_range: bool) -> String {
    let x = match &across.categories {
        Some(names) => names.get(point.x as usize).cloned().unwrap_or_default(),
        None => format!("{} {}", short(point.x), across.unit),
    };
    let y = short(point.y);
    let (low, high) = point.interval.unwrap_or((point.y, point.y));
    let spread = match point.quartiles {
        Some((first, third)) => {
            let quartiles = format!("quartiles {} and {}", short(first), short(third));
            format!("median {y}, {quartiles}, range {} to {}", short(low), short(high))
        }
        None if is_range => format!("{y}, runs from {} to {}", short(low), short(high)),
        None => format!("{y} ± {}", short((high - low) / 2.0)),
    };
    format!("{name}{}{}: {spread} {unit}", if name.is_empty() { "" } else { " at " }, x.trim())
}

/// Returns the name of a metric, in words where there are any.
fn metric_name(metric: &str) -> &str {
    match metric.rsplit('.').next().unwrap_or(metric) {
        "p50" => "median",
        "p95" => "95th percentile",
        "p99" => "99th percentile",
        "max" => "largest",
        last => last,
    }
}

/// Returns the name that distinguishes a column from the others of a figure: what it measures, or
/// of whom; nothing where there is only one.
fn series_name<'a>(name: &str, all: impl Iterator<Item = &'a String>) -> Option<String> {
    let what = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let all: Vec<&String> = all.collect();
    if all.len() < 2 {
        return None;
    }
    if all.iter().filter(|other| what(other) == what(name)).count() > 1 {
        return Some(name.split('.').next().unwrap_or(name).to_owned());
    }
    let what = what(name);
    let bare = ["_bit_s", "_s", "_bytes", "_packets"].iter().find_map(|unit| what.strip_suffix(unit)).unwrap_or(&what);
    Some(bare.replace('_', " "))
}

fn mark(samples: &[Option<f64>], x: f64, scale: f64, range: bool) -> Option<Point> {
    let figure = Statistic::of(samples.iter().copied());
    let y = figure.mean? * scale;
    if range {
        let values = || samples.iter().copied().flatten().map(|value| value * scale);
        let (low, high) = (values().fold(y, f64::min), values().fold(y, f64::max));
        return Some(Point { x, y, interval: Some((low, high)), ..Point::default() });
    }
    let half = figure.ci95.unwrap_or(0.0) * scale;
    Some(Point { x, y, interval: Some((y - half, y + half)), ..Point::default() })
}

/// Means of samples within spans of `bin` seconds, each at the center of its span.
fn binned(samples: &[(f64, f64)], bin: f64) -> Vec<(f64, f64)> {
    // A sample stands for the time before it, so one at the end of a span belongs to that span.
    let span = |time: f64| (time / bin - 1e-9).floor();
    let spans = samples.chunk_by(|a, b| span(a.0) == span(b.0));
    let mean = |of: &[(f64, f64)]| of.iter().map(|(_, value)| value).sum::<f64>() / of.len() as f64;
    spans.map(|of| ((span(of[0].0) + 0.5) * bin, mean(of))).collect()
}

/// The integral up to each sample, which stands for the time since the one before.
fn integral(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (mut sum, mut before) = (0.0, 0.0);
    let add = |(time, value): &(f64, f64)| {
        sum += value * (time - before);
        before = *time;
        (*time, sum)
    };
    samples.iter().map(add).collect()
}

/// The mean of all samples up to each.
fn so_far(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sum = 0.0;
    let mean = |(at, (time, value)): (usize, &(f64, f64))| {
        sum += value;
        (*time, sum / (at + 1) as f64)
    };
    samples.iter().enumerate().map(mean).collect()
}

/// Least, quartiles, median and greatest of sorted values.
fn five_numbers(values: &[f64], x: f64) -> Option<Point> {
    let at = |q: f64| quantile(values, q).ok();
    let (low, high) = (*values.first()?, *values.last()?);
    let quartiles = Some((at(0.25)?, at(0.75)?));
    Some(Point { x, y: at(0.5)?, interval: Some((low, high)), quartiles, ..Point::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_over_spans_and_so_far() {
        let samples: Vec<(f64, f64)> = (1..=6).map(|at| (0.5 * f64::from(at), f64::from(at))).collect();
        assert_eq!(binned(&samples, 1.0), [(0.5, 1.5), (1.5, 3.5), (2.5, 5.5)]);
        assert_eq!(so_far(&samples)[5], (3.0, 3.5));
        assert_eq!(integral(&samples)[5], (3.0, 10.5));
    }

    #[test]
    fn columns_are_named_by_what_tells_them_apart() {
        let names = |all: &[&str]| {
            let all: Vec<String> = all.iter().map(|name| (*name).to_owned()).collect();
            all.iter().map(|name| series_name(name, all.iter()).unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["core.queue_bytes"]), [""]);
        assert_eq!(names(&["b.setpoint_s", "b.virtual_rate_bit_s"]), ["setpoint", "virtual rate"]);
        assert_eq!(names(&["tcp0.0.goodput_bit_s", "tcp1.0.goodput_bit_s"]), ["tcp0", "tcp1"]);
    }
}
