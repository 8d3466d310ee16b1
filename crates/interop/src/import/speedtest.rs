//! Speed tests: what the programs for them write as JSON, and what some print.
//!
//! A figure that a test does not have stays unknown: rates and latencies of nought were not
//! measured.

mod crusader;
mod figures;
mod iperf3;
mod printed;
mod tools;

use crate::import::draft::{buffer, filled, halves, millis, usual_delay};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way, json};
use figures::{Full, Loaded, Test, failed, unknown};
use goodqueue_base::units::{Direction, Duration, Rate};
use serde_json::Value;

/// A line from a speed test.
///
/// # Errors
/// When the file is no result of a known tool, the test failed, or a figure in it is missing or out
/// of range.
pub fn import(input: &Input) -> Result<Draft, ImportError> {
    let mut results = Results { input, last: None, count: 0, failure: None, stream: Value::Null };
    match json_begin(&input.bytes) {
        Some(_) if crusader::is_export(&json::names(&input.bytes)) => results.keep(crusader::read(input)?),
        Some(from) => json::texts(input, from, |value| results.text(value))?,
        None if input.bytes.trim_ascii().is_empty() => {
            return Err(json::read(input, &[]).err().unwrap_or_else(|| unknown(input)));
        }
        None => results.keep(printed::read(input)?),
    }
    let (test, count) = (results.last, results.count);
    let test = match (test, results.failure) {
        (Some(test), _) => test,
        (None, Some(why)) => return Err(failed(input, &why)),
        (None, None) => return Err(unknown(input)),
    };
    Ok(draft(input, test, count.saturating_sub(1)))
}

/// Whether a file of lines is what one of the tools prints.
pub(crate) fn is_printed(text: &str) -> bool {
    printed::is_known(text)
}

/// The place of the first JSON text, which programs write below their own lines.
fn json_begin(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // Messages of programs begin with a word in brackets.
        if let [b'{' | b'[', rest @ ..] = line.trim_ascii_start()
            && !rest.trim_ascii_start().first().is_some_and(u8::is_ascii_alphanumeric)
        {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Results in a file with one or more.
struct Results<'a> {
    input: &'a Input,
    last: Option<Test>,
    count: usize,
    /// Why a test ended without one.
    failure: Option<String>,
    /// Parts of a result that iperf3 wrote one by one.
    stream: Value,
}

impl Results<'_> {
    fn text(&mut self, value: Value) -> Result<(), ImportError> {
        match value {
            Value::Array(all) if all.first().is_some_and(|one| !one["test_type"].is_null()) => {
                self.result(&serde_json::json!({ "speed_measurements": all }))
            }
            Value::Array(all) => self.list(&all),
            value => self.result(&value),
        }
    }

    /// A list of results, of which the last counts.
    fn list(&mut self, all: &[Value]) -> Result<(), ImportError> {
        let Some((last, others)) = all.split_last() else { return Ok(()) };
        self.count += others.len();
        self.result(last)
    }

    fn result(&mut self, value: &Value) -> Result<(), ImportError> {
        if let Some(reports) = value["reports"].as_array() {
            return self.list(reports);
        }
        if let Some(part) = iperf3::part(value, &mut self.stream) {
            return part.map_or(Ok(()), |whole| self.result(&whole));
        }
        if let Some(why) = failure(value) {
            self.failure = Some(why);
            return Ok(());
        }
        if let Some(test) = tools::read(self.input, value)? {
            self.keep(test);
        }
        Ok(())
    }

    fn keep(&mut self, test: Test) {
        self.last = Some(test);
        self.count += 1;
    }
}

/// The reason of a test that failed, as Ookla's program, Apple's and iperf3 write it.
fn failure(value: &Value) -> Option<String> {
    if value["level"] == "error" {
        return value["message"].as_str().map(str::to_owned);
    }
    let has_result = value["dl_throughput"].is_number() || value["download"].is_number();
    let words = ["error", "error_description", "error_domain"].iter().find_map(|key| value[*key].as_str());
    words.filter(|why| !has_result && !why.is_empty()).map(str::to_owned)
}

fn draft(input: &Input, test: Test, others: usize) -> Draft {
    let mut notes = test.notes;
    let (rtt, delay) = match test.idle {
        Some((idle, field)) => {
            let why = Origin::Measured(format!("half of {field}, {idle} ms of idle latency"));
            (Some(idle), halves(millis(idle), &why))
        }
        None => (None, usual_delay("the test has no idle latency")),
    };
    if test.down.is_some() || test.up.is_some() {
        let queue = "A speed test does not tell which queue the line has: the buffers hold for a queue without management.";
        notes.insert(0, queue.to_owned());
    }
    if others > 0 {
        notes.push(format!("The file has {} results; this is the last of them.", others + 1));
    }
    let longest = [&test.up, &test.down].into_iter().flatten().find_map(|way| way.longest);
    let latency = test.down.as_ref().and_then(|down| down.latency.as_ref());
    if let (Some(longest), Some((latency, _))) = (longest, latency)
        && longest > *latency
    {
        notes.push("Latency under load is a mean: a full buffer may last longer than is written here.".to_owned());
    }
    for (found, name) in [(&test.down, "download"), (&test.up, "upload")] {
        if found.is_none() {
            notes.push(format!("The test has no rate of the {name}: that direction is not known."));
        }
    }
    let parts = if test.full == Full::Both { 2.0 } else { 1.0 };
    let [down, up] = [&test.down, &test.up].map(|loaded| loaded.as_ref().map(|loaded| way(loaded, rtt, parts)));
    let ways = Way::of_line(down, up).unwrap_or_else(|| (unknown_way(test.tool), None));
    let draft = Draft::new(test.name, "speedtest", input, delay, ways);
    Draft { made_by: format!("{} ({})", draft.made_by, test.tool), notes, ..draft }
}

/// The line's rate, to four digits.
fn rate(bits: f64) -> Rate {
    let bits = bits.round() as u64;
    let unit = (bits.checked_ilog10().unwrap_or_default()).saturating_sub(3);
    let unit = 10u64.pow(unit);
    Rate::bit_s((bits + unit / 2) / unit * unit)
}

/// A direction of which a share of one in `parts` of the rise in latency is its own.
fn way(loaded: &Loaded, idle_ms: Option<f64>, parts: f64) -> Way {
    let rate = rate(loaded.bits);
    let assumed = |why: &str| buffer(Duration::ms(100), rate, Origin::Assumed(why.to_owned()));
    let held = match (&loaded.latency, idle_ms) {
        (Some((latency, field)), Some(idle_ms)) => {
            let halved = if parts > 1.0 { ", half of it for each direction" } else { "" };
            let why = format!("{field}, {latency:.1} ms under load, less {idle_ms:.1} ms idle{halved}");
            filled(((latency - idle_ms) * 10.0).round() / 10.0, parts, rate, why)
        }
        (Some(_), None) => assumed("the test has no idle latency to compare with"),
        (None, _) => assumed("the test has no latency under load"),
    };
    Way::unmanaged(Cited::quantity(rate, loaded.origin.clone()), rate, held, "what a modem without queue management does")
}

/// A direction of a line whose rates were not measured.
fn unknown_way(tool: &str) -> Way {
    const NOT_MEASURED: Rate = Rate::gbit(1);
    let assumed = || Origin::Assumed(format!("{tool} measured no rate: put the line's here"));
    let held = buffer(Duration::ms(100), NOT_MEASURED, assumed());
    let way = Way::unmanaged(Cited::quantity(NOT_MEASURED, assumed()), NOT_MEASURED, held, "round trips do not tell the queue");
    Way { known_as: Direction::Down, ..way }
}

#[cfg(test)]
mod tests;
