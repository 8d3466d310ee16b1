//! The figures of a family.

use crate::evaluate::ellipse;
use crate::evaluate::evaluation::{Evaluation, FamilyResult, MeasuredValue, PointResult, SubjectEntry};
use crate::evaluate::measure::Measure;
use crate::evaluate::suite::{Picture, value_of};
use goodqueue_figure::{Axis, Curve, Figure, Look, Panel, Point, Series, Shape, Size};

/// Width of a figure, and height of a plot, in pixels.
const SIZE: (f64, f64) = (520.0, 230.0);

/// A measure by its number in the family.
struct Column {
    number: usize,
    measure: &'static Measure,
}

/// The figures with their captions.
pub(super) fn figures(evaluation: &Evaluation, result: &FamilyResult) -> Vec<(String, Figure)> {
    let column = |heading: &String| {
        let number = result.measures.iter().position(|measure| measure.head == *heading)?;
        Some(Column { number, measure: &result.measures[number] })
    };
    let page = Page { evaluation, result };
    let over = |of: &[String], x: Axis, shape: Shape, at: &[f64]| {
        let figure = |column: Column| {
            (format!("{}; mean and 95 % interval.", column.measure.head), page.over(&column, x.clone(), shape, at))
        };
        of.iter().filter_map(column).map(figure).collect()
    };
    match &result.family.picture {
        Picture::Nothing => Vec::new(),
        Picture::Ellipses { delay, goodput } => {
            let (Some(delay), Some(goodput)) = (column(delay), column(goodput)) else { return Vec::new() };
            let caption = "One mark a run, and the ellipse of one standard deviation; up and to the left is better (§2.7).";
            result.points.iter().map(|point| (caption.to_owned(), page.ellipses(point, &delay, &goodput))).collect()
        }
        Picture::Knob { delay, goodput } => {
            let (Some(delay), Some(goodput)) = (column(delay), column(goodput)) else { return Vec::new() };
            vec![("Delay and goodput from the least to the largest setpoint.".to_owned(), page.knob(&delay, &goodput))]
        }
        Picture::Curve { label, unit, of } => {
            let axis = Axis { label: label.clone(), unit: unit.clone(), log: true, ..Axis::default() };
            let at: Vec<f64> = result.family.cases.iter().filter_map(|case| value_of(case)).collect();
            over(of, axis, Shape::Marked, &at)
        }
        Picture::Bars(of) => {
            let axis = Axis { categories: Some(result.points.iter().map(name).collect()), ..Axis::default() };
            let at: Vec<f64> = (0..result.points.len()).map(|number| number as f64).collect();
            over(of, axis, Shape::Bars, &at)
        }
    }
}

/// Placement and point in a few words.
fn name(point: &PointResult) -> String {
    [point.placement, point.point].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

struct Page<'a> {
    evaluation: &'a Evaluation,
    result: &'a FamilyResult,
}

impl Page<'_> {
    fn figure(&self, part: &str, title: String, panel: Panel) -> Figure {
        let drawn = |number: usize| panel.series.iter().any(|series| series.curve == number && !series.points.is_empty());
        // Curves keep their numbers, so that a subject has one look on the whole page.
        let curve = |(number, subject): (usize, &SubjectEntry)| Curve {
            name: if drawn(number) { subject.name.clone() } else { String::new() },
            look: Look::of(number),
        };
        let curves = self.evaluation.subjects.iter().enumerate().map(curve).collect();
        Figure {
            id: format!("{}-{part}", self.result.family.id),
            title,
            size: Size { width: SIZE.0, columns: 1 },
            panels: vec![panel],
            curves,
        }
    }

    fn axis(column: &Column) -> Axis {
        Axis { label: column.measure.head.clone(), unit: column.measure.scale.unit.to_owned(), ..Axis::default() }
    }

    fn panel(x: Axis, y: Axis) -> Panel {
        Panel { height: SIZE.1, x, y, ..Panel::default() }
    }

    fn ellipses(&self, point: &PointResult, delay: &Column, goodput: &Column) -> Figure {
        let mut panel = Self::panel(Self::axis(delay), Self::axis(goodput));
        for (curve, line) in point.lines.iter().enumerate() {
            let of = |column: &Column| line.values[column.number].samples.clone();
            let scaled = |column: &Column, value: f64| value * column.measure.scale.factor;
            let runs = of(delay).into_iter().zip(of(goodput)).filter_map(|(x, y)| Some((scaled(delay, x?), scaled(goodput, y?))));
            let runs: Vec<(f64, f64)> = runs.collect();
            let at = |(x, y): &(f64, f64)| Point { x: *x, y: *y, words: line.subject.clone(), ..Point::default() };
            if let Some(polygon) = ellipse::polygon(&runs) {
                let points = polygon.iter().map(|place| Point { words: String::new(), ..at(place) }).collect();
                panel.series.push(Series { curve, shape: Shape::Line, points });
            }
            panel.series.push(Series { curve, shape: Shape::Scatter, points: runs.iter().map(at).collect() });
        }
        let case = name(point);
        let title = if case.is_empty() { self.result.family.title.to_owned() } else { case };
        self.figure(&format!("{}", point.number), title, panel)
    }

    fn knob(&self, delay: &Column, goodput: &Column) -> Figure {
        let mut panel = Self::panel(Self::axis(delay), Self::axis(goodput));
        for curve in 0..self.evaluation.subjects.len() {
            let at = |point: &PointResult| {
                let line = point.lines.get(curve)?;
                let of = |column: &Column| Some(line.values[column.number].figure.mean? * column.measure.scale.factor);
                Some(Point {
                    x: of(delay)?,
                    y: of(goodput)?,
                    words: format!("{} at {}", line.subject, name(point)),
                    ..Point::default()
                })
            };
            let points: Vec<Point> = self.result.points.iter().filter_map(at).collect();
            panel.series.push(Series { curve, shape: Shape::Marked, points });
        }
        self.figure("knob", self.result.family.title.to_owned(), panel)
    }

    /// A measure of all subjects at all points.
    fn over(&self, column: &Column, x: Axis, shape: Shape, at: &[f64]) -> Figure {
        let factor = column.measure.scale.factor;
        let mut panel = Self::panel(x, Self::axis(column));
        for curve in 0..self.evaluation.subjects.len() {
            let one = |(point, x): (&PointResult, &f64)| {
                let line = point.lines.get(curve)?;
                let MeasuredValue { figure, .. } = &line.values[column.number];
                let mean = figure.mean? * factor;
                let interval = figure.ci95.map(|half| (mean - half * factor, mean + half * factor));
                let words = format!("{}, {}: {}", line.subject, name(point), goodqueue_figure::short(mean));
                Some(Point { x: *x, y: mean, interval, words, ..Point::default() })
            };
            let points: Vec<Point> = self.result.points.iter().zip(at).filter_map(one).collect();
            panel.series.push(Series { curve, shape, points });
        }
        self.figure(&format!("m{}", column.number), column.measure.head.clone(), panel)
    }
}
