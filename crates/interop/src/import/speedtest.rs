//! Speed tests: JSON of Ookla's CLI, of Apple's `networkQuality -c`, of LibreSpeed's CLI, and of
//! `speedtest-cli`.

use crate::import::draft::{HEADERS, RATES, buffer, filled, halves, millis, one_line, usual_delay};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use goodqueue_base::units::{Duration, Rate};
use serde_json::Value;

/// The figures of a test for one direction.
struct Loaded {
    /// Payload bits per second, and the field.
    goodput: (f64, String),
    /// Round-trip time in milliseconds while the direction is full, and the field.
    latency: Option<(f64, String)>,
    /// The longest of them.
    longest: Option<f64>,
}

/// A test's figures.
struct Test {
    tool: &'static str,
    name: String,
    idle: Option<(f64, &'static str)>,
    down: Loaded,
    up: Loaded,
}

/// Times above this are no latency, in milliseconds.
const MAX_MS: f64 = 60_000.0;

/// A line from a speed test.
///
/// # Errors
/// When the file is no result of a known tool, or a figure in it is missing or out of range.
pub fn import(input: &Input) -> Result<Draft, ImportError> {
    let json = input.json()?;
    let (json, others) = latest(&json);
    let test = read(input, json)?;
    let (rtt, delay) = match test.idle {
        Some((idle, field)) => {
            let why = Origin::Measured(format!("half of {field}, {idle} ms of idle latency"));
            (idle, halves(millis(idle), &why))
        }
        None => (20.0, usual_delay("the test has no idle latency")),
    };
    let mut notes =
        vec!["A speed test does not tell which queue the line has: the buffers hold for a queue without management.".to_owned()];
    if others > 0 {
        notes.push(format!("The file has {} results; this is the last of them.", others + 1));
    }
    if let (Some(longest), Some((latency, _))) = (test.up.longest.or(test.down.longest), &test.down.latency)
        && longest > *latency
    {
        notes.push("Latency under load is a mean: a full buffer may last longer than is written here.".to_owned());
    }
    let ways = (way(&test.down, rtt), Some(way(&test.up, rtt)));
    let draft = Draft::new(test.name, "speedtest", input, delay, ways);
    Ok(Draft { made_by: format!("{} ({})", draft.made_by, test.tool), notes, ..draft })
}

/// The last result of a list, as LibreSpeed writes it, and the number of those before it.
fn latest(json: &Value) -> (&Value, usize) {
    json.as_array().and_then(|all| all.split_last()).map_or((json, 0), |(last, others)| (last, others.len()))
}

fn read(input: &Input, json: &Value) -> Result<Test, ImportError> {
    if json["download"]["bandwidth"].is_number() {
        return ookla(input, json);
    }
    if !json["dl_throughput"].is_null() {
        return apple(input, json);
    }
    if json["download"].is_number() && json["upload"].is_number() {
        return plain(input, json, if is_in_mbit(json) { &LIBRESPEED } else { &SPEEDTEST_CLI });
    }
    let known = "download.bandwidth (speedtest -f json), dl_throughput (networkQuality -c), \
                 download (librespeed-cli --json, speedtest-cli --json)";
    Err(input.fault(format!("is not the result of a known speed test: expected one of {known}")))
}

/// `speedtest -f json`: rates in bytes per second, latencies in milliseconds.
fn ookla(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let direction = |name: &'static str| -> Result<Loaded, ImportError> {
        let field = format!("{name}.bandwidth");
        let bytes = number(input, &json[name]["bandwidth"], &field)?;
        let latency = &json[name]["latency"];
        Ok(Loaded {
            goodput: (goodput(input, bytes * 8.0, &field)?, format!("{field}, {bytes} B/s of payload")),
            latency: optional_ms(input, &latency["iqm"], &format!("{name}.latency.iqm"))?
                .map(|ms| (ms, format!("{name}.latency.iqm"))),
            longest: optional_ms(input, &latency["high"], &format!("{name}.latency.high"))?,
        })
    };
    Ok(Test {
        tool: "Ookla",
        name: named([&json["isp"], &json["timestamp"]]),
        idle: optional_ms(input, &json["ping"]["latency"], "ping.latency")?.map(|ms| (ms, "ping.latency")),
        down: direction("download")?,
        up: direction("upload")?,
    })
}

/// `networkQuality -c`: rates in bits per second, responsiveness in round trips per minute.
fn apple(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let direction = |rate: &'static str, trips: &'static str| -> Result<Loaded, ImportError> {
        let bits = number(input, &json[rate], rate)?;
        let field = if json[trips].is_null() { "responsiveness" } else { trips };
        let latency = match json[field].as_f64() {
            None => None,
            Some(trips) if trips > 0.0 && 60_000.0 / trips <= MAX_MS => Some((60_000.0 / trips, format!("60 s / {field}"))),
            Some(trips) => {
                return Err(input.fault(format!("{field}: {trips} is out of range: allowed 1 round trip a minute and more")));
            }
        };
        Ok(Loaded { goodput: (goodput(input, bits, rate)?, format!("{rate}, {bits} bit/s of payload")), latency, longest: None })
    };
    Ok(Test {
        tool: "networkQuality",
        name: named([&json["interface_name"], &json["end_date"]]),
        idle: optional_ms(input, &json["base_rtt"], "base_rtt")?.map(|ms| (ms, "base_rtt")),
        down: direction("dl_throughput", "dl_responsiveness")?,
        up: direction("ul_throughput", "ul_responsiveness")?,
    })
}

/// A tool that writes one number for each direction, and its unit in bit/s.
struct Plain {
    tool: &'static str,
    unit: f64,
    called: &'static str,
}

const SPEEDTEST_CLI: Plain = Plain { tool: "speedtest-cli", unit: 1.0, called: "bit/s" };
const LIBRESPEED: Plain = Plain { tool: "LibreSpeed", unit: 1e6, called: "Mbit/s" };

/// Whether the rates are in Mbit/s. Both tools use the same keys, but only LibreSpeed has jitter;
/// and where there are counts of bytes, no test takes an hour.
fn is_in_mbit(json: &Value) -> bool {
    const MAX_S: f64 = 3600.0;
    let takes = |bytes: &str, rate: &str| Some(json[bytes].as_f64()? * 8.0 / json[rate].as_f64()?);
    let seconds = takes("bytes_received", "download").into_iter().chain(takes("bytes_sent", "upload"));
    json["jitter"].is_number() || seconds.filter(|seconds| seconds.is_finite()).any(|seconds| seconds > MAX_S)
}

/// Rates as plain numbers, no latency under load.
fn plain(input: &Input, json: &Value, by: &Plain) -> Result<Test, ImportError> {
    let direction = |field: &'static str| -> Result<Loaded, ImportError> {
        let number = number(input, &json[field], field)?;
        let goodput = (goodput(input, number * by.unit, field)?, format!("{field}, {number} {} of payload", by.called));
        Ok(Loaded { goodput, latency: None, longest: None })
    };
    let server = if by.unit == 1.0 { &json["client"]["isp"] } else { &json["server"]["name"] };
    Ok(Test {
        tool: by.tool,
        name: named([server, &json["timestamp"]]),
        idle: optional_ms(input, &json["ping"], "ping")?.map(|ms| (ms, "ping")),
        down: direction("download")?,
        up: direction("upload")?,
    })
}

fn named(words: [&Value; 2]) -> String {
    let words = words.into_iter().filter_map(Value::as_str).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(one_line).collect();
    if words.is_empty() { "speed test".to_owned() } else { format!("speed test {}", words.join(", ")) }
}

fn number(input: &Input, value: &Value, field: &str) -> Result<f64, ImportError> {
    value.as_f64().ok_or_else(|| match value {
        Value::Null => input.fault(format!("{field}: is missing")),
        other => input.fault(format!("{field}: `{}` is not a number", one_line(&other.to_string()))),
    })
}

fn goodput(input: &Input, bits: f64, field: &str) -> Result<f64, ImportError> {
    if RATES.contains(&bits) {
        return Ok(bits);
    }
    Err(input.fault(format!("{field}: {bits} bit/s is out of range: allowed 1 kbit/s to 1000 Gbit/s")))
}

/// A latency, if there is one.
fn optional_ms(input: &Input, value: &Value, field: &str) -> Result<Option<f64>, ImportError> {
    if value.is_null() {
        return Ok(None);
    }
    let ms = number(input, value, field)?;
    if (0.0..=MAX_MS).contains(&ms) {
        return Ok(Some(ms));
    }
    Err(input.fault(format!("{field}: {ms} ms is out of range: allowed 0 to {MAX_MS} ms")))
}

/// The line's rate: payload and headers, to four digits.
fn rate(loaded: &Loaded) -> Rate {
    let bits = (loaded.goodput.0 * HEADERS).round() as u64;
    let unit = (bits.checked_ilog10().unwrap_or_default()).saturating_sub(3);
    let unit = 10u64.pow(unit);
    Rate::bit_s((bits + unit / 2) / unit * unit)
}

fn way(loaded: &Loaded, idle_ms: f64) -> Way {
    let measured = Origin::Measured(format!("{}, and 1500/1448 of it with headers", loaded.goodput.1));
    let rate = rate(loaded);
    let held = match &loaded.latency {
        Some((latency, field)) => {
            let why = format!("{field}, {latency:.1} ms under load, less {idle_ms:.1} ms idle");
            filled(((latency - idle_ms) * 10.0).round() / 10.0, 1.0, rate, why)
        }
        None => buffer(Duration::ms(100), rate, Origin::Assumed("the test has no latency under load".to_owned())),
    };
    Way::unmanaged(Cited::quantity(rate, measured), rate, held, "what a modem without queue management does")
}

#[cfg(test)]
mod tests;
