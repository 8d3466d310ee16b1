//! The printed result: one table for each link, one for groups of flows when there are several, and what it means.

use super::Finished;
use crate::table::{self, Column};
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
    let has = |metric| summary.groups.iter().any(|(_, group)| group.figures.figure(metric).n > 0);
    ["completion_s.p50", "video.bitrate_bit_s", "one_way_delay_s.p95"].into_iter().any(has)
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
fn unit_of<'a>(figures: &[Figure], units: &[(&'a str, f64)], limit: f64) -> (&'a str, f64) {
    let largest = figures.iter().filter_map(|figure| figure.mean).fold(0.0, f64::max);
    let fits = units.iter().rev().find(|(_, scale)| largest * scale < limit);
    *fits.unwrap_or(&units[0])
}

/// From the largest unit to the smallest.
const RATES: &[(&str, f64)] = &[("Gbit/s", 1e-9), ("Mbit/s", 1e-6), ("kbit/s", 1e-3), ("bit/s", 1.0)];
const TIMES: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e3), ("µs", 1e6)];

/// Times of good and of bad queues stand in one column: a bad one may have four digits, so that a good one still has some.
fn time_unit_of(figures: &[Figure]) -> (&'static str, f64) {
    let (unit, scale) = unit_of(figures, TIMES, 10_000.0);
    let largest = figures.iter().filter_map(|figure| figure.mean).fold(0.0, f64::max);
    if unit == "µs" && largest >= 1e-3 { ("ms", 1e3) } else { (unit, scale) }
}

fn link_table(text: &mut String, link: &str, rows: &[Row<'_>], main: bool, width: usize) -> Vec<String> {
    let figures = |metric: &str| -> Vec<Figure> {
        rows.iter().map(|(_, summary, _)| summary.link(link).map_or_else(Figure::default, |f| f.figure(metric))).collect()
    };
    let sojourn = ["mean", "p50", "p95", "p99"].map(|part| figures(&format!("sojourn_s.{part}")));
    let (time_unit, time_scale) = time_unit_of(&sojourn.concat());
    let [mean, p50, p95, p99] = sojourn;
    let time = |head, part, rank, figures| Column::figures(head, &format!("{part} {time_unit}"), rank, time_scale, figures);
    let mut columns = vec![Column::figures("utilised", "%", 0, 100.0, figures("utilization"))];
    if main {
        let goodput: Vec<Figure> =
            rows.iter().map(|(.., point)| Figure::of(point.runs.iter().map(|run| Some(run.goodput_bit_s)))).collect();
        let (unit, scale) = unit_of(&goodput, RATES, 1000.0);
        columns.push(Column::figures("goodput", unit, 2, scale, goodput));
    }
    columns.push(time("sojourn", "mean", 2, mean));
    columns.push(time("sojourn", "p50", 4, p50));
    columns.push(time("sojourn", "p95", 0, p95));
    columns.push(time("sojourn", "p99", 1, p99));
    columns.push(Column::figures("queue", "packets", 5, 1.0, figures("queue_packets")));
    columns.push(Column::figures("dropped", "%", 0, 100.0, figures("drop_ratio")));
    let marks = figures("mark_ratio");
    if marks.iter().any(|figure| figure.mean.is_some()) {
        columns.push(Column::figures("marked", "%", 1, 100.0, marks));
    }
    let flows = rows.iter().map(|(_, summary, _)| summary.flows.len()).max().unwrap_or(0);
    if main && flows > 1 {
        let jain = rows.iter().map(|(_, summary, _)| summary.jain.figure("goodput"));
        columns.push(Column::figures("Jain", "1", 3, 1.0, jain));
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
    let goodput = figures("goodput_bit_s");
    let (rate_unit, rate_scale) = unit_of(&goodput, RATES, 1000.0);
    let rtt = [figures("rtt_s.mean"), figures("rtt_s.p95")];
    let (rtt_unit, rtt_scale) = time_unit_of(&rtt.concat());
    let completion = [figures("completion_s.p50"), figures("completion_s.p95")];
    let [rtt_mean, rtt_p95] = rtt;
    let mut columns = vec![
        flows,
        Column::figures("goodput", rate_unit, 0, rate_scale, goodput),
        Column::figures("RTT", &format!("mean {rtt_unit}"), 1, rtt_scale, rtt_mean),
        Column::figures("RTT", &format!("p95 {rtt_unit}"), 2, rtt_scale, rtt_p95),
        Column::figures("lost", "%", 1, 100.0, figures("loss_ratio")),
    ];
    if completion.iter().flatten().any(|figure| figure.n > 0) {
        let (unit, scale) = time_unit_of(&completion.concat());
        let [p50, p95] = completion;
        columns.push(Column::figures("done in", &format!("p50 {unit}"), 0, scale, p50));
        columns.push(Column::figures("done in", &format!("p95 {unit}"), 1, scale, p95));
    }
    let mut special = |head: &str, unit: &str, rank, scale: f64, metric: &str| {
        let figures = figures(metric);
        if figures.iter().any(|figure| figure.n > 0) {
            columns.push(Column::figures(head, unit, rank, scale, figures));
        }
    };
    special("slowdown", "p50", 2, 1.0, "slowdown.p50");
    special("page", "p50 s", 0, 1.0, "page_load_s.p50");
    special("video", "Mbit/s", 0, 1e-6, "video.bitrate_bit_s");
    special("stalled", "%", 0, 100.0, "video.rebuffer_ratio");
    special("delay", "p95 ms", 1, 1e3, "one_way_delay_s.p95");
    special("MOS", "1", 0, 1.0, "voip.mos");
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
