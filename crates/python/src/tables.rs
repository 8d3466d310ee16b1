//! Results as Arrow columns. Rows are in the order of the sweep; `point` numbers its points from
//! zero and `label` is the short name of the point.

use crate::in_memory_recorder::KeptRun;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use goodqueue_aqm::Reason;
use goodqueue_base::units::Duration;
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
type Columns = Vec<(String, ArrayRef, bool)>;

fn batch(columns: Columns) -> Made {
    RecordBatch::try_from_iter_with_nullable(columns)
}

fn column(name: &str, array: impl arrow_array::Array + 'static, nullable: bool) -> (String, ArrayRef, bool) {
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

fn required(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, false)
}

fn run_keys(run: &KeptRun, labels: &[String], rows: usize) -> Vec<ArrayRef> {
    let label = labels.get(run.point).map_or("", String::as_str);
    vec![
        Arc::new(UInt32Array::from_value(run.point as u32, rows)),
        Arc::new(StringArray::from_iter_values(std::iter::repeat_n(label, rows))),
        Arc::new(UInt32Array::from_value(run.replication, rows)),
    ]
}

fn run_fields() -> Vec<Field> {
    vec![required("point", DataType::UInt32), required("label", DataType::Utf8), required("replication", DataType::UInt32)]
}

/// Sampled values: one batch per run and sampled value.
pub fn series(runs: &[KeptRun], labels: &[String]) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let mut fields = run_fields();
    fields.extend([
        required("subject", DataType::Utf8),
        required("name", DataType::Utf8),
        required("time_s", DataType::Float64),
        Field::new("value", DataType::Float64, true),
    ]);
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    for run in runs {
        for series in &run.series {
            let rows = series.times.len();
            let times: ArrayRef = Arc::new(Float64Array::from_iter_values(series.times.iter().map(|time| time.as_secs_f64())));
            let text = |text: &str| Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows))) as ArrayRef;
            for sampled in &series.columns {
                let values = sampled.values.iter().map(|&value| value.is_finite().then_some(value));
                let mut columns = run_keys(run, labels, rows);
                columns.extend([text(&series.subject), text(&sampled.name), times.clone()]);
                columns.push(Arc::new(Float64Array::from_iter(values)));
                batches.push(RecordBatch::try_new(schema.clone(), columns)?);
            }
        }
    }
    Ok((schema, batches))
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

/// Packet events: one batch per run.
pub fn packets(runs: &[KeptRun], labels: &[String]) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let mut fields = run_fields();
    fields.extend([
        required("time_ns", DataType::UInt64),
        required("link", DataType::Utf8),
        required("flow", DataType::UInt32),
        required("number", DataType::UInt64),
        required("len_bytes", DataType::UInt32),
        required("event", DataType::Utf8),
        Field::new("reason", DataType::Utf8, true),
        Field::new("sojourn_s", DataType::Float64, true),
    ]);
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    for run in runs.iter().filter(|run| !run.packets.is_empty()) {
        let events = || run.packets.iter();
        let link = |event: &PacketEvent| run.links.get(event.link as usize).map_or("", String::as_str);
        let sojourn = |event: &PacketEvent| facts(event).2.map(Duration::as_secs_f64);
        let mut columns = run_keys(run, labels, run.packets.len());
        let own: [ArrayRef; 8] = [
            Arc::new(UInt64Array::from_iter_values(events().map(|event| event.at.as_nanos()))),
            Arc::new(StringArray::from_iter_values(events().map(link))),
            Arc::new(UInt32Array::from_iter_values(events().map(|event| event.flow))),
            Arc::new(UInt64Array::from_iter_values(events().map(|event| event.number))),
            Arc::new(UInt32Array::from_iter_values(events().map(|event| event.len))),
            Arc::new(StringArray::from_iter_values(events().map(|event| facts(event).0))),
            Arc::new(events().map(|event| facts(event).1.map(Reason::name)).collect::<StringArray>()),
            Arc::new(events().map(sojourn).collect::<Float64Array>()),
        ];
        columns.extend(own);
        batches.push(RecordBatch::try_new(schema.clone(), columns)?);
    }
    Ok((schema, batches))
}
