//! Distributions of times in the queue, or of the round trips of probes.

use crate::plot::choice::{Request, Scale};
use crate::plot::source::{Line, Subject};
use crate::plot::{PlotError, Shown, Source};
use crate::{Axis, Curve, Panel, Point, Series, Shape};
use goodqueue_lab::results::metrics::{Quantity, unit_that_suits};
use goodqueue_lab::results::statistics::Figure;

/// Points of a curve: more than a column of a paper can show.
const MAX_POINTS: usize = 400;
/// A logarithmic axis begins where this share of some curve's packets has gone by.
const FIRST_SHARE: f64 = 0.01;
/// The least time on a logarithmic axis, in seconds.
const MIN_TIME_S: f64 = 1e-5;

pub(crate) fn draw(source: &dyn Source, request: &Request, shown: &[Shown]) -> Result<(Panel, Vec<Curve>), PlotError> {
    request.without_metric()?;
    let subject = request.subject(source)?;
    let mut all = source.distributions(&subject)?;
    let lines: Vec<Option<Line>> = shown.iter().map(|one| all.get_mut(one.place).and_then(Option::take)).collect();
    if lines.iter().all(Option::is_none) {
        return Err(missing(&subject));
    }
    let largest = lines.iter().flatten().filter_map(|line| line.last()).map(|(time, _)| *time).fold(0.0, f64::max);
    let (unit, factor) = unit_that_suits(Quantity::Time, &[Figure { mean: Some(largest), ci95: None, n: 1 }]);
    let label = match subject {
        Subject::Link(_) => "Sojourn time",
        Subject::Group(_) => "Round-trip time",
    };
    let log = request.scale != Some(Scale::Linear);
    let first = |line: &Line| line.iter().find(|(_, share)| *share >= FIRST_SHARE).map(|(time, _)| *time);
    let least = lines.iter().flatten().filter_map(first).fold(f64::INFINITY, f64::min).max(MIN_TIME_S);
    let min = if log { least.min(largest / 2.0) } else { 0.0 };
    let x = Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        log,
        min: Some(min * factor),
        max: Some(largest * factor),
        ..Axis::default()
    };
    let y =
        Axis { label: "Share of packets".to_owned(), unit: "%".to_owned(), min: Some(0.0), max: Some(100.0), ..Axis::default() };
    let mut panel = Panel { x, y, ..Panel::default() };
    for (curve, line) in lines.iter().enumerate() {
        let Some(line) = line else { continue };
        let points = thinned(line).map(|(time, share)| Point { x: time * factor, y: share * 100.0, ..Point::default() });
        // Before the first time nothing has gone by.
        let start = line.first().map(|(time, _)| Point { x: time.min(min) * factor, y: 0.0, ..Point::default() });
        panel.series.push(Series { curve, shape: Shape::Steps, points: start.into_iter().chain(points).collect() });
    }
    Ok((panel, shown.iter().map(|one| one.curve.clone()).collect()))
}

fn missing(subject: &Subject) -> PlotError {
    match subject {
        Subject::Link(_) => PlotError::new(
            "figure",
            "cdf: the result has no distributions: they are kept by gq run and gq compare with a report, of the first 24 points",
        ),
        Subject::Group(name) => PlotError::new(
            "group",
            format!(
                "`{name}` has no distribution: those of round trips are kept for groups of kind echo, by gq run and gq compare with a report"
            ),
        ),
    }
}

/// The points at which the share has grown by as much as can be seen, and the last one.
fn thinned(line: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let step = 1.0 / MAX_POINTS as f64;
    let mut before = f64::NEG_INFINITY;
    line.iter().enumerate().filter_map(move |(at, (time, share))| {
        let is_shown = *share >= before + step || at + 1 == line.len();
        if is_shown {
            before = *share;
        }
        is_shown.then_some((*time, *share))
    })
}
