//! The data embedded in a report: the result, reduced to what a screen can show and an e-mail can
//! carry.

use super::input::{ReportInput, ReportPoint};
use super::json::Script;
use super::thin::{Buckets, thin_cdf};
use crate::results::columns::{self, Descriptions};
use crate::results::distributions::Cdf;
use goodqueue_base::units::Instant;
use goodqueue_sim::Series;
use serde::Serialize;
use serde_json::Value;
use std::io;

/// The version of the embedded data; `crates/web/src/report/data.ts` reads it.
const SCHEMA: &str = "goodqueue.report/1";
/// Most points of one line of a link.
const LINK_LINE_POINTS: usize = 1_600;
/// Most points of all lines of flows together.
const FLOW_POINTS: usize = 180_000;
/// Least number of points of a flow's line; below this there are fewer lines instead.
const FLOW_LINE_POINTS_MIN: usize = 200;
/// Most points of a distribution.
const CDF_POINTS: usize = 600;
/// Most flows of one point whose goodput is stored individually.
const FLOWS: usize = 4_096;

/// The embedded data. What is not a number becomes `null`, and every other has six digits.
#[derive(Debug, Serialize)]
pub(super) struct ReportData<'a> {
    schema: &'static str,
    title: &'a str,
    sentence: &'a str,
    warnings: &'a [String],
    scenario_toml: &'a str,
    command_line: Option<&'a str>,
    provenance: &'a [(String, String)],
    /// As a string, since numbers in browsers are exact only up to 2^53.
    seed: String,
    /// Descriptions of the compared kinds of queue.
    kinds: Vec<KindData<'a>>,
    /// Descriptions of the figures of the summary.
    metrics: Descriptions,
    main_link: &'a str,
    measured_s: Option<(f64, f64)>,
    /// Omissions from the page, one sentence each.
    notes: Vec<String>,
    /// The summary without its flows, which are in `points`.
    summary: Value,
    /// Sampling times, shared by all series.
    #[serde(skip)]
    axes: Axes<'a>,
    #[serde(skip)]
    points: Vec<PointData<'a>>,
}

#[derive(Debug, Serialize)]
struct KindData<'a> {
    kind: &'a str,
    summary: &'static str,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct PointData<'a> {
    label: &'a str,
    kind: &'a str,
    flows: FlowTable,
    cdfs: Vec<CdfData<'a>>,
    /// Distributions of round trips; none without probes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rtt_cdfs: Vec<RttCdfData<'a>>,
    #[serde(skip)]
    series: Vec<SeriesData<'a>>,
}

/// Goodput of the flows as columns, a tenth of the size of one object per flow.
#[derive(Debug, Default, Serialize)]
struct FlowTable {
    groups: Vec<String>,
    group: Vec<usize>,
    index: Vec<u64>,
    goodput_bit_s: Vec<f64>,
    ci95: Vec<f64>,
    /// Number of flows, stored or not.
    total: usize,
}

#[derive(Debug, Serialize)]
struct CdfData<'a> {
    link: &'a str,
    sojourn_s: Vec<f64>,
    quantile: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct RttCdfData<'a> {
    group: &'a str,
    rtt_s: Vec<f64>,
    quantile: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct SeriesData<'a> {
    subject: &'a str,
    axis: usize,
    /// Samples behind each pair of points; 1 if all samples are stored.
    samples_a_pair: usize,
    #[serde(skip)]
    buckets: Buckets,
    #[serde(skip)]
    series: &'a Series,
}

/// The beginning of a sampled column.
#[derive(Debug, Serialize)]
struct ColumnHead<'a> {
    name: &'a str,
}

impl<'a> ReportData<'a> {
    pub(super) fn new(input: &'a ReportInput<'a>) -> Self {
        let mut summary = input.summary.clone();
        let mut notes = Vec::new();
        let tables = take_flows(&mut summary, &mut notes);

        let plan = FlowLines::new(input);
        notes.extend(plan.note());
        let mut axes = Axes::default();
        let mut tables = tables.into_iter();
        let points = input
            .points
            .iter()
            .map(|point| PointData {
                label: &point.label,
                kind: &point.kind,
                flows: tables.next().unwrap_or_default(),
                cdfs: point.cdfs.iter().map(cdf_data).collect(),
                rtt_cdfs: point.rtt_cdfs.iter().map(rtt_cdf_data).collect(),
                series: plan.pick(point.series).map(|(series, limit)| series_data(series, limit, &mut axes)).collect(),
            })
            .collect();
        Self {
            schema: SCHEMA,
            title: input.title,
            sentence: input.sentence,
            warnings: input.warnings,
            scenario_toml: input.scenario_toml,
            command_line: input.command_line,
            provenance: input.provenance,
            seed: input.summary.get("seed").map(Value::to_string).unwrap_or_default(),
            kinds: kinds(input),
            metrics: columns::descriptions(),
            main_link: input.main_link,
            measured_s: input.measured_s,
            notes,
            summary,
            axes,
            points,
        }
    }

    /// Writes all of it as JSON; sampled values are worked out meanwhile.
    pub(super) fn write(&self, script: &mut Script<'_>) -> io::Result<()> {
        script.open(self)?;
        script.text(",\"axes\":")?;
        script
            .list(&self.axes.0, |script, (buckets, times)| script.numbers(buckets.times(times).map(|time| time.as_secs_f64())))?;
        script.text(",\"points\":")?;
        script.list(&self.points, |script, point| {
            script.open(point)?;
            script.text(",\"series\":")?;
            script.list(&point.series, |script, series| series.write(script))?;
            script.text("}")
        })?;
        script.text("}")
    }
}

impl SeriesData<'_> {
    /// Writes for each column the lowest and the highest sample of each bucket, and the mean of
    /// each bucket, one per pair of values; or all samples.
    fn write(&self, script: &mut Script<'_>) -> io::Result<()> {
        script.open(self)?;
        script.text(",\"columns\":")?;
        script.list(&self.series.columns, |script, column| {
            script.open(&ColumnHead { name: &column.name })?;
            script.text(",\"values\":")?;
            if self.buckets.keep_all() {
                script.numbers(column.values.iter().copied())?;
            } else {
                script.numbers(self.buckets.extremes(&column.values))?;
                script.text(",\"means\":")?;
                script.numbers(self.buckets.means(&column.values))?;
            }
            script.text("}")
        })?;
        script.text("}")
    }
}

/// Descriptions of the kinds of queue in the report, in order of appearance.
fn kinds<'a>(input: &'a ReportInput<'a>) -> Vec<KindData<'a>> {
    let mut kinds: Vec<KindData<'a>> = Vec::new();
    for name in input.points.iter().flat_map(|point| point.kind.split(':')) {
        let Some(spec) = goodqueue_aqm::sched::kind(name) else { continue };
        if kinds.iter().all(|known| known.kind != spec.kind) {
            kinds.push(KindData { kind: spec.kind, summary: spec.summary, source: spec.source });
        }
    }
    kinds
}

/// Whether this series belongs to a flow, of which there may be many.
fn is_flow(series: &Series) -> bool {
    series.subject.starts_with("flow:")
}

/// Number of flow lines stored, and their length.
struct FlowLines {
    /// Flows per point.
    kept: usize,
    largest: usize,
    limit: usize,
}

impl FlowLines {
    fn new(input: &ReportInput<'_>) -> Self {
        let flows = |point: &ReportPoint<'_>| point.series.iter().filter(|series| is_flow(series)).count();
        let largest = input.points.iter().map(flows).max().unwrap_or(0);
        let columns = input
            .points
            .iter()
            .flat_map(|point| point.series)
            .filter(|series| is_flow(series))
            .map(|series| series.columns.len())
            .max()
            .unwrap_or(0)
            .max(1);
        let points = input.points.len().max(1);
        let kept = largest.min((FLOW_POINTS / (FLOW_LINE_POINTS_MIN * columns * points)).max(1));
        let limit = (FLOW_POINTS / (kept.max(1) * columns * points)).clamp(FLOW_LINE_POINTS_MIN, LINK_LINE_POINTS);
        Self { kept, largest, limit }
    }

    fn note(&self) -> Option<String> {
        (self.kept < self.largest)
            .then(|| format!("Lines over time are drawn for the first {} of {} flows.", self.kept, self.largest))
    }

    /// The series of one point to store, each with its maximum length.
    fn pick<'s>(&self, series: &'s [Series]) -> impl Iterator<Item = (&'s Series, usize)> {
        let mut flows = 0;
        let (kept, limit) = (self.kept, self.limit);
        // The report draws no lines of single pings.
        series.iter().filter(|one| !one.subject.starts_with("probe:")).filter_map(move |one| {
            if !is_flow(one) {
                return Some((one, LINK_LINE_POINTS));
            }
            flows += 1;
            (flows <= kept).then_some((one, limit))
        })
    }
}

/// The distinct time axes of all series; most series share one.
#[derive(Debug, Default)]
struct Axes<'a>(Vec<(Buckets, &'a [Instant])>);

impl<'a> Axes<'a> {
    fn index_of(&mut self, buckets: Buckets, times: &'a [Instant]) -> usize {
        self.0.iter().position(|known| *known == (buckets, times)).unwrap_or_else(|| {
            self.0.push((buckets, times));
            self.0.len() - 1
        })
    }
}

fn series_data<'a>(series: &'a Series, limit: usize, axes: &mut Axes<'a>) -> SeriesData<'a> {
    let buckets = Buckets::new(series.times.len(), limit);
    SeriesData {
        subject: &series.subject,
        axis: axes.index_of(buckets, &series.times),
        samples_a_pair: buckets.samples_a_bucket(),
        buckets,
        series,
    }
}

fn cdf_data(cdf: &Cdf) -> CdfData<'_> {
    let [sojourn_s, quantile] = thinned(cdf);
    CdfData { link: &cdf.subject, sojourn_s, quantile }
}

fn rtt_cdf_data(cdf: &Cdf) -> RttCdfData<'_> {
    let [rtt_s, quantile] = thinned(cdf);
    RttCdfData { group: &cdf.subject, rtt_s, quantile }
}

/// Times and quantiles.
fn thinned(cdf: &Cdf) -> [Vec<f64>; 2] {
    let (times, quantiles) = thin_cdf(&cdf.points, CDF_POINTS).into_iter().unzip();
    [times, quantiles]
}

/// Moves the list of flows from each point of the summary into a table.
fn take_flows(summary: &mut Value, notes: &mut Vec<String>) -> Vec<FlowTable> {
    let Some(points) = summary.get_mut("points").and_then(Value::as_array_mut) else { return Vec::new() };
    let tables: Vec<FlowTable> = points
        .iter_mut()
        .map(|point| match point.as_object_mut().and_then(|point| point.remove("flows")) {
            Some(Value::Array(flows)) => flow_table(flows),
            _ => FlowTable::default(),
        })
        .collect();
    if let Some(most) = tables.iter().map(|table| table.total).max().filter(|&most| most > FLOWS) {
        notes.push(format!("The goodput of single flows is shown for {FLOWS} of up to {most} flows, evenly spread by goodput."));
    }
    tables
}

fn flow_table(mut flows: Vec<Value>) -> FlowTable {
    let total = flows.len();
    if total > FLOWS {
        let goodput = |flow: &Value| flow["goodput_bit_s"]["mean"].as_f64().unwrap_or(0.0);
        flows.sort_by(|a, b| goodput(a).total_cmp(&goodput(b)));
        let mut position = 0;
        flows.retain(|_| {
            position += 1;
            // Keeps the k-th where k x FLOWS / total passes a whole number: evenly spread, exactly
            // FLOWS of them.
            position * FLOWS / total > (position - 1) * FLOWS / total
        });
    }
    let mut table = FlowTable { total, ..FlowTable::default() };
    for flow in &flows {
        let group = flow["group"].as_str().unwrap_or("");
        let number = table.groups.iter().position(|known| known == group).unwrap_or_else(|| {
            table.groups.push(group.to_owned());
            table.groups.len() - 1
        });
        table.group.push(number);
        table.index.push(flow["index"].as_u64().unwrap_or(0));
        table.goodput_bit_s.push(flow["goodput_bit_s"]["mean"].as_f64().unwrap_or(f64::NAN));
        table.ci95.push(flow["goodput_bit_s"]["ci95"].as_f64().unwrap_or(f64::NAN));
    }
    table
}
