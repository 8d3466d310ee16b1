//! What a figure's definition asks of the finished points.

use super::{AxisSpec, Drawing, Mark, Panel, factor};
use crate::experiment::AxisValue;
use crate::files::{FigureKind, FigureSpec};
use crate::samples::{Filter, Measured};
use goodqueue_lab::statistics::Figure;
use std::collections::BTreeMap;

/// The drawing of a figure.
///
/// # Errors
/// When an experiment was not run, or an axis, metric or column is not there.
pub fn collect(paper: &str, spec: &FigureSpec, measured: &[Measured]) -> Result<Drawing, String> {
    let mut drawing = Drawing {
        id: format!("{paper}/{}", spec.id.get_ref()),
        title: spec.title.clone(),
        place: spec.place.clone(),
        note: spec.note.clone(),
        kind: spec.kind,
        range: spec.range,
        x: AxisSpec {
            label: spec.x_label.clone(),
            unit: spec.x_unit.clone(),
            log: spec.x_log,
            min: spec.x_min,
            max: spec.x_max,
            categories: None,
        },
        y: AxisSpec {
            label: spec.y_label.clone(),
            unit: spec.y_unit.clone(),
            log: spec.y_log,
            min: spec.y_min,
            max: spec.y_max,
            categories: None,
        },
        panels: Vec::new(),
        curves: Vec::new(),
    };
    let mut builder = Builder { spec, drawing: &mut drawing, positions: Vec::new(), boxes: BTreeMap::new() };
    for id in spec.experiment.get_ref() {
        let found = measured.iter().find(|one| one.experiment.id == *id);
        let one = found.ok_or_else(|| format!("needs {id}, which was not run"))?;
        builder.experiment(one)?;
    }
    builder.finish();
    if drawing.panels.is_empty() {
        return Err("no finished point fits".to_owned());
    }
    Ok(drawing)
}

struct Builder<'a> {
    spec: &'a FigureSpec,
    drawing: &'a mut Drawing,
    /// Values of the x axis so far, for axes of names.
    positions: Vec<String>,
    /// Values of each box, by panel, curve and place.
    boxes: BTreeMap<(usize, String, u64), Vec<f64>>,
}

impl Builder<'_> {
    fn experiment(&mut self, one: &Measured) -> Result<(), String> {
        let points = Filter::of_spec(&self.spec.filter).points(&one.experiment)?;
        let experiments = self.spec.experiment.get_ref().iter().count();
        match self.spec.kind {
            FigureKind::Time => points.into_iter().try_for_each(|at| self.series(one, at)),
            _ => {
                let prefix =
                    if experiments > 1 && self.spec.curve.is_none() { one.experiment.about.clone() } else { String::new() };
                points.into_iter().try_for_each(|at| self.point(one, at, &prefix))
            }
        }
    }

    fn panel(&mut self, one: &Measured, at: usize) -> Result<usize, String> {
        let title = match &self.spec.panel {
            Some(axis) => curve_name(axis.get_ref(), &one.experiment.axis(axis.get_ref())?.values[at]),
            None => String::new(),
        };
        if let Some(found) = self.drawing.panels.iter().position(|panel| panel.title == title) {
            return Ok(found);
        }
        self.drawing.panels.push(Panel { title, curves: Vec::new() });
        Ok(self.drawing.panels.len() - 1)
    }

    fn marks(&mut self, panel: usize, name: String) -> &mut Vec<Mark> {
        let known = self.drawing.curves.iter().position(|curve| *curve == name);
        let curve = known.unwrap_or_else(|| {
            self.drawing.curves.push(name);
            self.drawing.curves.len() - 1
        });
        let curves = &mut self.drawing.panels[panel].curves;
        let place = curves.iter().position(|(number, _)| *number == curve).unwrap_or_else(|| {
            curves.push((curve, Vec::new()));
            curves.len() - 1
        });
        &mut curves[place].1
    }

    fn point(&mut self, one: &Measured, at: usize, prefix: &str) -> Result<(), String> {
        let Some(data) = one.points[at].as_ref().filter(|data| !data.fingerprints.is_empty()) else { return Ok(()) };
        let (Some(x), Some(metrics)) = (&self.spec.x, &self.spec.y) else { return Ok(()) };
        let x = self.position(&one.experiment.axis(x.get_ref())?.values[at]);
        let panel = self.panel(one, at)?;
        let scale = factor(&self.spec.y_unit);
        let several = metrics.iter().count() > 1;
        let curve = match &self.spec.curve {
            Some(axis) => curve_name(axis.get_ref(), &one.experiment.axis(axis.get_ref())?.values[at]),
            None => prefix.to_owned(),
        };
        for metric in metrics {
            let samples =
                data.samples.get(metric).ok_or_else(|| format!("there is no figure `{metric}` in {}", one.experiment.id))?;
            let name = match (several, curve.is_empty()) {
                (false, _) => curve.clone(),
                (true, true) => metric_name(metric).to_owned(),
                (true, false) => format!("{curve}, {}", metric_name(metric)),
            };
            if self.spec.kind == FigureKind::Boxes {
                // A box holds every run of every point that shares its place.
                let values = samples.iter().copied().flatten().map(|value| value * scale);
                self.boxes.entry((panel, name, x.to_bits())).or_default().extend(values);
            } else if let Some(mark) = mark(samples, x, scale, self.spec.range) {
                self.marks(panel, name).push(mark);
            }
        }
        Ok(())
    }

    /// Where a value of the x axis goes: by its number, or in the order names appear.
    fn position(&mut self, value: &AxisValue) -> f64 {
        let by_name = value.number.is_none() || matches!(self.spec.kind, FigureKind::Bars | FigureKind::Boxes);
        if let (Some(number), false) = (value.number, by_name) {
            return number * factor(&self.spec.x_unit);
        }
        let place = self.positions.iter().position(|known| *known == value.text).unwrap_or_else(|| {
            self.positions.push(value.text.clone());
            self.positions.len() - 1
        });
        place as f64
    }

    fn series(&mut self, one: &Measured, at: usize) -> Result<(), String> {
        let Some(data) = one.points[at].as_ref() else { return Ok(()) };
        let Some(first) = data.series.first() else { return Err(format!("{} kept no series", one.experiment.id)) };
        let panel = self.panel(one, at)?;
        let scale = factor(&self.spec.y_unit);
        for name in self.spec.series.iter().flatten() {
            let series = first.get(name).ok_or_else(|| format!("there is no column `{name}` in {}", one.experiment.id))?;
            let varied: Vec<String> = match &self.spec.curve {
                Some(axis) => vec![curve_name(axis.get_ref(), &one.experiment.axis(axis.get_ref())?.values[at])],
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
            let marks = self.marks(panel, label);
            marks.extend(samples.into_iter().map(|(x, y)| Mark { x, y, low: y, high: y, quartiles: None }));
        }
        Ok(())
    }

    fn finish(&mut self) {
        for ((panel, name, x), mut values) in std::mem::take(&mut self.boxes) {
            values.sort_by(f64::total_cmp);
            let mark = five_numbers(&values, f64::from_bits(x));
            self.marks(panel, name).extend(mark);
        }
        if !self.positions.is_empty() {
            self.drawing.x.categories = Some(std::mem::take(&mut self.positions));
        }
        if self.spec.kind == FigureKind::Time && self.drawing.x.label.is_empty() {
            self.drawing.x.label = "time".to_owned();
            self.drawing.x.unit = "s".to_owned();
        }
        if self.spec.kind == FigureKind::Lines {
            let marks = self.drawing.panels.iter_mut().flat_map(|panel| &mut panel.curves);
            marks.for_each(|(_, marks)| marks.sort_by(|a, b| a.x.total_cmp(&b.x)));
        }
    }
}

/// A curve is named by its value, with the axis before a bare number.
fn curve_name(axis: &str, value: &AxisValue) -> String {
    match value.text.parse::<f64>() {
        Ok(_) => format!("{axis} = {}", value.text),
        Err(_) => value.text.clone(),
    }
}

/// What a metric is, in words where there are any.
fn metric_name(metric: &str) -> &str {
    match metric.rsplit('.').next().unwrap_or(metric) {
        "p50" => "median",
        "p95" => "95th percentile",
        "p99" => "99th percentile",
        "max" => "largest",
        last => last,
    }
}

/// What tells a column from the others of a figure: what it measures, or of whom; nothing where there is only one.
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

fn mark(samples: &[Option<f64>], x: f64, scale: f64, range: bool) -> Option<Mark> {
    let figure = Figure::of(samples.iter().copied());
    let y = figure.mean? * scale;
    if range {
        let values = || samples.iter().copied().flatten().map(|value| value * scale);
        let (low, high) = (values().fold(y, f64::min), values().fold(y, f64::max));
        return Some(Mark { x, y, low, high, quartiles: None });
    }
    let half = figure.ci95.unwrap_or(0.0) * scale;
    Some(Mark { x, y, low: y - half, high: y + half, quartiles: None })
}

/// Means of samples within spans of `bin` seconds, each in the middle of its span.
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
fn five_numbers(values: &[f64], x: f64) -> Option<Mark> {
    let at = |q: f64| {
        let place = q * (values.len() - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(values.len() - 1);
        values[below] + (values[above] - values[below]) * (place - below as f64)
    };
    let (low, high) = (*values.first()?, *values.last()?);
    Some(Mark { x, y: at(0.5), low, high, quartiles: Some((at(0.25), at(0.75))) })
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
