//! The printed result: one table for each link, one for each group of flows, and what it means.
//! Rows are in the same order everywhere, those of one setting together, so that what is compared
//! stands in one column.

use super::Finished;
use crate::table::{self, Column, Text};
use goodqueue_lab::results::experience::Activity;
use goodqueue_lab::results::metrics::{
    Description, GROUP_METRICS, LINK_METRICS, MIN_TIME_S, Printed, PrintedUnit, Quantity, When, unit_that_suits,
};
use goodqueue_lab::results::sessions;
use goodqueue_lab::results::statistics::Figure;
use goodqueue_lab::results::summary::PointSummary;
use goodqueue_lab::run::runner::PointResult;
use goodqueue_lab::verdict::words::count;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A finished point and its name.
type Row<'a> = (&'a str, &'a PointSummary, &'a PointResult);

/// Nobody reads longer tables; programs read the summary.
const MAX_ROWS: usize = 100;
/// Most links, and most groups, that have a table.
const MAX_TABLES: usize = 20;

/// The printed result, not wider than `width`.
pub fn text(finished: &Finished<'_>, width: usize) -> Text {
    let mut rows = rows(finished);
    let not_shown = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    let mut text = Text { plain: heading(finished), bold: Vec::new() };
    let mut printer = Printer { text: &mut text, width, finished, left_out: Vec::new() };
    let (all_links, mut all_groups) = (links(&rows), groups(&rows));
    let of_all = [(all_links.len(), "links, those whose packets wait longest"), (all_groups.len(), "groups, the first")];
    all_groups.truncate(MAX_TABLES);
    for link in longest_waits(all_links, &rows) {
        let here: Vec<Row<'_>> = rows.iter().copied().filter(|(_, summary, _)| summary.link(&link).is_some()).collect();
        printer.link(&link, &here, &all_groups);
    }
    for (group, activity) in all_groups {
        printer.group(&group, activity, &rows);
    }
    let mut left_out = printer.left_out;
    let plain = &mut text.plain;
    if not_shown > 0 {
        let _ = writeln!(plain, "(the first {MAX_ROWS} points; {not_shown} more are in summary.json)");
    }
    for (many, which) in of_all.into_iter().filter(|(many, _)| *many > MAX_TABLES) {
        let _ = writeln!(plain, "({MAX_TABLES} of {many} {which}; all are in summary.json)");
    }
    let points = finished.results.points.iter().zip(&finished.results.report.points);
    let few = sessions::few(points.filter_map(|(point, result)| Some((point, result.summary.as_ref()?))));
    if let Some(note) = sessions::note(&few) {
        let _ = writeln!(plain, "{}", table::wrapped(&format!("({note})"), width));
    }
    left_out.sort();
    left_out.dedup();
    if !left_out.is_empty() {
        let _ = writeln!(plain, "(no room for {}; all figures are in summary.json)", left_out.join(", "));
    }
    text
}

/// The verdict, the last thing on the terminal.
pub fn verdict(finished: &Finished<'_>, width: usize) -> Text {
    Text { plain: format!("\n{}\n", table::wrapped(&finished.results.headline.text, width)), bold: Vec::new() }
}

/// Finished points, those of one setting together.
fn rows<'a>(finished: &'a Finished<'_>) -> Vec<Row<'a>> {
    let labels = &finished.results.labels;
    let mut settings: Vec<&str> = Vec::new();
    for split in &labels.splits {
        if !settings.contains(&split.setting.as_str()) {
            settings.push(&split.setting);
        }
    }
    let named = labels.names.iter().zip(&labels.splits).zip(&finished.results.report.points);
    let mut rows: Vec<(usize, Row<'_>)> = named
        .filter_map(|((name, split), point)| {
            let place = settings.iter().position(|setting| *setting == split.setting)?;
            Some((place, (name.as_str(), point.summary.as_ref()?, point)))
        })
        .collect();
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn heading(finished: &Finished<'_>) -> String {
    let plan = finished.job.plan;
    let replications = plan.replications();
    let times = finished.results.points.first().map_or_else(String::new, |point| {
        let warmup = point.plan.warmup;
        let after = if warmup.is_zero() { String::new() } else { format!(" after {warmup} of warm-up") };
        format!(" of {}{after}", point.plan.duration)
    });
    let runs = count(replications as usize, "run");
    let interval = if replications == 1 { "" } else { "; mean±half-width of the 95 % confidence interval" };
    let heading = format!("{}: {runs}{times} each, seed {}{interval}\n", plan.name(), plan.seed());
    if finished.results.report.complete {
        return heading;
    }
    let total = finished.results.points.len() * replications as usize;
    format!("{heading}INCOMPLETE: {} of {total} runs finished\n", finished.results.report.fingerprints.len())
}

fn links(rows: &[Row<'_>]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let all = rows.iter().flat_map(|(_, summary, _)| &summary.links).map(|(name, _)| name);
    all.filter(|name| known.insert(*name)).cloned().collect()
}

/// The links that have a table, in the order of the file: of too many, those with the longest
/// waits.
fn longest_waits(names: Vec<String>, rows: &[Row<'_>]) -> Vec<String> {
    if names.len() <= MAX_TABLES {
        return names;
    }
    let mut longest: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, figures) in rows.iter().flat_map(|(_, summary, _)| &summary.links) {
        let wait = longest.entry(name).or_insert(0.0);
        *wait = wait.max(figures.figure("sojourn_s.p95").mean.unwrap_or(0.0));
    }
    let mut waits: Vec<(usize, String)> = names.into_iter().enumerate().collect();
    let wait = |name: &str| longest.get(name).copied().unwrap_or(0.0);
    waits.sort_by(|(_, one), (_, other)| wait(other).total_cmp(&wait(one)));
    waits.truncate(MAX_TABLES);
    waits.sort_by_key(|(place, _)| *place);
    waits.into_iter().map(|(_, name)| name).collect()
}

/// Groups and what they do, in the order of the file.
fn groups(rows: &[Row<'_>]) -> Vec<(String, Activity)> {
    let mut known = BTreeSet::new();
    let all = rows.iter().flat_map(|(_, summary, _)| &summary.experience);
    let new = all.filter(|(name, _)| known.insert(name));
    new.map(|(name, experience)| (name.clone(), experience.activity)).collect()
}

/// A printed figure over all rows.
struct PrintedFigure {
    about: &'static Description,
    printed: Printed,
    figures: Vec<Figure>,
}

/// Selects the figures that the table prints, in its order.
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
    unit_that_suits(one.about.quantity, &figures)
}

fn column(one: &PrintedFigure, all: &[PrintedFigure]) -> Column {
    let (unit, scale) = unit_among(one, all);
    let part = one.printed.part;
    let heading = match (part, unit) {
        ("", unit) => unit.to_owned(),
        (part, "1") => part.to_owned(),
        (part, unit) => format!("{part} {unit}"),
    };
    let floor = (one.about.quantity == Quantity::Time && one.about.is_percentile()).then_some(MIN_TIME_S);
    Column::figures_from(floor, one.printed.head, &heading, one.printed.rank, scale, one.figures.iter().copied())
}

/// Writes the tables of one result.
struct Printer<'a> {
    text: &'a mut Text,
    width: usize,
    finished: &'a Finished<'a>,
    /// Columns that found no room.
    left_out: Vec<String>,
}

impl Printer<'_> {
    fn link(&mut self, link: &str, rows: &[Row<'_>], groups: &[(String, Activity)]) {
        let own = self.own_queue(link);
        let renamed = rows.iter().map(|&(name, summary, point)| (own.as_deref().unwrap_or(name), summary, point));
        let rows: &[Row<'_>] = &renamed.collect::<Vec<_>>();
        let main = link == self.finished.results.main_link();
        let of_link = |metric: &str| -> Vec<Figure> {
            rows.iter().map(|(_, summary, _)| summary.link(link).map_or_else(Figure::default, |f| f.figure(metric))).collect()
        };
        let shown = printed(LINK_METRICS.iter().map(|metric| &metric.about), of_link);
        let mut columns: Vec<Column> = shown.iter().map(|one| column(one, &shown)).collect();
        if main {
            let goodput: Vec<Figure> =
                rows.iter().map(|(.., point)| Figure::of(point.runs.iter().map(|run| Some(run.goodput_bit_s)))).collect();
            let (unit, scale) = unit_that_suits(Quantity::Rate, &goodput);
            columns.insert(1, Column::figures("goodput", unit, 2, scale, goodput));
            columns.splice(1..1, deciding(rows, groups));
        }
        self.table(&format!("link {link}"), rows, &columns);
    }

    /// The queue of this link, where the only point is called after that of the main link.
    fn own_queue(&self, link: &str) -> Option<String> {
        let [point] = self.finished.results.points.as_slice() else { return None };
        (self.finished.results.labels.names.first()? == &point.plan.main_queue()).then_some(())?;
        Some(point.plan.direction_called(link)?.queue.as_ref()?.name())
    }

    /// The experience of a group; of one that nobody waits for, its other figures as well.
    fn group(&mut self, group: &str, activity: Activity, rows: &[Row<'_>]) {
        let experience = experience_of(group, rows);
        let own = printed(activity.metrics().iter().map(|metric| &metric.about), experience);
        let mut columns: Vec<Column> = own.iter().map(|one| column(one, &own)).collect();
        if !activity.is_interactive() {
            let known = |about: &&'static Description| {
                activity.metrics().iter().all(|metric| metric.of_group().is_none_or(|own| own.name != about.name))
            };
            let of_group = |metric: &str| -> Vec<Figure> {
                let of =
                    |row: &Row<'_>| row.1.groups.iter().find(|(name, _)| name == group).map(|(_, of)| of.figures.figure(metric));
                rows.iter().map(|row| of(row).unwrap_or_default()).collect()
            };
            let rest = printed(GROUP_METRICS.iter().map(|metric| &metric.about).filter(known), of_group);
            columns.extend(rest.iter().map(|one| column(one, &rest)));
        }
        let flows = rows.iter().flat_map(|row| &row.1.groups).filter(|(name, _)| name == group).map(|(_, of)| of.flows).max();
        let flows = count(flows.unwrap_or(0) as usize, "flow");
        let what = if activity.name() == group { flows } else { format!("{}, {flows}", activity.name()) };
        self.table(&format!("{group} ({what})"), rows, &columns);
    }

    fn table(&mut self, heading: &str, rows: &[Row<'_>], columns: &[Column]) {
        let headline = &self.finished.results.headline;
        // Over several settings the headline names queues, each of which has a row in every
        // setting.
        let is_called =
            |name: &str, row: &str| row.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(", "));
        let named = || headline.best.iter().chain(&headline.not_significantly_different);
        let stands_out = |row: usize| {
            let name = rows[row].0;
            named().any(|one| is_called(one, name)) && !headline.outside_policy.iter().any(|outside| outside == name)
        };
        let _ = writeln!(self.text.plain, "\n{heading}");
        let names = Column::names(rows.iter().map(|(name, ..)| (*name).to_owned()).collect());
        self.left_out.extend(table::write(self.text, &names, columns, self.width, &stands_out));
    }
}

/// The figures of what one group got, by name.
fn experience_of<'a>(group: &'a str, rows: &'a [Row<'_>]) -> impl Fn(&str) -> Vec<Figure> + 'a {
    move |metric| {
        let of = |row: &Row<'_>| row.1.experience.iter().find(|(name, _)| name == group).map(|(_, of)| of.figures.figure(metric));
        rows.iter().map(|row| of(row).unwrap_or_default()).collect()
    }
}

/// The figures that decide between queues, of each group that has some, under its name.
fn deciding(rows: &[Row<'_>], groups: &[(String, Activity)]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (group, activity) in groups {
        let about = activity.deciding().map(|(_, metric)| &metric.about);
        let shown = printed(about, experience_of(group, rows));
        for one in &shown {
            let column = column(one, &shown);
            let unit = match column.unit.as_str() {
                "1" => column.head,
                unit => format!("{} {unit}", column.head),
            };
            columns.push(Column { head: group.clone(), unit, rank: 1, cells: column.cells });
        }
    }
    columns
}
