//! Layout of a figure: panels, axes and texts.

use crate::draw::Plot;
use crate::ink::{Area, escape, line, words};
use crate::layout::Layout;
use crate::legend::Legend;
use crate::palette::{self, Colour, HUES};
use crate::scale::Scale;
use crate::{Axis, Figure, Panel, Shape, Theme};
use std::fmt::Write;

/// Pixels of CSS.
const INCH: f64 = 96.0;

pub(crate) fn figure(figure: &Figure, layout: &Layout) -> String {
    let columns = figure.size.columns.clamp(1, figure.panels.len().max(1));
    let width = figure.size.width / columns as f64;
    let legend = Legend::of(figure, layout, figure.size.width);
    let stretch = stretch(figure, layout, &legend, width);
    let mut body = String::new();
    let mut top = 0.0;
    for line in figure.panels.chunks(columns) {
        let mut tallest = 0.0_f64;
        for (column, panel) in line.iter().enumerate() {
            let place = (column as f64 * width, top);
            tallest = tallest.max(draw_panel(&mut body, (figure, layout), panel, place, (width, stretch)));
        }
        top += tallest;
    }
    legend.draw(&mut body, (figure, layout), top);
    let (width, height) = (figure.size.width, layout.height.unwrap_or(top + legend.height()));
    let height = if layout.is_paper { (height * 100.0).round() / 100.0 } else { height.round_ties_even() };
    let inches = |pixels: f64| format!("{}in", (pixels / INCH * 1e4).round() / 1e4);
    let pixels = |pixels: f64| pixels.to_string();
    let [wide, tall] = [width, height].map(|length| if layout.is_paper { inches(length) } else { pixels(length) });
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gqf\" viewBox=\"0 0 {width} {height}\" width=\"{wide}\" height=\"{tall}\" \
         font-family=\"{}\" font-size=\"{}\" role=\"img\">\n<title>{}</title>\n<style>{}</style>\n\
         <rect class=\"g\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n",
        escape(&layout.family),
        layout.letters,
        escape(&figure.title),
        style(layout.theme)
    )
}

/// Factor on the heights of all panels that gives the figure the height that is asked for.
fn stretch(figure: &Figure, layout: &Layout, legend: &Legend, width: f64) -> f64 {
    let Some(height) = layout.height else { return 1.0 };
    let (mut plots, mut rest) = (0.0, legend.height());
    for line in figure.panels.chunks(figure.size.columns.clamp(1, figure.panels.len().max(1))) {
        let around = |panel: &Panel| layout.top(figure, &panel.title) + below(layout, panel, width);
        rest += line.iter().map(around).fold(0.0, f64::max);
        plots += line.iter().map(|panel| panel.height).fold(0.0, f64::max);
    }
    ((height - rest) / f64::max(plots, 1.0)).max(0.0)
}

/// Rules for ground, ink, grid, frame and curves: `s` and a number strokes in the color of a
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
        (label, unit) => format!("{label} ({unit})"),
    }
}

/// Whether each panel is taller than a few of its letters.
pub(crate) fn has_room(figure: &Figure, layout: &Layout) -> bool {
    let columns = figure.size.columns.clamp(1, figure.panels.len().max(1));
    let legend = Legend::of(figure, layout, figure.size.width);
    let stretch = stretch(figure, layout, &legend, figure.size.width / columns as f64);
    figure.panels.iter().all(|panel| panel.height * stretch >= 3.0 * layout.letters)
}

/// Room below a plot: ticks, slanted names and the title of the axis.
fn below(layout: &Layout, panel: &Panel, width: f64) -> f64 {
    let label = if with_unit(&panel.x).is_empty() { 0.0 } else { layout.label };
    // Slanting is decided before the room at the left is known, for which the numbers at the left
    // must be: a page's is close to it.
    layout.ticks + label + slant(layout, &panel.x, width - layout.left(4) - layout.right) + layout.gap
}

/// Draws a panel and tells how tall it is with its title, ticks and label.
fn draw_panel(
    text: &mut String,
    (figure, layout): (&Figure, &Layout),
    panel: &Panel,
    (x, y): (f64, f64),
    (width, stretch): (f64, f64),
) -> f64 {
    let title = if panel.title.is_empty() && figure.panels.len() == 1 && !layout.is_paper { &figure.title } else { &panel.title };
    let room = layout.top(figure, &panel.title);
    let (top, height) = (y + room, panel.height * stretch);
    let points = || panel.series.iter().filter(|series| series.shape != Shape::Strokes).flat_map(|series| &series.points);
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high]
    });
    // The length of a bar is its value, so bars begin at zero.
    let foot = panel.series.iter().any(|series| series.shape == Shape::Bars).then_some(0.0);
    let references = panel.references.iter().flat_map(|reference| [reference.value, reference.low, reference.high]).flatten();
    let up = Scale::new(&panel.y, ends.chain(foot).chain(references), top + height, top);
    let longest = up.ticks(36.0 * layout.scale()).iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    let area = Area { left: x + layout.left(longest), right: x + width - layout.right, top, bottom: top + height };
    let xs = panel.series.iter().flat_map(|series| &series.points).flat_map(|point| {
        let (low, high) = point.across.unwrap_or((point.x, point.x));
        [point.x, low, high]
    });
    let across = Scale::new(&panel.x, xs.chain(panel.references.iter().map(|reference| reference.x)), area.left, area.right);
    axes(text, layout, panel, (&across, &up), (area, layout.title_left(longest)));
    heading(text, layout, title, area, y);
    let clip = clip(text, figure, area);
    Plot { figure, panel, across: &across, up: &up, area, clip: &clip, scale: layout.scale() }.draw(text);
    room + height + below(layout, panel, width)
}

/// A title on one line, or on two where one has no room.
fn heading(text: &mut String, layout: &Layout, title: &str, area: Area, y: f64) {
    if title.is_empty() && layout.is_paper {
        return;
    }
    let middle = (area.left + area.right) / 2.0;
    let scale = layout.scale();
    let room = ((area.right - area.left + layout.right) / (7.4 * scale)) as usize;
    let split = title.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at);
    let half = split.min_by_key(|at| at.abs_diff(title.len() / 2));
    match half {
        Some(at) if title.chars().count() > room => {
            let more = format!(" font-weight=\"bold\" font-size=\"{}\"", layout.small);
            words(text, (middle, y + 12.0 * scale), "middle", &more, &title[..at]);
            words(text, (middle, y + 25.0 * scale), "middle", &more, &title[at + 1..]);
        }
        _ => words(text, (middle, y + 18.0 * scale), "middle", " font-weight=\"bold\"", title),
    }
}

/// Room below the axis for slanted names, so that they do not run into each other; zero when they
/// are not slanted.
fn slant(layout: &Layout, axis: &Axis, width: f64) -> f64 {
    let Some(names) = &axis.categories else { return 0.0 };
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    // Letters of a page's size are about 6 wide; a place must hold the longest name.
    let (room, scale) = (width / names.len().max(1) as f64, layout.scale());
    if 6.5 * scale * longest as f64 <= room { 0.0 } else { (3.0 * scale * longest as f64 - 10.0 * scale).max(1.0) }
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

fn axes(text: &mut String, layout: &Layout, panel: &Panel, (across, up): (&Scale, &Scale), (area, title_left): (Area, f64)) {
    let Area { left, right, top, bottom } = area;
    let scale = layout.scale();
    let small = format!(" font-size=\"{}\"", layout.small);
    for (from, to) in &panel.shaded {
        let (from, to) = (across.place(*from), across.place(*to));
        let _ = writeln!(
            text,
            "<rect class=\"h\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            to - from,
            bottom - top
        );
    }
    for (value, label) in up.ticks(36.0 * scale) {
        let y = up.place(value);
        line(text, "r", (left, y), (right, y), "");
        words(text, (left - 6.0 * scale, y + 4.0 * scale), "end", &small, &label);
    }
    let slanted = slant(layout, &panel.x, right - left);
    match &panel.x.categories {
        Some(names) => {
            for (place, name) in names.iter().enumerate() {
                let x = across.place(place as f64);
                let (y, size) = (bottom + 13.0 * scale, layout.slanted);
                if slanted > 0.0 {
                    let more = format!(" font-size=\"{size}\" transform=\"rotate(-30 {x:.1} {y:.1})\"");
                    words(text, (x, y), "end", &more, name);
                } else {
                    words(text, (x, bottom + 16.0 * scale), "middle", &small, name);
                }
            }
        }
        None => {
            for (value, label) in across.ticks(60.0 * scale) {
                let x = across.place(value);
                line(text, "r", (x, top), (x, bottom), "");
                words(text, (x, bottom + 16.0 * scale), "middle", &small, &label);
            }
        }
    }
    let _ = writeln!(
        text,
        "<rect class=\"a\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        right - left,
        bottom - top
    );
    let title = bottom + layout.ticks + 14.0 * scale + slanted;
    words(text, ((left + right) / 2.0, title), "middle", "", &with_unit(&panel.x));
    let (x, y) = (left - title_left, (top + bottom) / 2.0);
    words(text, (x, y), "middle", &format!(" transform=\"rotate(-90 {x:.1} {y:.1})\""), &with_unit(&panel.y));
}
