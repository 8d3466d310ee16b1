//! Legend: names of curves with their looks, in as many lines as they need.

use crate::draw::{colour, dashes, mark};
use crate::ink::{line, words};
use crate::layout::Layout;
use crate::{Figure, Shape};
use std::fmt::Write;

/// Points that are closer than this are seen as one, as a part of the extent of all values.
const INDISTINGUISHABLE: f64 = 0.002;

/// Entries with their places.
pub(crate) struct Legend {
    entries: Vec<Entry>,
    /// Height of all of it.
    height: f64,
}

struct Entry {
    /// The curve; none for the entry of reference values.
    curve: Option<usize>,
    name: String,
    x: f64,
    line: usize,
}

impl Legend {
    pub(crate) fn of(figure: &Figure, layout: &Layout, width: f64) -> Self {
        let (left, right) = (layout.legend_left(), width - layout.right);
        let mut named: Vec<(Option<usize>, String)> = Vec::new();
        for (number, curve) in figure.curves.iter().enumerate().filter(|(_, curve)| !curve.name.is_empty()) {
            let hidden = below(figure, number).map(|other| format!(" (coincides with {})", figure.curves[other].name));
            named.push((Some(number), format!("{}{}", curve.name, hidden.unwrap_or_default())));
        }
        if figure.panels.iter().any(|panel| !panel.references.is_empty()) {
            let name =
                if has_values(figure) { "as the study prints it, with what still agrees" } else { "what agrees with the study" };
            named.push((None, name.to_owned()));
        }
        // A little too wide does no harm.
        let widths: Vec<f64> =
            named.iter().map(|(_, name)| 40.0 * layout.scale() + layout.width_of(name.chars().count())).collect();
        // On paper, entries that need several lines stand in columns.
        let column = widths.iter().copied().fold(0.0, f64::max);
        let is_wrapped = layout.is_paper && left + widths.iter().sum::<f64>() > right;
        let mut entries = Vec::new();
        let (mut x, mut at) = (left, 0);
        for ((curve, name), wide) in named.into_iter().zip(widths) {
            let wide = if is_wrapped { column } else { wide };
            if x + wide > right && x > left {
                x = left;
                at += 1;
            }
            entries.push(Entry { curve, name, x, line: at });
            x += wide;
        }
        let lines = if entries.is_empty() { 0 } else { at + 1 };
        Self { entries, height: lines as f64 * layout.line + 8.0 * layout.scale() }
    }

    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    pub(crate) fn draw(&self, text: &mut String, (figure, layout): (&Figure, &Layout), top: f64) {
        let scale = layout.scale();
        for Entry { curve, name, x, line: at } in &self.entries {
            let y = top + *at as f64 * layout.line + 6.0 * scale;
            match curve {
                Some(curve) => key(text, (figure, layout), *curve, (*x, y)),
                None => {
                    text.push_str("<g>\n");
                    line(text, "a", (x + 12.0, y - 7.0), (x + 12.0, y + 7.0), " stroke-width=\"9\" stroke-opacity=\".25\"");
                    if has_values(figure) {
                        let _ = writeln!(
                            text,
                            "<path class=\"a\" stroke-width=\"1.4\" d=\"M{:.1} {:.1}l5 5l-5 5l-5-5z\"/>",
                            x + 12.0,
                            y - 5.0
                        );
                    }
                }
            }
            let small = format!(" font-size=\"{}\"", layout.small);
            words(text, (x + 29.0 * scale, y + 4.0 * scale), "start", &small, name);
            text.push_str("</g>\n");
        }
    }
}

/// Whether a reference is a value, and not only a bound.
fn has_values(figure: &Figure) -> bool {
    figure.panels.iter().flat_map(|panel| &panel.references).any(|reference| reference.value.is_some())
}

/// The look of a curve, with its group left open for the name.
fn key(text: &mut String, (figure, layout): (&Figure, &Layout), curve: usize, (x, y): (f64, f64)) {
    let (key, scale) = (layout.key, layout.scale());
    let look = figure.curves[curve].look;
    let shape =
        figure.panels.iter().flat_map(|panel| &panel.series).find(|series| series.curve == curve).map(|series| series.shape);
    let (stroke, fill) = (format!("s{}", colour(look)), format!("f{}", colour(look)));
    let _ = writeln!(text, "<g class=\"key\" data-curve=\"{curve}\">");
    match shape {
        Some(Shape::Bars | Shape::Boxes | Shape::Band) => {
            let _ = writeln!(
                text,
                "<rect class=\"{fill}\" fill-opacity=\".8\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{key}\" height=\"{}\"/>",
                y - 5.0 * scale,
                10.0 * scale
            );
        }
        _ => {
            if shape != Some(Shape::Scatter) {
                line(text, &stroke, (x, y), (x + key, y), &format!(" stroke-width=\"2\"{}", dashes(look)));
            }
            if matches!(shape, Some(Shape::Marked | Shape::Scatter)) {
                text.push_str(&mark(look, (x + key / 2.0, y), scale, &fill, ""));
            }
        }
    }
}

/// A later curve that covers this one wherever it has points.
fn below(figure: &Figure, curve: usize) -> Option<usize> {
    (curve + 1..figure.curves.len()).find(|other| {
        let mut has_points = false;
        let covered = figure.panels.iter().all(|panel| {
            let of = |curve: usize| panel.series.iter().find(|series| series.curve == curve && series.shape == Shape::Marked);
            let Some(own) = of(curve) else { return true };
            let Some(other) = of(*other) else { return false };
            let all = || panel.series.iter().flat_map(|series| &series.points).map(|point| point.y);
            let extent = all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min);
            has_points |= !own.points.is_empty();
            own.points.len() == other.points.len()
                && own
                    .points
                    .iter()
                    .zip(&other.points)
                    .all(|(own, other)| own.x == other.x && (own.y - other.y).abs() <= INDISTINGUISHABLE * extent)
        });
        covered && has_points
    })
}
