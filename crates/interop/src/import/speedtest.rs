//! Speed tests: JSON of Ookla's CLI, of Apple's `networkQuality -c`, and of `speedtest-cli`.

use crate::import::draft::{buffer, halves, one_line};
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

/// Bytes of a full packet over its payload: IPv4 and TCP with timestamps, MTU 1500.
const HEADERS: f64 = 1500.0 / 1448.0;

/// Rates outside of this are no line: 1 kbit/s to 1 Tbit/s.
const RATES: std::ops::RangeInclusive<f64> = 1e3..=1e12;

/// Times above this are no latency, in milliseconds.
const MAX_MS: f64 = 60_000.0;

/// A line from a speed test.
///
/// # Errors
/// When the file is no result of a known tool, or a figure in it is missing or out of range.
pub fn import(input: &Input) -> Result<Draft, ImportError> {
    let json = input.json()?;
    let test = read(input, &json)?;
    let (rtt, delay) = match test.idle {
        Some((idle, field)) => {
            let why = Origin::Measured(format!("half of {field}, {idle} ms of idle latency"));
            (idle, halves(millis(idle), &why))
        }
        None => {
            let why = Origin::Assumed("half of 20 ms: the test has no idle latency".to_owned());
            (20.0, halves(Duration::ms(20), &why))
        }
    };
    let (down, up) = (way(&test.down, rtt), way(&test.up, rtt));
    let fastest = rate(&test.down).max(rate(&test.up));
    let mut notes =
        vec!["A speed test does not tell which queue the line has: the buffers hold for a queue without management.".to_owned()];
    if let (Some(longest), Some((latency, _))) = (test.up.longest.or(test.down.longest), &test.down.latency)
        && longest > *latency
    {
        notes.push("Latency under load is a mean: a full buffer may last longer than is written here.".to_owned());
    }
    Ok(Draft {
        name: test.name,
        made_by: format!("gq import speedtest from {} ({})", input.name, test.tool),
        notes,
        delay,
        framing: None,
        down,
        up: Some(up),
        fastest,
        traffic: None,
        duration: None,
    })
}

fn read(input: &Input, json: &Value) -> Result<Test, ImportError> {
    if json["download"]["bandwidth"].is_number() {
        return ookla(input, json);
    }
    if !json["dl_throughput"].is_null() {
        return apple(input, json);
    }
    if json["download"].is_number() && json["upload"].is_number() {
        return speedtest_cli(input, json);
    }
    let known = "download.bandwidth (speedtest -f json), dl_throughput (networkQuality -c), download (speedtest-cli --json)";
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
    let words = [&json["isp"], &json["timestamp"]].map(|value| value.as_str().unwrap_or_default());
    Ok(Test {
        tool: "Ookla",
        name: named(&words),
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
    let words = [&json["interface_name"], &json["end_date"]].map(|value| value.as_str().unwrap_or_default());
    Ok(Test {
        tool: "networkQuality",
        name: named(&words),
        idle: optional_ms(input, &json["base_rtt"], "base_rtt")?.map(|ms| (ms, "base_rtt")),
        down: direction("dl_throughput", "dl_responsiveness")?,
        up: direction("ul_throughput", "ul_responsiveness")?,
    })
}

/// `speedtest-cli --json`: rates in bits per second, no latency under load.
fn speedtest_cli(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let direction = |field: &'static str| -> Result<Loaded, ImportError> {
        let bits = number(input, &json[field], field)?;
        let goodput = (goodput(input, bits, field)?, format!("{field}, {bits} bit/s of payload"));
        Ok(Loaded { goodput, latency: None, longest: None })
    };
    let words = [&json["client"]["isp"], &json["timestamp"]].map(|value| value.as_str().unwrap_or_default());
    Ok(Test {
        tool: "speedtest-cli",
        name: named(&words),
        idle: optional_ms(input, &json["ping"], "ping")?.map(|ms| (ms, "ping")),
        down: direction("download")?,
        up: direction("upload")?,
    })
}

fn named(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().filter(|word| !word.is_empty()).map(|word| one_line(word)).collect();
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

fn millis(ms: f64) -> Duration {
    Duration::us((ms * 1e3).round() as u64)
}

/// The line's rate: payload and headers, to four digits.
fn rate(loaded: &Loaded) -> Rate {
    let bits = (loaded.goodput.0 * HEADERS).round() as u64;
    let unit = (bits.checked_ilog10().unwrap_or_default()).saturating_sub(3);
    let unit = 10u64.pow(unit);
    Rate::bit_s((bits + unit / 2) / unit * unit)
}

fn way(loaded: &Loaded, idle_ms: f64) -> Way {
    let why = format!("{}, and 1500/1448 of it with headers", loaded.goodput.1);
    let line = Cited::quantity(rate(loaded), Origin::Measured(why));
    let held = match &loaded.latency {
        Some((latency, field)) => {
            // A buffer below a few packets would only say that the test never filled it.
            let extra = (latency - idle_ms).max(1.0);
            let why = format!("{field}, {latency:.1} ms under load, less {idle_ms:.1} ms idle");
            buffer(millis((extra * 10.0).round() / 10.0), rate(loaded), Origin::Estimated(why))
        }
        None => buffer(Duration::ms(100), rate(loaded), Origin::Assumed("the test has no latency under load".to_owned())),
    };
    let queue = Cited::toml("\"tail-drop\"", Origin::Assumed("what a modem without queue management does".to_owned()));
    Way { rate: line, buffer: held, queue, burst: None }
}

#[cfg(test)]
mod tests;
