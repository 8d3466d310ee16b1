//! One figure of a result against another: a mark per point with both intervals.

use crate::plot::choice::{Metric, Request, Scale, title};
use crate::plot::{PlotError, Shown, Source};
use crate::{Axis, Curve, Panel, Point, Series, Shape};
use goodqueue_lab::results::metrics::{Quantity, unit_that_suits};
use goodqueue_lab::results::statistics::Figure;

/// A delay that varies by more than this over the points is drawn on a logarithmic axis.
pub(crate) const SPREAD: f64 = 6.0;
/// Parts of a whole that differ by less than this, in percent, are level.
const LEVEL: f64 = 0.5;

pub(crate) fn draw(source: &dyn Source, request: &Request, shown: &[Shown]) -> Result<(Panel, Vec<Curve>), PlotError> {
    let subject = request.subject(source)?;
    let named = |name: &str| Metric::named(source, &subject, name);
    let (across, up) = match request.metric.as_slice() {
        [] => (Metric::delay(source, &subject)?, named("utilization")?),
        [across] => (named(across)?, named("utilization")?),
        [across, up] => (named(across)?, named(up)?),
        [_, _, more, ..] => return Err(PlotError::new("metric", format!("`{more}`: a trade-off is between two metrics"))),
    };
    let mut panel = Panel::default();
    let (x, x_factor) = axis(&across, shown);
    let (y, y_factor) = axis(&up, shown);
    (panel.x, panel.y) = (Axis { log: is_log(request, &across, shown), ..x }, with_extent(y, &up, y_factor, shown));
    for (curve, one) in shown.iter().enumerate() {
        let (x, y) = (across.values[one.place], up.values[one.place]);
        let (Some(x_mean), Some(y_mean)) = (x.mean, y.mean) else { continue };
        let ends = |figure: Figure, mean: f64, factor: f64| {
            let half = figure.ci95.unwrap_or(0.0);
            ((mean - half) * factor, (mean + half) * factor)
        };
        // A logarithmic axis ends at the marks: an interval that nearly reaches zero must not
        // squeeze everything else.
        let (low, high) = ends(x, x_mean, x_factor);
        let low = if panel.x.log { low.max(x_mean * x_factor / 2.0) } else { low };
        let point = Point {
            x: x_mean * x_factor,
            y: y_mean * y_factor,
            interval: Some(ends(y, y_mean, y_factor)),
            across: Some((low, high)),
            ..Point::default()
        };
        panel.series.push(Series { curve, shape: Shape::Scatter, points: vec![point] });
    }
    Ok((panel, shown.iter().map(|one| one.curve.clone()).collect()))
}

/// The axis of a figure, and the factor from its SI unit.
pub(crate) fn axis(metric: &Metric, shown: &[Shown]) -> (Axis, f64) {
    let values: Vec<Figure> = shown.iter().map(|one| metric.values[one.place]).collect();
    let (unit, factor) = unit_that_suits(metric.about.quantity, &values);
    let unit = if unit == "1" { String::new() } else { unit.to_owned() };
    (Axis { label: title(metric.about), unit, ..Axis::default() }, factor)
}

/// The axis of a part of a whole, with an extent of a point and a half: smaller differences are
/// level to a reader, and would otherwise fill the figure with their intervals.
fn with_extent(axis: Axis, metric: &Metric, factor: f64, shown: &[Shown]) -> Axis {
    let means = || shown.iter().filter_map(|one| metric.values[one.place].mean).map(|mean| mean * factor);
    let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    if metric.about.quantity != Quantity::Ratio || most - least >= LEVEL {
        return axis;
    }
    Axis { min: Some((most - 2.0 * LEVEL).max(0.0)), max: Some(most + LEVEL), ..axis }
}

pub(crate) fn is_log(request: &Request, metric: &Metric, shown: &[Shown]) -> bool {
    let means = || shown.iter().filter_map(|one| metric.values[one.place].mean);
    let least = means().fold(f64::INFINITY, f64::min);
    match request.scale {
        Some(Scale::Log) => least > 0.0,
        Some(Scale::Linear) => false,
        None => metric.about.quantity == Quantity::Time && least > 0.0 && means().fold(0.0, f64::max) > SPREAD * least,
    }
}
