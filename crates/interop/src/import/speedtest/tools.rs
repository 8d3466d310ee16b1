//! Results as JSON, by the fields that tell the tools apart.

use super::figures::{Full, Loaded, MAX_MS, Test, latency, loaded, named, number, optional_ms};
use super::iperf3;
use crate::import::draft::one_line;
use crate::import::{ImportError, Input};
use serde_json::Value;

/// The result that a JSON text is; `None` where it is none.
pub(super) fn read(input: &Input, json: &Value) -> Result<Option<Test>, ImportError> {
    // Ookla's program writes its progress in the same fields.
    let is_progress = json["type"].as_str().is_some_and(|kind| kind != "result");
    let test = if is_progress {
        return Ok(None);
    } else if json["download"]["bandwidth"].is_number() || json["type"] == "result" {
        ookla(input, json)?
    } else if !json["dl_throughput"].is_null() || !json["ul_throughput"].is_null() {
        apple(input, json)?
    } else if json["downloadSpeed"].is_number() {
        fast(input, json)?
    } else if json["speed_measurements"].is_array() {
        cfspeedtest(input, json)?
    } else if json["end"].is_object() && json["start"].is_object() {
        iperf3::read(input, json)?
    } else if json["stats"]["rtt"].is_object() {
        irtt(input, json)?
    } else if json["download"].is_number() && json["ping"].is_null() && json["latency"].is_number() {
        plain(input, json, &CLOUDFLARE)?
    } else if json["download"].is_number() && json["upload"].is_number() {
        plain(input, json, if is_in_mbit(json) { &LIBRESPEED } else { &SPEEDTEST_CLI })?
    } else {
        return Ok(None);
    };
    Ok(Some(test))
}

/// `speedtest -f json`: rates in bytes per second, latencies in milliseconds.
fn ookla(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let direction = |name: &'static str| -> Result<Option<Loaded>, ImportError> {
        let field = format!("{name}.bandwidth");
        let bytes = number(input, &json[name]["bandwidth"], &field)?;
        let under = &json[name]["latency"];
        let found = loaded(input, bytes * 8.0, &field, &format!("{bytes} B/s"))?;
        let (iqm, high) = (format!("{name}.latency.iqm"), format!("{name}.latency.high"));
        let (latency, longest) = (latency(input, &under["iqm"], &iqm)?, optional_ms(input, &under["high"], &high)?);
        Ok(found.map(|found| Loaded { latency, longest, ..found }))
    };
    Ok(Test {
        tool: "Ookla",
        name: named([&json["isp"], &json["timestamp"]]),
        idle: latency(input, &json["ping"]["latency"], "ping.latency")?,
        down: direction("download")?,
        up: direction("upload")?,
        ..Test::default()
    })
}

/// `networkQuality -c`: rates in bits per second, responsiveness in round trips per minute: one for
/// each direction, or with both loaded at once.
fn apple(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let each = ["dl_responsiveness", "ul_responsiveness"].iter().any(|field| !json[*field].is_null());
    let direction = |rate: &'static str, trips: &'static str| -> Result<Option<Loaded>, ImportError> {
        if json[rate].is_null() {
            return Ok(None);
        }
        let bits = number(input, &json[rate], rate)?;
        let field = if each { trips } else { "responsiveness" };
        let latency = match &json[field] {
            Value::Null => None,
            trips => Some((round_trip(input, number(input, trips, field)?, field)?, format!("60 s / {field}"))),
        };
        Ok(loaded(input, bits, rate, &format!("{bits} bit/s"))?.map(|found| Loaded { latency, ..found }))
    };
    Ok(Test {
        tool: "networkQuality",
        name: named([&json["interface_name"], &json["end_date"]]),
        idle: latency(input, &json["base_rtt"], "base_rtt")?,
        down: direction("dl_throughput", "dl_responsiveness")?,
        up: direction("ul_throughput", "ul_responsiveness")?,
        full: if each { Full::One } else { Full::Both },
        ..Test::default()
    })
}

/// The round-trip time in milliseconds of so many trips per minute.
pub(super) fn round_trip(input: &Input, trips: f64, field: &str) -> Result<f64, ImportError> {
    if trips > 0.0 && 60_000.0 / trips <= MAX_MS {
        return Ok(60_000.0 / trips);
    }
    Err(input.fault(format!("{field}: {trips} is out of range: allowed 1 round trip a minute and more")))
}

/// A tool that writes one number for each direction, their unit in bit/s, and the fields of
/// latencies: idle, and under load where it has them.
struct Plain {
    tool: &'static str,
    unit: f64,
    called: &'static str,
    idle: &'static str,
    down: &'static str,
    up: &'static str,
}

const SPEEDTEST_CLI: Plain = Plain { tool: "speedtest-cli", unit: 1.0, called: "bit/s", idle: "ping", down: "", up: "" };
const LIBRESPEED: Plain = Plain { tool: "LibreSpeed", unit: 1e6, called: "Mbit/s", idle: "ping", down: "", up: "" };
const CLOUDFLARE: Plain =
    Plain { tool: "Cloudflare", unit: 1.0, called: "bit/s", idle: "latency", down: "downLoadedLatency", up: "upLoadedLatency" };

/// Whether the rates are in Mbit/s. Both tools use the same keys, but only LibreSpeed has jitter;
/// and where there are counts of bytes, no test takes an hour.
fn is_in_mbit(json: &Value) -> bool {
    const MAX_S: f64 = 3600.0;
    let takes = |bytes: &str, rate: &str| Some(json[bytes].as_f64()? * 8.0 / json[rate].as_f64()?);
    let seconds = takes("bytes_received", "download").into_iter().chain(takes("bytes_sent", "upload"));
    json["jitter"].is_number() || seconds.filter(|seconds| seconds.is_finite()).any(|seconds| seconds > MAX_S)
}

/// Rates as plain numbers.
fn plain(input: &Input, json: &Value, by: &Plain) -> Result<Test, ImportError> {
    let direction = |field: &'static str, under: &'static str| -> Result<Option<Loaded>, ImportError> {
        if json[field].is_null() {
            return Ok(None);
        }
        let number = number(input, &json[field], field)?;
        let found = loaded(input, number * by.unit, field, &format!("{number} {}", by.called))?;
        let latency = latency(input, &json[under], under)?;
        Ok(found.map(|found| Loaded { latency, ..found }))
    };
    let server = if by.unit == 1.0 { &json["client"]["isp"] } else { &json["server"]["name"] };
    Ok(Test {
        tool: by.tool,
        name: named([server, &json["timestamp"]]),
        idle: latency(input, &json[by.idle], by.idle)?,
        down: direction("download", by.down)?,
        up: direction("upload", by.up)?,
        ..Test::default()
    })
}

/// `fast --json`: rates in Mbit/s, or in the unit next to them; latency under load is that of the
/// download, unless a user of fast.com chose otherwise.
fn fast(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let direction = |field: &'static str, unit: &'static str, under: &'static str| -> Result<Option<Loaded>, ImportError> {
        if json[field].is_null() {
            return Ok(None);
        }
        let number = number(input, &json[field], field)?;
        let called = json[unit].as_str().unwrap_or("Mbps");
        let bits = number * bits_in(called).ok_or_else(|| input.fault(unknown_unit(unit, called)))?;
        let latency = latency(input, &json[under], under)?;
        Ok(loaded(input, bits, field, &format!("{number} {called}"))?.map(|found| Loaded { latency, ..found }))
    };
    Ok(Test {
        tool: "fast.com",
        name: named([&json["userLocation"], &Value::Null]),
        idle: latency(input, &json["latency"], "latency")?,
        down: direction("downloadSpeed", "downloadUnit", "bufferBloat")?,
        up: direction("uploadSpeed", "uploadUnit", "")?,
        ..Test::default()
    })
}

/// Bits per second in a unit of rates, as tools print it.
pub(super) fn bits_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "bps" | "bit/s" => 1.0,
        "kbps" | "Kbps" | "kbit/s" | "Kbit/s" => 1e3,
        "Mbps" | "Mbit/s" => 1e6,
        "Gbps" | "Gbit/s" => 1e9,
        _ => return None,
    })
}

pub(super) fn unknown_unit(field: &str, unit: &str) -> String {
    format!("{field}: `{}` is no unit that is read: allowed bps, kbps, Mbps, Gbps", one_line(unit))
}

/// `cfspeedtest -o json`: statistics for each size of transfer. Large ones fill the line longest.
fn cfspeedtest(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let rows = json["speed_measurements"].as_array().map_or(&[][..], Vec::as_slice);
    let direction = |kind: &str, name: &'static str| -> Result<Option<Loaded>, ImportError> {
        let of_kind = rows.iter().filter(|row| row["test_type"] == kind && row["median"].is_number());
        let Some(row) = of_kind.max_by_key(|row| row["payload_size"].as_u64()) else { return Ok(None) };
        let field = format!("median of {name}s of {} B", row["payload_size"]);
        let mbit = number(input, &row["median"], &field)?;
        loaded(input, mbit * 1e6, &field, &format!("{mbit} Mbit/s"))
    };
    let test = Test {
        tool: "cfspeedtest",
        name: named([&json["metadata"]["city"], &Value::Null]),
        idle: latency(input, &json["latency_measurement"]["avg_latency_ms"], "avg_latency_ms")?,
        down: direction("Download", "download")?,
        up: direction("Upload", "upload")?,
        ..Test::default()
    };
    if test.down.is_none() && test.up.is_none() {
        return Err(input.fault("speed_measurements: has no test that succeeded"));
    }
    Ok(test)
}

/// `irtt client -o`: round-trip times in nanoseconds, no rate.
fn irtt(input: &Input, json: &Value) -> Result<Test, ImportError> {
    const FORMAT: u64 = 1;
    let version = &json["version"]["json_format"];
    if version.as_u64() != Some(FORMAT) {
        let shown = one_line(&version.to_string());
        return Err(input.fault(format!("version.json_format: {shown} of irtt is not read: expected {FORMAT}")));
    }
    let rtt = &json["stats"]["rtt"];
    if rtt["n"].as_u64().unwrap_or_default() == 0 {
        return Err(input.fault("the test failed: stats.rtt.n: no reply arrived"));
    }
    let millis = |field: &str| number(input, &rtt[field], &format!("stats.rtt.{field}")).map(|nanos| Value::from(nanos / 1e6));
    let (least, median) = (millis("min")?, millis("median")?);
    let shown = format!("irtt measures round trips and no rate: least {least} ms, median {median} ms.");
    Ok(Test {
        tool: "irtt",
        name: named([&json["config"]["remote_address"], &Value::Null]),
        idle: latency(input, &least, "stats.rtt.min")?,
        notes: vec![shown],
        ..Test::default()
    })
}
