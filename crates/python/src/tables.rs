//! Results as Arrow columns. Rows are in the order of the sweep; `point` numbers its points from
//! zero and `label` is the short name of the point.

use crate::in_memory_recorder::KeptRun;
use crate::table::Batches;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use goodqueue_aqm::Reason;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_lab::results::statistics::Figure;
use goodqueue_lab::results::summary::{Figures, PointSummary};
use goodqueue_lab::run::backend::{Lateness, Validity};
use goodqueue_lab::run::runner::{PointResult, label, shown};
use goodqueue_lab::scenario::plan::Point;
use goodqueue_sim::trace::{PacketEvent, PacketEventKind};
use serde_json::Value;
use std::sync::Arc;

pub type Made = Result<RecordBatch, ArrowError>;
type Points<'a> = [(u32, &'a PointSummary)];
/// Columns of a table: their names, and whether they have nulls.
pub type Columns = Vec<(String, ArrayRef, bool)>;

/// A table of these columns.
pub fn batch(columns: Columns) -> Made {
    RecordBatch::try_from_iter_with_nullable(columns)
}

/// A column and whether it has nulls.
pub fn column(name: &str, array: impl arrow_array::Array + 'static, nullable: bool) -> (String, ArrayRef, bool) {
    (name.to_owned(), Arc::new(array), nullable)
}

/// `point` and `label` of these points.
fn keys(points: &[u32], labels: &[String]) -> Columns {
    let label = |&point: &u32| labels.get(point as usize).map_or("", String::as_str);
    vec![
        column("point", UInt32Array::from(points.to_vec()), false),
        column("label", StringArray::from_iter_values(points.iter().map(label)), false),
    ]
}

/// A table of one batch.
pub fn one(batch: Made) -> Batches {
    batch.map(|batch| (batch.schema(), vec![batch]))
}

/// A table of figures by its name; `None` where it has another.
pub fn of_figures(name: &str, sets: &[&[(String, Value)]], points: &Points<'_>, labels: &[String]) -> Option<Made> {
    Some(match name {
        "points" => self::points(sets, labels),
        "links" => links(points, labels),
        "groups" => groups(points, labels),
        "flows" => flows(points, labels),
        "fairness" => fairness(points, labels),
        _ => return None,
    })
}

/// Swept values: one column per key, of the common type of its values.
fn points(sets: &[&[(String, Value)]], labels: &[String]) -> Made {
    let numbers: Vec<u32> = (0..sets.len() as u32).collect();
    let mut columns = keys(&numbers, labels);
    let names = sets.first().map_or(&[][..], |set| set);
    for (place, (name, _)) in names.iter().enumerate() {
        let values: Vec<&Value> = sets.iter().map(|set| &set[place].1).collect();
        let array: ArrayRef = if values.iter().all(|value| value.is_boolean()) {
            Arc::new(BooleanArray::from_iter(values.iter().map(|value| value.as_bool())))
        } else if values.iter().all(|value| value.is_i64()) {
            Arc::new(Int64Array::from_iter(values.iter().map(|value| value.as_i64())))
        } else if values.iter().all(|value| value.is_number()) {
            Arc::new(Float64Array::from_iter(values.iter().map(|value| value.as_f64())))
        } else {
            Arc::new(StringArray::from_iter_values(values.iter().map(|value| shown(value))))
        };
        columns.push((name.clone(), array, true));
    }
    batch(columns)
}

/// Mean and half-width of each metric, and the largest number of replications.
fn figures(columns: &mut Columns, all: &[&Figures]) {
    let Some(first) = all.first() else { return };
    let rows: Vec<Vec<Figure>> = all.iter().map(|figures| figures.iter().map(|(_, figure)| figure).collect()).collect();
    for (place, (metric, _)) in first.iter().enumerate() {
        let means: Float64Array = rows.iter().map(|row| row[place].mean).collect();
        let halves: Float64Array = rows.iter().map(|row| row[place].ci95).collect();
        columns.push(column(metric.name, means, true));
        columns.push(column(&format!("{}_ci95", metric.name), halves, true));
    }
    let most = |row: &Vec<Figure>| row.iter().map(|figure| figure.n).max().unwrap_or_default();
    columns.push(column("n", UInt32Array::from_iter_values(rows.iter().map(most)), false));
}

/// One row per point and link.
fn links(points: &Points<'_>, labels: &[String]) -> Made {
    let rows: Vec<(u32, &str, &Figures)> = points
        .iter()
        .flat_map(|(number, point)| point.links.iter().map(|(name, figures)| (*number, name.as_str(), figures)))
        .collect();
    let numbers: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let mut columns = keys(&numbers, labels);
    columns.push(column("link", StringArray::from_iter_values(rows.iter().map(|row| row.1)), false));
    figures(&mut columns, &rows.iter().map(|row| row.2).collect::<Vec<_>>());
    batch(columns)
}

/// One row per point and group of flows.
fn groups(points: &Points<'_>, labels: &[String]) -> Made {
    let rows: Vec<(u32, &str, u32, &Figures)> = points
        .iter()
        .flat_map(|(number, point)| {
            point.groups.iter().map(|(name, group)| (*number, name.as_str(), group.flows, &group.figures))
        })
        .collect();
    let numbers: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let mut columns = keys(&numbers, labels);
    columns.push(column("group", StringArray::from_iter_values(rows.iter().map(|row| row.1)), false));
    columns.push(column("flows", UInt32Array::from_iter_values(rows.iter().map(|row| row.2)), false));
    figures(&mut columns, &rows.iter().map(|row| row.3).collect::<Vec<_>>());
    batch(columns)
}

/// One row per point and flow.
fn flows(points: &Points<'_>, labels: &[String]) -> Made {
    let rows: Vec<_> = points.iter().flat_map(|(number, point)| point.flows.iter().map(|flow| (*number, flow))).collect();
    let numbers: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let mut columns = keys(&numbers, labels);
    let goodput = |part: fn(&Figure) -> Option<f64>| rows.iter().map(|row| part(&row.1.goodput_bit_s)).collect::<Float64Array>();
    columns.extend([
        column("group", StringArray::from_iter_values(rows.iter().map(|row| row.1.group.as_str())), false),
        column("index", UInt32Array::from_iter_values(rows.iter().map(|row| row.1.index)), false),
        column("goodput_bit_s", goodput(|figure| figure.mean), true),
        column("goodput_bit_s_ci95", goodput(|figure| figure.ci95), true),
        column("n", UInt32Array::from_iter_values(rows.iter().map(|row| row.1.goodput_bit_s.n)), false),
    ]);
    batch(columns)
}

/// A column's name and the figure in it.
type Late<T> = (&'static str, fn(&Lateness) -> T);

/// One row per attempt at a run in real time.
pub fn validity(attempts: &[Validity], points: &[Point], labels: &[String]) -> Made {
    let number = |attempt: &Validity| points.iter().position(|point| label(&point.set) == attempt.set).unwrap_or(0) as u32;
    let numbers: Vec<u32> = attempts.iter().map(number).collect();
    let mut columns = keys(&numbers, labels);
    columns.extend([
        column("replication", UInt32Array::from_iter_values(attempts.iter().map(|attempt| attempt.replication)), false),
        column("attempt", UInt32Array::from_iter_values(attempts.iter().map(|attempt| attempt.attempt)), false),
        column("void", attempts.iter().map(|attempt| attempt.void.as_deref()).collect::<StringArray>(), true),
        column("counted", BooleanArray::from_iter(attempts.iter().map(|attempt| Some(attempt.counted))), false),
    ]);
    for (way, of) in [("down", (|attempt| &attempt.down) as fn(&Validity) -> &Lateness), ("up", |attempt| &attempt.up)] {
        let times: [Late<f64>; 4] = [
            ("late_p50_s", |late| late.late_p50_s),
            ("late_p99_s", |late| late.late_p99_s),
            ("late_p999_s", |late| late.late_p999_s),
            ("late_max_s", |late| late.late_max_s),
        ];
        let counts: [Late<u64>; 2] = [("stalled", |late| late.stalled), ("lost_outside", |late| late.lost_outside)];
        for (name, value) in times {
            let values = Float64Array::from_iter_values(attempts.iter().map(|attempt| value(of(attempt))));
            columns.push(column(&format!("{way}_{name}"), values, false));
        }
        for (name, value) in counts {
            let values = UInt64Array::from_iter_values(attempts.iter().map(|attempt| value(of(attempt))));
            columns.push(column(&format!("{way}_{name}"), values, false));
        }
    }
    columns.extend([
        column("stolen_s", Float64Array::from_iter_values(attempts.iter().map(|attempt| attempt.stolen_s)), false),
        column("real_time", BooleanArray::from_iter(attempts.iter().map(|attempt| Some(attempt.real_time))), false),
        column("offloads", StringArray::from_iter_values(attempts.iter().map(|attempt| attempt.offloads)), false),
    ]);
    batch(columns)
}

/// Jain's indices of each point.
fn fairness(points: &Points<'_>, labels: &[String]) -> Made {
    let numbers: Vec<u32> = points.iter().map(|point| point.0).collect();
    let mut columns = keys(&numbers, labels);
    figures(&mut columns, &points.iter().map(|point| &point.1.jain).collect::<Vec<_>>());
    batch(columns)
}

/// Distributions of sojourn times over all replications.
pub fn cdf(results: &[PointResult], labels: &[String]) -> Made {
    let cdfs = (0..).zip(results).flat_map(|(number, result)| result.cdfs.iter().map(move |cdf| (number, cdf)));
    let rows: Vec<(u32, &str, f64, f64)> = cdfs
        .flat_map(|(number, cdf)| cdf.points.iter().map(move |&(seconds, part)| (number, cdf.subject.as_str(), seconds, part)))
        .collect();
    let numbers: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let mut columns = keys(&numbers, labels);
    columns.extend([
        column("link", StringArray::from_iter_values(rows.iter().map(|row| row.1)), false),
        column("sojourn_s", Float64Array::from_iter_values(rows.iter().map(|row| row.2)), false),
        column("share", Float64Array::from_iter_values(rows.iter().map(|row| row.3)), false),
    ]);
    batch(columns)
}

/// `point`, `label` and `replication` of a run in each of its rows.
fn run_keys(run: &KeptRun, labels: &[String], rows: usize) -> Columns {
    let mut columns = keys(&vec![run.point as u32; rows], labels);
    columns.push(column("replication", UInt32Array::from_value(run.replication, rows), false));
    columns
}

/// The values of `name` of `subject` that were sampled in a run.
fn samples(run: &KeptRun, labels: &[String], times: &ArrayRef, subject: &str, name: &str, values: &[f64]) -> Made {
    let text = |text: &str| StringArray::from_iter_values(std::iter::repeat_n(text, times.len()));
    let mut columns = run_keys(run, labels, times.len());
    columns.extend([
        column("subject", text(subject), false),
        column("name", text(name), false),
        ("time_s".to_owned(), times.clone(), false),
        column("value", Float64Array::from_iter(values.iter().map(|&value| value.is_finite().then_some(value))), true),
    ]);
    batch(columns)
}

/// Sampled values: one batch per run and sampled value.
pub fn series(runs: &[KeptRun], labels: &[String]) -> Batches {
    let seconds =
        |times: &[Instant]| -> ArrayRef { Arc::new(Float64Array::from_iter_values(times.iter().map(|time| time.as_secs_f64()))) };
    let mut batches = Vec::new();
    for run in runs {
        for series in &run.series {
            let times = seconds(&series.times);
            for sampled in &series.columns {
                batches.push(samples(run, labels, &times, &series.subject, &sampled.name, &sampled.values)?);
            }
        }
    }
    let empty = samples(&KeptRun::default(), labels, &seconds(&[]), "", "", &[])?;
    Ok((empty.schema(), batches))
}

/// Name, reason and time in the queue of a packet's event.
fn facts(event: &PacketEvent) -> (&'static str, Option<Reason>, Option<Duration>) {
    match event.kind {
        PacketEventKind::Enqueued => ("enqueued", None, None),
        PacketEventKind::Departed { sojourn } => ("departed", None, Some(sojourn)),
        PacketEventKind::Dropped { reason, sojourn } => ("dropped", Some(reason), Some(sojourn)),
        PacketEventKind::Marked { reason } => ("marked", Some(reason), None),
    }
}

/// Packet events of a run.
fn packets_of(run: &KeptRun, labels: &[String]) -> Made {
    let events = || run.packets.iter();
    let link = |event: &PacketEvent| run.links.get(event.link as usize).map_or("", String::as_str);
    let sojourn = |event: &PacketEvent| facts(event).2.map(Duration::as_secs_f64);
    let mut columns = run_keys(run, labels, run.packets.len());
    columns.extend([
        column("time_ns", UInt64Array::from_iter_values(events().map(|event| event.at.as_nanos())), false),
        column("link", StringArray::from_iter_values(events().map(link)), false),
        column("flow", UInt32Array::from_iter_values(events().map(|event| event.flow)), false),
        column("number", UInt64Array::from_iter_values(events().map(|event| event.number)), false),
        column("len_bytes", UInt32Array::from_iter_values(events().map(|event| event.len)), false),
        column("event", StringArray::from_iter_values(events().map(|event| facts(event).0)), false),
        column("reason", events().map(|event| facts(event).1.map(Reason::name)).collect::<StringArray>(), true),
        column("sojourn_s", events().map(sojourn).collect::<Float64Array>(), true),
    ]);
    batch(columns)
}

/// Packet events: one batch per run.
pub fn packets(runs: &[KeptRun], labels: &[String]) -> Batches {
    let recorded = runs.iter().filter(|run| !run.packets.is_empty());
    let batches = recorded.map(|run| packets_of(run, labels)).collect::<Result<_, _>>()?;
    Ok((packets_of(&KeptRun::default(), labels)?.schema(), batches))
}
