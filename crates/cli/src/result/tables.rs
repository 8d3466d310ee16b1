//! The printed result: one table for each link, one for groups of flows when there are several, and
//! what it means.

use super::Finished;
use crate::table::{self, Column};
use goodqueue_lab::metrics::{Description, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Printed, PrintedUnit, Quantity, When};
use goodqueue_lab::runner::PointResult;
use goodqueue_lab::statistics::Figure;
use goodqueue_lab::summary::PointSummary;
use std::fmt::Write as _;

/// A finished point and its name.
type Row<'a> = (&'a str, &'a PointSummary, &'a PointResult);

/// Nobody reads longer tables; programs read the summary.
const MOST_ROWS: usize = 100;

/// The printed result, not wider than `width`.
pub fn text(finished: &Finished<'_>, width: usize) -> String {
    let mut rows: Vec<Row<'_>> = finished
        .labels
        .names
        .iter()
        .zip(&finished.report.points)
        .filter_map(|(name, point)| Some((name.as_str(), point.summary.as_ref()?, point)))
        .collect();
    let not_shown = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let mut text = heading(finished);
    let mut left_out = Vec::new();
    for link in links(&rows) {
        let here: Vec<Row<'_>> = rows.iter().copied().filter(|(_, summary, _)| summary.link(&link).is_some()).collect();
        let _ = writeln!(text, "\nlink {link}");
        left_out.extend(link_table(&mut text, &link, &here, link == finished.main_link, width));
    }
    if rows.iter().any(|(_, summary, _)| summary.groups.len() > 1 || has_group_figures(summary)) {
        text.push_str("\ngroups of flows\n");
        left_out.extend(group_table(&mut text, &rows, width));
    }
    if not_shown > 0 {
        let _ = writeln!(text, "(the first {MOST_ROWS} points; {not_shown} more are in summary.json)");
    }
    let mut named: Vec<String> = Vec::new();
    left_out.into_iter().for_each(|column| {
        if !named.contains(&column) {
            named.push(column)
        }
    });
    if !named.is_empty() {
        let _ = writeln!(text, "(no room for {}; all figures are in summary.json)", named.join(", "));
    }
    let _ = writeln!(text, "\n{}", wrapped(&finished.sentence, width));
    text
}

fn heading(finished: &Finished<'_>) -> String {
    let plan = finished.job.plan;
    let replications = plan.replications();
    let times = finished.points.first().map_or_else(String::new, |point| {
        let warmup = point.plan.warmup;
        let after = if warmup.is_zero() { String::new() } else { format!(" after {warmup} of warm-up") };
        format!(" of {}{after}", point.plan.duration)
    });
    let runs = if replications == 1 { "1 run".to_owned() } else { format!("{replications} runs") };
    let interval = if replications == 1 { "" } else { "; mean±half-width of the 95 % confidence interval" };
    let heading = format!("{}: {runs}{times} each, seed {}{interval}\n", plan.name(), plan.seed());
    if finished.report.complete {
        return heading;
    }
    let total = finished.points.len() * replications as usize;
    format!("{heading}INCOMPLETE: {} of {total} runs finished\n", finished.report.fingerprints.len())
}

fn links(rows: &[Row<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in rows.iter().flat_map(|(_, summary, _)| &summary.links) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Is there something that only the table of groups shows?
fn has_group_figures(summary: &PointSummary) -> bool {
    let special = |about: &&Description| about.printed.is_some_and(|printed| printed.when == When::Defined);
    let names = GROUP_METRICS.iter().map(|metric| &metric.about).filter(special).map(|about| about.name);
    let has = |metric: &str| summary.groups.iter().any(|(_, group)| group.figures.figure(metric).n > 0);
    names.into_iter().any(has)
}

/// The names of the rows.
fn names(rows: &[Row<'_>]) -> Column {
    Column {
        head: String::new(),
        unit: String::new(),
        cells: rows.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        rank: 0,
    }
}

/// The smallest unit in which the largest of `figures` stays below `limit`.
fn unit_of(figures: &[Figure], units: &[(&'static str, f64)], limit: f64) -> (&'static str, f64) {
    let largest = figures.iter().filter_map(|figure| figure.mean).fold(0.0, f64::max);
    let fits = units.iter().rev().find(|(_, scale)| largest * scale < limit);
    *fits.unwrap_or(&units[0])
}

/// From the largest unit to the smallest.
const RATES: &[(&str, f64)] = &[("Gbit/s", 1e-9), ("Mbit/s", 1e-6), ("kbit/s", 1e-3), ("bit/s", 1.0)];
const BYTES: &[(&str, f64)] = &[("MB", 1e-6), ("kB", 1e-3), ("B", 1.0)];
const TIMES: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e3), ("µs", 1e6)];

/// Times of good and of bad queues stand in one column: a bad one may have four digits, so that a
/// good one still has some.
fn time_unit_of(figures: &[Figure]) -> (&'static str, f64) {
    let (unit, scale) = unit_of(figures, TIMES, 10_000.0);
    let largest = figures.iter().filter_map(|figure| figure.mean).fold(0.0, f64::max);
    if unit == "µs" && largest >= 1e-3 { ("ms", 1e3) } else { (unit, scale) }
}

/// A printed figure over all rows.
struct PrintedFigure {
    about: &'static Description,
    printed: Printed,
    figures: Vec<Figure>,
}

/// What the table prints of these figures, in its order.
fn printed(all: impl Iterator<Item = &'static Description>, figures: impl Fn(&str) -> Vec<Figure>) -> Vec<PrintedFigure> {
    let one = |about: &'static Description| Some(PrintedFigure { about, printed: about.printed?, figures: figures(about.name) });
    let is_shown = |one: &PrintedFigure| match one.printed.when {
        When::Always => true,
        When::Defined => one.figures.iter().any(|figure| figure.n > 0),
    };
    let mut shown: Vec<PrintedFigure> = all.filter_map(one).filter(is_shown).collect();
    shown.sort_by_key(|one| one.printed.place);
    shown
}

/// The unit of a column, and how many the SI unit has of it; those of one head share theirs.
fn unit_among(one: &PrintedFigure, all: &[PrintedFigure]) -> (&'static str, f64) {
    if let PrintedUnit::Fixed(unit, scale) = one.printed.unit {
        return (unit, scale);
    }
    let beside = all.iter().filter(|other| other.printed.head == one.printed.head);
    let figures: Vec<Figure> = beside.flat_map(|other| other.figures.iter().copied()).collect();
    match one.about.quantity {
        Quantity::Time => time_unit_of(&figures),
        Quantity::Rate => unit_of(&figures, RATES, 1000.0),
        Quantity::Bytes => unit_of(&figures, BYTES, 10_000.0),
        Quantity::Packets => ("packets", 1.0),
        Quantity::Ratio => ("%", 100.0),
        Quantity::Number => ("1", 1.0),
        Quantity::Count(of) => (of, 1.0),
    }
}

fn column(one: &PrintedFigure, all: &[PrintedFigure]) -> Column {
    let (unit, scale) = unit_among(one, all);
    let part = one.printed.part;
    let heading = match (part, unit) {
        ("", unit) => unit.to_owned(),
        (part, "1") => part.to_owned(),
        (part, unit) => format!("{part} {unit}"),
    };
    Column::figures(one.printed.head, &heading, one.printed.rank, scale, one.figures.iter().copied())
}

fn link_table(text: &mut String, link: &str, rows: &[Row<'_>], main: bool, width: usize) -> Vec<String> {
    let of_link = |metric: &str| -> Vec<Figure> {
        rows.iter().map(|(_, summary, _)| summary.link(link).map_or_else(Figure::default, |f| f.figure(metric))).collect()
    };
    let of_point = |metric: &str| -> Vec<Figure> { rows.iter().map(|(_, summary, _)| summary.jain.figure(metric)).collect() };
    let shown = printed(LINK_METRICS.iter().map(|metric| &metric.about), of_link);
    let mut columns: Vec<Column> = shown.iter().map(|one| column(one, &shown)).collect();
    if main {
        let goodput: Vec<Figure> =
            rows.iter().map(|(.., point)| Figure::of(point.runs.iter().map(|run| Some(run.goodput_bit_s)))).collect();
        let (unit, scale) = unit_of(&goodput, RATES, 1000.0);
        columns.insert(1, Column::figures("goodput", unit, 2, scale, goodput));
    }
    let flows = rows.iter().map(|(_, summary, _)| summary.flows.len()).max().unwrap_or(0);
    if main && flows > 1 {
        let fairness = printed(JAIN_METRICS.iter().map(|metric| &metric.about), of_point);
        columns.extend(fairness.iter().map(|one| column(one, &fairness)));
    }
    table::write(text, &names(rows), &columns, width)
}

fn group_table(text: &mut String, rows: &[Row<'_>], width: usize) -> Vec<String> {
    let mut cells = Vec::new();
    let mut groups = Vec::new();
    for (name, summary, _) in rows {
        for (group, figures) in &summary.groups {
            cells.push(if rows.len() == 1 { group.clone() } else { format!("{group}, {name}") });
            groups.push(figures);
        }
    }
    let names = Column { head: String::new(), unit: String::new(), cells, rank: 0 };
    let figures = |metric: &str| -> Vec<Figure> { groups.iter().map(|group| group.figures.figure(metric)).collect() };
    let flows = Column {
        head: "flows".to_owned(),
        unit: String::new(),
        cells: groups.iter().map(|group| group.flows.to_string()).collect(),
        rank: 3,
    };
    let shown = printed(GROUP_METRICS.iter().map(|metric| &metric.about), figures);
    let columns: Vec<Column> = std::iter::once(flows).chain(shown.iter().map(|one| column(one, &shown))).collect();
    table::write(text, &names, &columns, width)
}

/// Lines of at most `width` columns, broken at blanks.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push('\n');
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}
