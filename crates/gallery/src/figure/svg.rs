//! A drawing as SVG: for print as it is, and for a page, where a small script shows values and switches curves.

use super::scale::Scale;
use super::{Drawing, Mark, Panel};
use crate::files::FigureKind;
use std::fmt::Write;

/// Colours that people with any common kind of colour vision tell apart (Okabe and Ito), darkest first; with dashes and markers, so that
/// grey prints work too.
const COLOURS: &[&str] = &["#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"];
const DASHES: &[&str] = &["", "7 3", "2 3", "9 3 2 3"];

const WIDTH: f64 = 520.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const PLOT: f64 = 250.0;
const BOTTOM: f64 = 52.0;
const LEGEND_LINE: f64 = 17.0;

/// Text as it may stand in XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The figure as one SVG file, panels side by side, two a line.
#[must_use]
pub fn svg(drawing: &Drawing) -> String {
    let columns = drawing.panels.len().clamp(1, 2);
    let lines = drawing.panels.len().div_ceil(columns);
    let legend = Legend::of(drawing, WIDTH * columns as f64);
    let panel_height = TOP + PLOT + BOTTOM + slant(drawing);
    let (width, height) = (WIDTH * columns as f64, panel_height * lines as f64 + legend.height());
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\" role=\"img\">\n\
         <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escape(&drawing.title)
    );
    for (number, panel) in drawing.panels.iter().enumerate() {
        let (x, y) = ((number % columns) as f64 * WIDTH, (number / columns) as f64 * panel_height);
        draw_panel(&mut text, drawing, panel, x, y);
    }
    legend.draw(&mut text, panel_height * lines as f64);
    text.push_str("</svg>\n");
    text
}

fn line(text: &mut String, from: (f64, f64), to: (f64, f64), more: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {more}/>", from.0, from.1, to.0, to.1);
}

fn words(text: &mut String, at: (f64, f64), anchor: &str, more: &str, what: &str) {
    let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" {more}>{}</text>", at.0, at.1, escape(what));
}

fn with_unit(label: &str, unit: &str) -> String {
    match (label, unit) {
        (label, "") => label.to_owned(),
        ("", unit) => unit.to_owned(),
        (label, unit) => format!("{label} [{unit}]"),
    }
}

fn draw_panel(text: &mut String, drawing: &Drawing, panel: &Panel, x: f64, y: f64) {
    let (left, right, top, bottom) = (x + LEFT, x + WIDTH - RIGHT, y + TOP, y + TOP + PLOT);
    let across = Scale::new(&drawing.x, drawing.x_values(), left, right);
    // The length of a bar is its value, so bars begin at zero.
    let ground = (drawing.kind == FigureKind::Bars).then_some(0.0);
    let up = Scale::new(&drawing.y, drawing.y_values().chain(ground), bottom, top);
    draw_axes(text, drawing, &across, &up, (left, right, top, bottom));
    let title = if panel.title.is_empty() { &drawing.title } else { &panel.title };
    words(text, ((left + right) / 2.0, y + 18.0), "middle", "font-weight=\"bold\"", title);
    let clip = clip(text, drawing, (left, right, top, bottom));
    for (at, (curve, marks)) in panel.curves.iter().enumerate() {
        let colour = COLOURS[curve % COLOURS.len()];
        let dash = dash(drawing.kind, *curve);
        let _ = writeln!(
            text,
            "<g class=\"curve\" data-curve=\"{curve}\" stroke=\"{colour}\" fill=\"none\" clip-path=\"url(#{clip})\">"
        );
        let look = Look { across: &across, up: &up, colour, dash, curve: *curve, drawing };
        match drawing.kind {
            FigureKind::Lines => look.curve_with_bars(text, marks),
            FigureKind::Time => look.polyline(text, marks, 1.1),
            FigureKind::Bars => look.bars(text, marks, at, panel.curves.len(), bottom),
            FigureKind::Boxes => look.boxes(text, marks, at, panel.curves.len()),
        }
        text.push_str("</g>\n");
    }
}

/// How much more room names below the axis take when they are slanted, so that they do not run into each other; zero when they are not.
fn slant(drawing: &Drawing) -> f64 {
    let Some(names) = &drawing.x.categories else { return 0.0 };
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    // Letters of this size are about 6 wide; a place must hold the longest name.
    let room = (WIDTH - LEFT - RIGHT) / names.len().max(1) as f64;
    if 6.5 * longest as f64 <= room { 0.0 } else { (3.0 * longest as f64 - 10.0).max(1.0) }
}

/// Dashes of a curve. Series over time have so many corners that dashes would only make them hard to follow.
fn dash(kind: FigureKind, curve: usize) -> &'static str {
    if kind == FigureKind::Time { "" } else { DASHES[(curve / COLOURS.len() + curve) % DASHES.len()] }
}

/// Keeps curves inside of the axes; its name is unique on a page of many figures.
fn clip(text: &mut String, drawing: &Drawing, (left, right, top, bottom): (f64, f64, f64, f64)) -> String {
    let plain: String = drawing.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = format!("clip-{plain}-{left:.0}-{top:.0}");
    // A little wider, so that marks at the ends stay whole.
    let _ = writeln!(
        text,
        "<clipPath id=\"{name}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>",
        left - 3.0,
        top - 3.0,
        right - left + 6.0,
        bottom - top + 6.0
    );
    name
}

fn draw_axes(text: &mut String, drawing: &Drawing, across: &Scale, up: &Scale, ends: (f64, f64, f64, f64)) {
    let (left, right, top, bottom) = ends;
    for (value, label) in up.ticks() {
        let y = up.place(value);
        line(text, (left, y), (right, y), "stroke=\"#e4e4e4\"");
        words(text, (left - 6.0, y + 4.0), "end", "font-size=\"11\"", &label);
    }
    match &drawing.x.categories {
        Some(names) => {
            let slanted = slant(drawing) > 0.0;
            for (place, name) in names.iter().enumerate() {
                let x = across.place(place as f64);
                let more = if slanted {
                    format!("font-size=\"10\" transform=\"rotate(-30 {x:.1} {:.1})\"", bottom + 13.0)
                } else {
                    "font-size=\"11\"".into()
                };
                words(text, (x, bottom + if slanted { 13.0 } else { 16.0 }), if slanted { "end" } else { "middle" }, &more, name);
            }
        }
        None => {
            for (value, label) in across.ticks() {
                let x = across.place(value);
                line(text, (x, top), (x, bottom), "stroke=\"#efefef\"");
                words(text, (x, bottom + 16.0), "middle", "font-size=\"11\"", &label);
            }
        }
    }
    let _ = writeln!(
        text,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#555\"/>",
        right - left,
        bottom - top
    );
    let below = bottom + 40.0 + slant(drawing);
    words(text, ((left + right) / 2.0, below), "middle", "", &with_unit(&drawing.x.label, &drawing.x.unit));
    let (x, y) = (left - 46.0, (top + bottom) / 2.0);
    let turned = format!("transform=\"rotate(-90 {x:.1} {y:.1})\"");
    words(text, (x, y), "middle", &turned, &with_unit(&drawing.y.label, &drawing.y.unit));
}

struct Look<'a> {
    across: &'a Scale,
    up: &'a Scale,
    colour: &'a str,
    dash: &'a str,
    curve: usize,
    drawing: &'a Drawing,
}

impl Look<'_> {
    fn polyline(&self, text: &mut String, marks: &[Mark], width: f64) {
        let places: Vec<String> =
            marks.iter().map(|mark| format!("{:.1},{:.1}", self.across.place(mark.x), self.up.place(mark.y))).collect();
        let dash = if self.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", self.dash) };
        let _ = writeln!(text, "<polyline points=\"{}\" stroke-width=\"{width}\"{dash}/>", places.join(" "));
    }

    fn curve_with_bars(&self, text: &mut String, marks: &[Mark]) {
        self.polyline(text, marks, 1.6);
        for mark in marks.iter().filter(|mark| self.up.holds(mark.y)) {
            let x = self.across.place(mark.x);
            self.whisker(text, x, mark);
            let _ = writeln!(
                text,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.8\" fill=\"{}\"><title>{}</title></circle>",
                self.up.place(mark.y),
                self.colour,
                escape(&self.told(mark))
            );
        }
    }

    fn whisker(&self, text: &mut String, x: f64, mark: &Mark) {
        let (low, high) = (self.up.place(mark.low), self.up.place(mark.high));
        if (low - high).abs() > 1.0 {
            line(text, (x, low), (x, high), "stroke-width=\"1\"");
            line(text, (x - 3.0, low), (x + 3.0, low), "stroke-width=\"1\"");
            line(text, (x - 3.0, high), (x + 3.0, high), "stroke-width=\"1\"");
        }
    }

    /// Place and width of one of several things at a category.
    fn slot(&self, x: f64, at: usize, of: usize) -> (f64, f64) {
        let step = (self.across.place(1.0) - self.across.place(0.0)).abs() * 0.8;
        let width = step / of.max(1) as f64;
        (self.across.place(x) - step / 2.0 + width * at as f64, width * 0.9)
    }

    fn bars(&self, text: &mut String, marks: &[Mark], at: usize, of: usize, bottom: f64) {
        for mark in marks {
            let (x, width) = self.slot(mark.x, at, of);
            let y = self.up.place(mark.y);
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\" fill-opacity=\"0.75\"><title>{}</title></rect>",
                (bottom - y).max(0.0),
                self.colour,
                escape(&self.told(mark))
            );
            self.whisker(text, x + width / 2.0, mark);
        }
    }

    fn boxes(&self, text: &mut String, marks: &[Mark], at: usize, of: usize) {
        for mark in marks {
            let (x, width) = self.slot(mark.x, at, of);
            let Some((first, third)) = mark.quartiles else { continue };
            let (low, high) = (self.up.place(first), self.up.place(third));
            self.whisker(text, x + width / 2.0, mark);
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"#fff\"><title>{}</title></rect>",
                (low - high).max(0.5),
                escape(&self.told(mark))
            );
            let middle = self.up.place(mark.y);
            line(text, (x, middle), (x + width, middle), "stroke-width=\"2\"");
        }
    }

    /// A mark in words, for who points at it.
    fn told(&self, mark: &Mark) -> String {
        let x = match &self.drawing.x.categories {
            Some(names) => names.get(mark.x as usize).cloned().unwrap_or_default(),
            None => format!("{} {}", short(mark.x), self.drawing.x.unit),
        };
        let name = self.drawing.curves.get(self.curve).map_or("", String::as_str);
        let unit = &self.drawing.y.unit;
        let spread = match mark.quartiles {
            Some((first, third)) => {
                format!(
                    "median {}, quartiles {} and {}, range {} to {}",
                    short(mark.y),
                    short(first),
                    short(third),
                    short(mark.low),
                    short(mark.high)
                )
            }
            None if self.drawing.range => {
                format!("{}, runs from {} to {}", short(mark.y), short(mark.low), short(mark.high))
            }
            None => format!("{} ± {}", short(mark.y), short((mark.high - mark.low) / 2.0)),
        };
        format!("{name}{}{}: {spread} {unit}", if name.is_empty() { "" } else { " at " }, x.trim())
    }
}

/// Four significant digits at most.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        _ if value == 0.0 => "0".to_owned(),
        _ if !(1e-3..1e5).contains(&size) => return format!("{value:.2e}"),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Names of curves with their looks, in as many lines as they need.
struct Legend {
    entries: Vec<(usize, String, f64, usize)>,
    lines: usize,
    kind: FigureKind,
}

impl Legend {
    fn of(drawing: &Drawing, width: f64) -> Self {
        let mut entries = Vec::new();
        let (mut x, mut at) = (LEFT, 0);
        for (number, name) in drawing.curves.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            // About the width of the letters at this size; a little too wide does no harm.
            let wide = 40.0 + 7.2 * name.chars().count() as f64;
            if x + wide > width - RIGHT && x > LEFT {
                x = LEFT;
                at += 1;
            }
            entries.push((number, name.clone(), x, at));
            x += wide;
        }
        let lines = if entries.is_empty() { 0 } else { at + 1 };
        Self { entries, lines, kind: drawing.kind }
    }

    fn height(&self) -> f64 {
        self.lines as f64 * LEGEND_LINE + 8.0
    }

    fn draw(&self, text: &mut String, top: f64) {
        for (number, name, x, at) in &self.entries {
            let y = top + *at as f64 * LEGEND_LINE + 6.0;
            let colour = COLOURS[number % COLOURS.len()];
            let dash = dash(self.kind, *number);
            let _ = writeln!(text, "<g class=\"key\" data-curve=\"{number}\">");
            line(
                text,
                (*x, y),
                (x + 24.0, y),
                &format!(
                    "stroke=\"{colour}\" stroke-width=\"2\" {}",
                    if dash.is_empty() { String::new() } else { format!("stroke-dasharray=\"{dash}\"") }
                ),
            );
            if self.kind != FigureKind::Time {
                let _ = writeln!(text, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"2.8\" fill=\"{colour}\"/>", x + 12.0);
            }
            words(text, (x + 29.0, y + 4.0), "start", "font-size=\"11\"", name);
            text.push_str("</g>\n");
        }
    }
}
