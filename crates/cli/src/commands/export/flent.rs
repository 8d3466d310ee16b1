//! A result as a data file of flent (`.flent.gz`, version 4 of the format), which flent's own plots
//! open: goodputs of TCP flows and round-trip times of pings over time.

use super::point;
use crate::failure::Failure;
use crate::result::recorded_plan;
use flate2::{Compression, GzBuilder};
use goodqueue_lab::results::stored::{Stored, StoredLine};
use goodqueue_lab::scenario::plan::{Direction, Scenario};
use serde_json::{Map, Value, json};
use std::io::Write as _;
use std::path::Path;

/// Flent's test whose data has any number of transfers each way; its plots are for these names.
const TEST: &str = "rrul_be_nflows";

/// Seconds between values of a series, as flent has them unless told otherwise.
const STEP_S: f64 = 0.2;

/// More values of a series cannot be seen in a plot.
const MAX_STEPS: f64 = 1e6;

/// When a simulation begins: results have no date, so that equal runs give equal files.
const START: &str = "1970-01-01T00:00:00.000000Z";

/// The file of one point of the result in a folder, of its first recorded replication.
pub fn file(folder: &Path, wanted: Option<usize>) -> Result<Vec<u8>, Failure> {
    let plan = recorded_plan(folder)?;
    let scenario = point(&plan, wanted)?;
    let number = wanted.unwrap_or(0);
    let stored = Stored::load(folder).map_err(Failure::input)?;
    let lines = |name: &str, kind: &str| -> Result<Vec<StoredLine>, Failure> {
        let all = stored.lines(name, &|subject| subject.starts_with(kind)).map_err(Failure::input)?;
        Ok(all.into_iter().filter(|line| line.point == number).collect())
    };
    let mut data = Data::new(&scenario);
    for line in lines("goodput_bit_s", "flow:")? {
        data.add_transfer(group_of(&line), &line.points);
    }
    for line in lines("rtt_s", "probe:")? {
        data.add_ping(group_of(&line), &line.points);
    }
    if data.series.is_empty() {
        return Err(Failure::Input(format!(
            "{}: has no TCP flow and no ping over time: flent's plots are of these",
            folder.join("series.parquet").display()
        )));
    }
    let text = data.json(&plan.set_of(number)).to_string();
    let mut packer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    let packed = packer.write_all(text.as_bytes()).and_then(|()| packer.finish());
    packed.map_err(|error| Failure::Run(format!("the file cannot be packed: {error}")))
}

/// The group in `flow:GROUP:NUMBER`.
fn group_of(line: &StoredLine) -> &str {
    let rest = line.subject.split_once(':').map_or("", |(_, rest)| rest);
    rest.rsplit_once(':').map_or(rest, |(group, _)| group)
}

/// A series in flent's units, Mbit/s or ms.
struct Line {
    name: String,
    /// Time in seconds, and the value where there is one.
    points: Vec<(f64, f64)>,
}

struct Data<'a> {
    scenario: &'a Scenario,
    series: Vec<Line>,
    transfers: [usize; 2],
    pings: usize,
}

impl<'a> Data<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, series: Vec::new(), transfers: [0, 0], pings: 0 }
    }

    fn add_transfer(&mut self, group: &str, bits: &[(f64, f64)]) {
        let up = self.scenario.traffic.iter().any(|one| one.name == group && one.heading == Direction::Up);
        let (place, word) = if up { (1, "upload") } else { (0, "download") };
        self.transfers[place] += 1;
        self.add(format!("TCP {word} BE::{}", self.transfers[place]), bits, 1e-6);
    }

    fn add_ping(&mut self, group: &str, seconds: &[(f64, f64)]) {
        self.pings += 1;
        let name = if self.pings == 1 { "Ping (ms) ICMP".to_owned() } else { format!("Ping (ms) {group} {}", self.pings) };
        self.add(name, seconds, 1e3);
    }

    fn add(&mut self, name: String, points: &[(f64, f64)], scale: f64) {
        let points = points.iter().filter(|(_, value)| value.is_finite()).map(|(time, value)| (*time, value * scale));
        self.series.push(Line { name, points: points.collect() });
    }

    /// All series on one scale of time, with the sums and means that flent's plots use.
    fn json(&self, set: &[(String, Value)]) -> Value {
        let last = self.series.iter().filter_map(|line| line.points.last()).map(|(time, _)| *time).fold(0.0, f64::max);
        // Transfers are sampled all the time, pings only when an answer comes.
        let gap = |line: &Line| line.points.windows(2).map(|pair| pair[1].0 - pair[0].0).fold(f64::INFINITY, f64::min);
        let least = self.series.iter().map(gap).fold(f64::INFINITY, f64::min);
        let step = if least.is_finite() { least.max(STEP_S) } else { STEP_S }.max(last / MAX_STEPS);
        let steps = ((last / step).ceil() as usize).max(1);
        let mut results = Map::new();
        let mut raw = Map::new();
        for line in &self.series {
            let row = binned(line, step, steps);
            // A few packets per sample are noise, and flent draws raw values: of a transfer they
            // are the means, as netperf reports them.
            let is_ping = line.name.starts_with("Ping");
            let means = || row.iter().enumerate().filter_map(|(at, value)| Some(((at + 1) as f64 * step, (*value)?)));
            let points: Vec<(f64, f64)> = if is_ping { line.points.clone() } else { means().collect() };
            raw.insert(line.name.clone(), points.into_iter().map(|(t, val)| json!({"t": t, "val": val})).collect());
            results.insert(line.name.clone(), row.into_iter().map(Value::from).collect());
        }
        for (name, among, is_mean) in [
            ("TCP download sum", "TCP download BE", false),
            ("TCP download avg", "TCP download BE", true),
            ("TCP upload sum", "TCP upload BE", false),
            ("TCP upload avg", "TCP upload BE", true),
            ("TCP totals", "TCP ", false),
            ("Ping (ms) avg", "Ping (ms)", true),
        ] {
            let rows: Vec<Vec<Option<f64>>> =
                self.series.iter().filter(|line| line.name.starts_with(among)).map(|line| binned(line, step, steps)).collect();
            if !rows.is_empty() {
                results.insert(name.to_owned(), (0..steps).map(|at| Value::from(over(&rows, at, is_mean))).collect());
            }
        }
        let x_values: Vec<f64> = (0..steps).map(|at| at as f64 * step).collect();
        let [down, up] = self.transfers;
        let title: Vec<String> = set.iter().map(|(key, value)| format!("{key}={}", super::csv::plain(value))).collect();
        json!({
            "version": 4,
            "metadata": {
                "NAME": TEST, "TITLE": if title.is_empty() { self.scenario.name.clone() } else { title.join(", ") },
                "TIME": START, "T0": START, "HOST": "goodqueue", "HOSTS": ["goodqueue"], "LOCAL_HOST": "goodqueue",
                "LENGTH": last, "TOTAL_LENGTH": last, "STEP_SIZE": step, "IP_VERSION": 4,
                "TEST_PARAMETERS": {"upload_streams": up.to_string(), "download_streams": down.to_string()},
                "NOTE": format!("{}, by goodqueue {}", self.scenario.name, env!("CARGO_PKG_VERSION")),
                "SERIES_META": {},
            },
            "x_values": x_values, "results": results, "raw_values": raw,
        })
    }
}

/// Mean of the values in each step; `None` where there are none.
fn binned(line: &Line, step: f64, steps: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0_u32); steps];
    for (time, value) in &line.points {
        if let Some((sum, count)) = sums.get_mut((time / step) as usize) {
            (*sum, *count) = (*sum + value, *count + 1);
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

/// Sum or mean of several series at one step.
fn over(rows: &[Vec<Option<f64>>], at: usize, is_mean: bool) -> Option<f64> {
    let values: Vec<f64> = rows.iter().filter_map(|row| row[at]).collect();
    let sum: f64 = values.iter().sum();
    let parts = if is_mean { values.len() as f64 } else { 1.0 };
    (!values.is_empty()).then(|| sum / parts)
}
