//! Figures of a speed test, and their faults.

use crate::import::draft::{HEADERS, RATES, one_line};
use crate::import::{ImportError, Input, Origin};
use serde_json::Value;

/// The figures of a test for one direction.
pub(super) struct Loaded {
    /// Bits per second of whole packets.
    pub(super) bits: f64,
    /// The field that they are from, and how.
    pub(super) origin: Origin,
    /// Round-trip time in milliseconds while the direction is full, and the field.
    pub(super) latency: Option<(f64, String)>,
    /// The longest of them.
    pub(super) longest: Option<f64>,
}

/// A test's figures.
#[derive(Default)]
pub(super) struct Test {
    pub(super) tool: &'static str,
    pub(super) name: String,
    /// Round-trip time in milliseconds, and where it is from.
    pub(super) idle: Option<(f64, String)>,
    pub(super) down: Option<Loaded>,
    pub(super) up: Option<Loaded>,
    /// The directions that were full while latency was measured.
    pub(super) full: Full,
    /// Further remarks, in sentences.
    pub(super) notes: Vec<String>,
}

/// Directions that a test fills at a time.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Full {
    #[default]
    One,
    Both,
}

/// Times above this are no latency, in milliseconds.
pub(super) const MAX_MS: f64 = 60_000.0;

pub(super) fn failed(input: &Input, why: &str) -> ImportError {
    input.fault(format!("the test failed: {}", one_line(why)))
}

pub(super) fn unknown(input: &Input) -> ImportError {
    let known = "download.bandwidth (speedtest -f json), dl_throughput (networkQuality -c), download (librespeed-cli --json, \
                 speedtest-cli --json, Cloudflare), speed_measurements (cfspeedtest -o json), downloadSpeed (fast --json), \
                 end.sum_received (iperf3 --json), stats.rtt (irtt), stream_groups (crusader export)";
    input.fault(format!("is not the result of a known speed test: expected one of {known}"))
}

pub(super) fn named(words: [&Value; 2]) -> String {
    let words = words.into_iter().filter_map(Value::as_str).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(one_line).collect();
    if words.is_empty() { "speed test".to_owned() } else { format!("speed test {}", words.join(", ")) }
}

pub(super) fn number(input: &Input, value: &Value, field: &str) -> Result<f64, ImportError> {
    value.as_f64().ok_or_else(|| match value {
        Value::Null => input.fault(format!("{field}: is missing")),
        other => input.fault(format!("{field}: `{}` is not a number", one_line(&other.to_string()))),
    })
}

/// A direction whose payload had this rate; `None` for nought, which stands for a test that was
/// left out.
pub(super) fn loaded(input: &Input, bits: f64, field: &str, shown: &str) -> Result<Option<Loaded>, ImportError> {
    if bits == 0.0 {
        return Ok(None);
    }
    if !RATES.contains(&bits) {
        return Err(input.fault(format!("{field}: {bits} bit/s is out of range: allowed 1 kbit/s to 1000 Gbit/s")));
    }
    let origin = Origin::Measured(format!("{field}, {shown} of payload, and 1500/1448 of it with headers"));
    Ok(Some(Loaded { bits: bits * HEADERS, origin, latency: None, longest: None }))
}

/// A latency, if there is one: no path has a round trip of nought.
pub(super) fn optional_ms(input: &Input, value: &Value, field: &str) -> Result<Option<f64>, ImportError> {
    if value.is_null() {
        return Ok(None);
    }
    let ms = number(input, value, field)?;
    if (0.0..=MAX_MS).contains(&ms) {
        return Ok(Some(ms).filter(|ms| *ms > 0.0));
    }
    Err(input.fault(format!("{field}: {ms} ms is out of range: allowed 0 to {MAX_MS} ms")))
}

/// A latency with the field that it is from.
pub(super) fn latency(input: &Input, value: &Value, field: &str) -> Result<Option<(f64, String)>, ImportError> {
    Ok(optional_ms(input, value, field)?.map(|ms| (ms, field.to_owned())))
}

/// A direction whose rate follows from others.
pub(super) fn estimated(found: Option<Loaded>, bits: f64, why: String) -> Option<Loaded> {
    found.map(|found| Loaded { bits, origin: Origin::Estimated(why), ..found })
}
