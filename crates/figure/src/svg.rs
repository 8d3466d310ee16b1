//! Layout of a figure: panels, axes and texts.

use crate::draw::Plot;
use crate::ink::{Area, escape, line, words};
use crate::legend::Legend;
use crate::palette::{self, Colour, HUES};
use crate::scale::Scale;
use crate::{Axis, Figure, Font, Panel, Shape, Theme};
use std::fmt::Write;

const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TITLE: f64 = 30.0;
const TICKS: f64 = 22.0;
const LABEL: f64 = 22.0;
const GAP: f64 = 8.0;

pub(crate) fn figure(figure: &Figure, theme: Theme, font: Font) -> String {
    let columns = figure.size.columns.clamp(1, figure.panels.len().max(1));
    let width = figure.size.width / columns as f64;
    let mut body = String::new();
    let mut top = 0.0;
    for line in figure.panels.chunks(columns) {
        let mut tallest = 0.0_f64;
        for (column, panel) in line.iter().enumerate() {
            tallest = tallest.max(draw_panel(&mut body, figure, panel, (column as f64 * width, top), width));
        }
        top += tallest;
    }
    let legend = Legend::of(figure, LEFT, figure.size.width - RIGHT);
    legend.draw(&mut body, figure, top);
    let (width, height) = (figure.size.width, top + legend.height());
    let family = match font {
        Font::Sans => "DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif",
        Font::Serif => "DejaVu Serif, Liberation Serif, Times, serif",
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gqf\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" \
         font-family=\"{family}\" font-size=\"12\" role=\"img\">\n<title>{}</title>\n<style>{}</style>\n\
         <rect class=\"g\" width=\"{width}\" height=\"{height:.0}\"/>\n{body}</svg>\n",
        escape(&figure.title),
        style(theme)
    )
}

/// Rules for ground, ink, grid, frame and curves: `s` and a number strokes in the colour of a
/// curve, `f` and a number fills.
fn style(theme: Theme) -> String {
    let rules = |of: fn(Colour) -> &'static str| {
        let ground = |name: &str| of(palette::named(name));
        let mut rules = format!(
            ".gqf .g{{fill:{}}}.gqf text{{fill:{}}}.gqf .m{{fill:{}}}.gqf .r{{stroke:{};fill:none}}.gqf .a{{stroke:{};fill:none}}.gqf .h{{fill:{};fill-opacity:.12}}",
            ground("surface"),
            ground("ink"),
            ground("muted"),
            ground("grid"),
            ground("line-strong"),
            ground("muted")
        );
        for (number, hue) in HUES.iter().enumerate() {
            let colour = of(palette::of(*hue));
            let _ = write!(rules, ".gqf .s{number}{{stroke:{colour};fill:none}}.gqf .f{number}{{fill:{colour};stroke:none}}");
        }
        rules
    };
    match theme {
        Theme::Print => rules(|colour| colour.light),
        Theme::Page => {
            let (light, dark) = (rules(|colour| colour.light), rules(|colour| colour.dark));
            format!("{light}@media(prefers-color-scheme:dark){{{dark}}}")
        }
    }
}

fn with_unit(axis: &Axis) -> String {
    match (axis.label.as_str(), axis.unit.as_str()) {
        (label, "") => label.to_owned(),
        ("", unit) => unit.to_owned(),
        (label, unit) => format!("{label} [{unit}]"),
    }
}

/// Draws a panel and tells how tall it is with its title, ticks and label.
fn draw_panel(text: &mut String, figure: &Figure, panel: &Panel, (x, y): (f64, f64), width: f64) -> f64 {
    let label = if with_unit(&panel.x).is_empty() { 0.0 } else { LABEL };
    let below = TICKS + label + slant(&panel.x, width - LEFT - RIGHT) + GAP;
    let top = y + TITLE;
    let area = Area { left: x + LEFT, right: x + width - RIGHT, top, bottom: top + panel.height };
    let points = || panel.series.iter().filter(|series| series.shape != Shape::Strokes).flat_map(|series| &series.points);
    let xs = panel.series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let across = Scale::new(&panel.x, xs.chain(panel.references.iter().map(|reference| reference.x)), area.left, area.right);
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high]
    });
    // The length of a bar is its value, so bars begin at zero.
    let foot = panel.series.iter().any(|series| series.shape == Shape::Bars).then_some(0.0);
    let references = panel.references.iter().flat_map(|reference| [reference.value, reference.low, reference.high]).flatten();
    let up = Scale::new(&panel.y, ends.chain(foot).chain(references), area.bottom, area.top);
    axes(text, panel, &across, &up, area);
    let title = if panel.title.is_empty() && figure.panels.len() == 1 { &figure.title } else { &panel.title };
    heading(text, title, area, y);
    let clip = clip(text, figure, area);
    Plot { figure, panel, across: &across, up: &up, area, clip: &clip }.draw(text);
    TITLE + panel.height + below
}

/// A title on one line, or on two where one has no room.
fn heading(text: &mut String, title: &str, area: Area, y: f64) {
    let middle = (area.left + area.right) / 2.0;
    let room = ((area.right - area.left + RIGHT) / 7.4) as usize;
    let split = title.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at);
    let half = split.min_by_key(|at| at.abs_diff(title.len() / 2));
    match half {
        Some(at) if title.chars().count() > room => {
            words(text, (middle, y + 12.0), "middle", " font-weight=\"bold\" font-size=\"11\"", &title[..at]);
            words(text, (middle, y + 25.0), "middle", " font-weight=\"bold\" font-size=\"11\"", &title[at + 1..]);
        }
        _ => words(text, (middle, y + 18.0), "middle", " font-weight=\"bold\"", title),
    }
}

/// Room below the axis for slanted names, so that they do not run into each other; zero when they
/// are not slanted.
fn slant(axis: &Axis, width: f64) -> f64 {
    let Some(names) = &axis.categories else { return 0.0 };
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    // Letters of this size are about 6 wide; a place must hold the longest name.
    let room = width / names.len().max(1) as f64;
    if 6.5 * longest as f64 <= room { 0.0 } else { (3.0 * longest as f64 - 10.0).max(1.0) }
}

/// Keeps curves inside of the axes; its name is unique on a page of many figures.
fn clip(text: &mut String, figure: &Figure, area: Area) -> String {
    let plain: String = figure.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = format!("clip-{plain}-{:.0}-{:.0}", area.left, area.top);
    // A little wider, so that marks at the ends stay whole.
    let _ = writeln!(
        text,
        "<clipPath id=\"{name}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>",
        area.left - 4.0,
        area.top - 4.0,
        area.right - area.left + 8.0,
        area.bottom - area.top + 8.0
    );
    name
}

fn axes(text: &mut String, panel: &Panel, across: &Scale, up: &Scale, area: Area) {
    let Area { left, right, top, bottom } = area;
    for (from, to) in &panel.shaded {
        let (from, to) = (across.place(*from), across.place(*to));
        let _ = writeln!(
            text,
            "<rect class=\"h\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            to - from,
            bottom - top
        );
    }
    for (value, label) in up.ticks(36.0) {
        let y = up.place(value);
        line(text, "r", (left, y), (right, y), "");
        words(text, (left - 6.0, y + 4.0), "end", " font-size=\"11\"", &label);
    }
    let slanted = slant(&panel.x, right - left);
    match &panel.x.categories {
        Some(names) => {
            for (place, name) in names.iter().enumerate() {
                let x = across.place(place as f64);
                if slanted > 0.0 {
                    let more = format!(" font-size=\"10\" transform=\"rotate(-30 {x:.1} {:.1})\"", bottom + 13.0);
                    words(text, (x, bottom + 13.0), "end", &more, name);
                } else {
                    words(text, (x, bottom + 16.0), "middle", " font-size=\"11\"", name);
                }
            }
        }
        None => {
            for (value, label) in across.ticks(60.0) {
                let x = across.place(value);
                line(text, "r", (x, top), (x, bottom), "");
                words(text, (x, bottom + 16.0), "middle", " font-size=\"11\"", &label);
            }
        }
    }
    let _ = writeln!(
        text,
        "<rect class=\"a\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        right - left,
        bottom - top
    );
    words(text, ((left + right) / 2.0, bottom + TICKS + 14.0 + slanted), "middle", "", &with_unit(&panel.x));
    let (x, y) = (left - 46.0, (top + bottom) / 2.0);
    words(text, (x, y), "middle", &format!(" transform=\"rotate(-90 {x:.1} {y:.1})\""), &with_unit(&panel.y));
}
