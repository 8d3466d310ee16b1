//! `crusader export`: samples of every stream and every ping of Crusader 0.3 and later, from which
//! the program computes what it shows.

use super::figures::{Full, Loaded, Test, loaded};
use crate::import::steps::median;
use crate::import::{ImportError, Input};
use serde::Deserialize;

/// A time of Rust's library.
#[derive(Clone, Copy, Deserialize)]
struct Span {
    secs: u64,
    nanos: u32,
}

impl Span {
    fn s(self) -> f64 {
        self.secs as f64 + f64::from(self.nanos) * 1e-9
    }
}

#[derive(Deserialize)]
struct Export {
    version: u64,
    config: Config,
    server_latency: Span,
    stream_groups: Vec<Group>,
    pings: Vec<Ping>,
    #[serde(default)]
    test_data: Vec<Phase>,
}

#[derive(Deserialize)]
struct Config {
    load_duration: Span,
}

#[derive(Deserialize)]
struct Group {
    download: bool,
    both: bool,
    streams: Vec<Stream>,
}

#[derive(Deserialize)]
struct Stream {
    data: Vec<Point>,
}

/// Bytes that a stream has carried so far.
#[derive(Clone, Copy, Deserialize)]
struct Point {
    time: Span,
    bytes: u64,
}

#[derive(Deserialize)]
struct Ping {
    sent: Span,
    latency: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    total: Option<Span>,
}

#[derive(Deserialize)]
struct Phase {
    start: Span,
    end: Span,
    kind: String,
}

/// Whether an object with these fields is such an export.
pub(super) fn is_export(names: &[String]) -> bool {
    ["stream_groups", "pings", "server_latency"].iter().all(|wanted| names.iter().any(|name| name == wanted))
}

pub(super) fn read(input: &Input) -> Result<Test, ImportError> {
    const MAX_VERSION: u64 = 2;
    let export: Export = serde_json::from_slice(&input.bytes)
        .map_err(|error| input.fault(format!("is not what crusader export writes: {error}")))?;
    if export.version > MAX_VERSION {
        return Err(input.fault(format!("version: {} of Crusader is not read: allowed 0 to {MAX_VERSION}", export.version)));
    }
    let (mut down, mut up) = (direction(input, &export, true, false)?, direction(input, &export, false, false)?);
    let is_both = down.is_none() && up.is_none() && export.stream_groups.iter().any(|group| group.both);
    if is_both {
        (down, up) = (direction(input, &export, true, true)?, direction(input, &export, false, true)?);
    }
    let idle = export.server_latency.s() * 1e3;
    Ok(Test {
        tool: "Crusader",
        name: "speed test with Crusader".to_owned(),
        idle: (idle > 0.0).then(|| (idle, "server_latency".to_owned())),
        down,
        up,
        full: if is_both { Full::Both } else { Full::One },
        ..Test::default()
    })
}

/// The rate and the round-trip times of the test of one direction, by itself or with the other.
fn direction(input: &Input, export: &Export, download: bool, both: bool) -> Result<Option<Loaded>, ImportError> {
    let Some(group) = export.stream_groups.iter().find(|group| (group.download, group.both) == (download, both)) else {
        return Ok(None);
    };
    let name = match (both, download) {
        (true, _) => "Bidirectional",
        (false, true) => "Download",
        (false, false) => "Upload",
    };
    let phase = export.test_data.iter().find(|phase| phase.kind == name);
    let points = || group.streams.iter().flat_map(|stream| &stream.data);
    let begin = points().filter(|point| point.bytes > 0).map(|point| point.time.s()).min_by(f64::total_cmp);
    let Some(begin) = phase.map(|phase| phase.start.s()).or(begin) else { return Ok(None) };
    // As the program does: without the first fifth, 2 s at most, and the last tenth, 0.5 s at most.
    let lasts = export.config.load_duration.s();
    let last = points().map(|point| point.time.s()).fold(begin, f64::max);
    let until = |end: f64| phase.map_or(last, |phase| phase.end.s()).min(end);
    let (from, to) = (begin + (lasts * 0.2).min(2.0), until(begin + lasts - (lasts * 0.1).min(0.5)));
    if to <= from {
        return Err(input.fault(format!("the {name} test ended before it had a steady rate")));
    }
    let bytes = |at: f64| group.streams.iter().map(|stream| carried(&stream.data, at)).sum::<f64>();
    let bits = (bytes(to) - bytes(from)) * 8.0 / (to - from);
    let field = format!("steady rate of the {name} test");
    let end = until(begin + lasts);
    let trips: Vec<f64> = export
        .pings
        .iter()
        .filter(|ping| (begin..=end).contains(&ping.sent.s()))
        .filter_map(|ping| Some(ping.latency.as_ref()?.total?.s() * 1e3))
        .collect();
    let latency = median(trips).map(|ms| (ms, format!("median of the pings of the {name} test")));
    Ok(loaded(input, bits, &field, &format!("{bits:.0} bit/s"))?.map(|found| Loaded { latency, ..found }))
}

/// Bytes that a stream had carried at a time, between its samples in proportion.
fn carried(data: &[Point], at: f64) -> f64 {
    let next = data.partition_point(|point| point.time.s() < at);
    match (next.checked_sub(1).map(|before| data[before]), data.get(next)) {
        (_, None) => data.last().map_or(0.0, |point| point.bytes as f64),
        (None, Some(first)) => first.bytes as f64,
        (Some(before), Some(after)) => {
            let part = (at - before.time.s()) / (after.time.s() - before.time.s());
            before.bytes as f64 + (after.bytes as f64 - before.bytes as f64) * part
        }
    }
}
