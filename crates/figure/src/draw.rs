//! Curves, bars, boxes and reference values of one panel.

use crate::ink::{Area, escape, line};
use crate::palette::{DASHES, HUES, Look, Mark};
use crate::scale::Scale;
use crate::{Figure, Panel, Point, Reference, Series, Shape};
use std::fmt::Write;

/// Tallest stroke at the foot of a panel, in pixels.
const TALLEST_STROKE: f64 = 60.0;
/// Length of the open end of a reference beyond its bound, in pixels.
const OPEN_END: f64 = 12.0;

/// One panel with its scales.
pub(crate) struct Plot<'a> {
    pub(crate) figure: &'a Figure,
    pub(crate) panel: &'a Panel,
    pub(crate) across: &'a Scale,
    pub(crate) up: &'a Scale,
    pub(crate) area: Area,
    pub(crate) clip: &'a str,
    /// Factor on marks.
    pub(crate) scale: f64,
}

/// Number of a look's color in the classes of the style.
pub(crate) fn colour(look: Look) -> usize {
    HUES.iter().position(|hue| *hue == look.hue).unwrap_or(0)
}

pub(crate) fn dashes(look: Look) -> String {
    let pattern = DASHES[look.dash % DASHES.len()];
    if pattern.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{pattern}\"") }
}

/// A mark as a filled path around a place, of the size of a page's where `scale` is 1.
pub(crate) fn mark(look: Look, (x, y): (f64, f64), scale: f64, class: &str, title: &str) -> String {
    let outline = match look.mark {
        Mark::Circle => "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
        Mark::Square => "m-2.7-2.7h5.4v5.4h-5.4z",
        Mark::Diamond => "m0-3.8l3.8 3.8l-3.8 3.8l-3.8-3.8z",
        Mark::Up => "m0-3.6l3.4 6h-6.8z",
        Mark::Down => "m0 3.6l3.4-6h-6.8z",
        Mark::Cross => "m-3.2-2.2l1-1l2.2 2.2l2.2-2.2l1 1l-2.2 2.2l2.2 2.2l-1 1l-2.2-2.2l-2.2 2.2l-1-1l2.2-2.2z",
    };
    let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
    if scale == 1.0 {
        return format!("<path class=\"{class}\" d=\"M{x:.1} {y:.1}{outline}\">{title}</path>\n");
    }
    let place = format!("translate({x:.1} {y:.1}) scale({scale:.3})");
    format!("<path class=\"{class}\" transform=\"{place}\" d=\"M0 0{outline}\">{title}</path>\n")
}

impl Plot<'_> {
    pub(crate) fn draw(&self, text: &mut String) {
        let (bars, slots) = self.slots();
        for (at, series) in self.panel.series.iter().enumerate() {
            let look = self.look(series.curve);
            let _ = writeln!(text, "<g class=\"curve\" data-curve=\"{}\" clip-path=\"url(#{})\">", series.curve, self.clip);
            match series.shape {
                Shape::Marked => self.marked(text, series, look),
                Shape::Line => self.line(text, series, look, " stroke-width=\"1.2\""),
                Shape::Steps => self.steps(text, series, look),
                Shape::Scatter => self.marks(text, series, look),
                Shape::Band => self.band(text, series, look),
                Shape::Bars => self.bars(text, series, look, (bars[at], slots)),
                Shape::Boxes => self.boxes(text, series, look, (bars[at], slots)),
                Shape::Strokes => self.strokes(text, series, look),
            }
            text.push_str("</g>\n");
        }
        for (at, reference) in self.panel.references.iter().enumerate() {
            let (before, after) = self.panel.references.split_at(at);
            let is_same = |other: &Reference| slots == 0 && other.agrees_with(reference);
            // One bar on top of another would hide the curves.
            if !before.iter().any(is_same) {
                let is_shared = after.iter().any(|other| other.curve != reference.curve && is_same(other));
                self.reference(text, reference, is_shared, (&bars, slots));
            }
        }
    }

    fn look(&self, curve: usize) -> Look {
        self.figure.curves.get(curve).map_or(Look::of(curve), |curve| curve.look)
    }

    /// The place of each series among those that stand side by side at a category, and how
    /// many there are. Series that share no category need no room next to each other.
    fn slots(&self) -> (Vec<usize>, usize) {
        let stands = |series: &&Series| matches!(series.shape, Shape::Bars | Shape::Boxes);
        let xs = || self.panel.series.iter().filter(stands).flat_map(|series| &series.points).map(|point| point.x);
        let shares = xs().enumerate().any(|(at, x)| xs().skip(at + 1).any(|other| other == x));
        let mut count = 0;
        let place = |series: &Series| {
            let place = if shares { count } else { 0 };
            count += usize::from(stands(&series));
            place
        };
        let places = self.panel.series.iter().map(place).collect();
        (places, if shares { count } else { count.min(1) })
    }

    fn place(&self, point: &Point) -> (f64, f64) {
        (self.across.place(point.x), self.up.place(point.y))
    }

    /// A path through all points, broken where a value is not finite.
    fn line(&self, text: &mut String, series: &Series, look: Look, more: &str) {
        let mut path = String::new();
        let mut is_drawn = false;
        for point in &series.points {
            if !point.y.is_finite() {
                is_drawn = false;
                continue;
            }
            let (x, y) = self.place(point);
            let _ = write!(path, "{}{x:.1} {y:.1}", if is_drawn { 'L' } else { 'M' });
            is_drawn = true;
        }
        let _ =
            writeln!(text, "<path class=\"s{}\" d=\"{path}\" stroke-linejoin=\"round\"{more}{}/>", colour(look), dashes(look));
    }

    fn steps(&self, text: &mut String, series: &Series, look: Look) {
        let mut points: Vec<Point> = Vec::new();
        for point in &series.points {
            if let Some(y) = points.last().map(|before| before.y) {
                points.push(Point { x: point.x, y, ..Point::default() });
            }
            points.push(Point { x: point.x, y: point.y, ..Point::default() });
        }
        self.line(text, &Series { points, ..series.clone() }, look, " stroke-width=\"1.4\"");
    }

    fn marked(&self, text: &mut String, series: &Series, look: Look) {
        self.line(text, series, look, " stroke-width=\"1.6\"");
        for point in series.points.iter().filter(|point| self.up.holds(point.y)) {
            self.whisker(text, &format!("s{}", colour(look)), self.across.place(point.x), point);
        }
        self.marks(text, series, look);
    }

    fn marks(&self, text: &mut String, series: &Series, look: Look) {
        for point in series.points.iter().filter(|point| self.up.holds(point.y)) {
            if let Some(across) = point.across {
                self.whisker_across(text, look, self.up.place(point.y), across);
                self.whisker(text, &format!("s{}", colour(look)), self.across.place(point.x), point);
            }
            text.push_str(&mark(look, self.place(point), self.scale, &format!("f{}", colour(look)), &point.words));
        }
    }

    fn band(&self, text: &mut String, series: &Series, look: Look) {
        let ends = |point: &Point| point.interval.unwrap_or((point.y, point.y));
        let mut path = String::new();
        let highs = series.points.iter().map(|point| (point.x, ends(point).1));
        let lows = series.points.iter().rev().map(|point| (point.x, ends(point).0));
        for (at, (x, y)) in highs.chain(lows).enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if at == 0 { 'M' } else { 'L' }, self.across.place(x), self.up.place(y));
        }
        let _ = writeln!(text, "<path class=\"f{}\" fill-opacity=\".2\" d=\"{path}Z\"/>", colour(look));
    }

    fn whisker(&self, text: &mut String, class: &str, x: f64, point: &Point) {
        let Some((low, high)) = point.interval else { return };
        let (low, high) = (self.up.place(low), self.up.place(high));
        if (low - high).abs() > 1.0 {
            let _ = writeln!(text, "<path class=\"{class}\" d=\"M{:.1} {low:.1}h6m-3 0V{high:.1}m-3 0h6\"/>", x - 3.0);
        }
    }

    fn whisker_across(&self, text: &mut String, look: Look, y: f64, (low, high): (f64, f64)) {
        let (low, high) = (self.across.place(low), self.across.place(high));
        if (high - low).abs() > 1.0 {
            let _ = writeln!(text, "<path class=\"s{}\" d=\"M{low:.1} {:.1}v6m0-3H{high:.1}m0-3v6\"/>", colour(look), y - 3.0);
        }
    }

    /// Left edge and width of one of several things at a category.
    fn slot(&self, x: f64, (at, of): (usize, usize)) -> (f64, f64) {
        let step = (self.across.place(1.0) - self.across.place(0.0)).abs() * 0.8;
        let width = step / of.max(1) as f64;
        (self.across.place(x) - step / 2.0 + width * at as f64, width * 0.9)
    }

    fn bars(&self, text: &mut String, series: &Series, look: Look, slot: (usize, usize)) {
        for point in &series.points {
            let (x, width) = self.slot(point.x, slot);
            let y = self.up.place(point.y);
            let _ = writeln!(
                text,
                "<rect class=\"f{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill-opacity=\".8\"><title>{}</title></rect>",
                colour(look),
                (self.area.bottom - y).max(0.0),
                escape(&point.words)
            );
            // In ink, to be seen on a bar of its own color.
            self.whisker(text, "a", x + width / 2.0, point);
        }
    }

    fn boxes(&self, text: &mut String, series: &Series, look: Look, slot: (usize, usize)) {
        let stroke = format!("s{}", colour(look));
        for point in &series.points {
            let Some((first, third)) = point.quartiles else { continue };
            let (x, width) = self.slot(point.x, slot);
            let (low, high) = (self.up.place(first), self.up.place(third));
            if let Some((least, greatest)) = point.interval {
                let middle = x + width / 2.0;
                line(text, &stroke, (middle, self.up.place(least)), (middle, low), "");
                line(text, &stroke, (middle, high), (middle, self.up.place(greatest)), "");
            }
            let rect = format!("x=\"{x:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" height=\"{:.1}\"", (low - high).max(0.5));
            let _ = writeln!(
                text,
                "<rect class=\"f{}\" fill-opacity=\".2\" {rect}><title>{}</title></rect><rect class=\"{stroke}\" pointer-events=\"none\" {rect}/>",
                colour(look),
                escape(&point.words)
            );
            let middle = self.up.place(point.y);
            line(text, &stroke, (x, middle), (x + width, middle), " stroke-width=\"2\"");
        }
    }

    fn strokes(&self, text: &mut String, series: &Series, look: Look) {
        let mut path = String::new();
        for point in series.points.iter().filter(|point| point.y > 0.0) {
            let height = (2.0 + 2.0 * point.y).min(TALLEST_STROKE);
            let _ = write!(path, "M{:.1} {:.1}v-{height:.0}", self.across.place(point.x), self.area.bottom);
        }
        let _ = writeln!(text, "<path class=\"s{}\" stroke-opacity=\".6\" d=\"{path}\"/>", colour(look));
    }

    /// A hollow diamond at the value, on a pale bar over what agrees with it; in the color of the
    /// curve, unless it is about several.
    fn reference(&self, text: &mut String, reference: &Reference, is_shared: bool, (bars, slots): (&[usize], usize)) {
        let look = self.look(reference.curve);
        let own = self.panel.series.iter().position(|series| series.curve == reference.curve);
        let x = match own.filter(|_| slots > 0) {
            Some(at) => {
                let (left, width) = self.slot(reference.x, (bars[at], slots));
                left + width / 2.0
            }
            None => self.across.place(reference.x),
        };
        let (bottom, top) = self.up.ends();
        let place = |value: f64| self.up.place(value).clamp(top, bottom);
        let low = reference.low.map_or_else(|| reference.high.map_or(bottom, |high| place(high) + OPEN_END), place);
        let high = reference.high.map_or_else(|| reference.low.map_or(top, |low| place(low) - OPEN_END), place);
        let _ = writeln!(
            text,
            "<g class=\"curve reference\" data-curve=\"{}\" clip-path=\"url(#{})\"><title>{}</title>",
            reference.curve,
            self.clip,
            escape(&reference.words)
        );
        // On a bar of its own color it could not be seen.
        let class = if slots > 0 || is_shared { "a".to_owned() } else { format!("s{}", colour(look)) };
        let more = " stroke-width=\"9\" stroke-opacity=\".25\"";
        line(text, &class, (x, low.max(high + 1.0)), (x, high), more);
        // An end where agreement stops has a stroke across it; an open one has none.
        for end in [reference.low.map(|_| low), reference.high.map(|_| high)].into_iter().flatten() {
            line(text, &class, (x - 4.5, end), (x + 4.5, end), "");
        }
        if let Some(value) = reference.value {
            let y = place(value);
            let _ = writeln!(text, "<path class=\"{class}\" stroke-width=\"1.4\" d=\"M{x:.1} {:.1}l5 5l-5 5l-5-5z\"/>", y - 5.0);
        }
        text.push_str("</g>\n");
    }
}
