//! The output of programs for people: Ookla's, Apple's and speedtest-cli.

use super::figures::{Full, Loaded, Test, failed, latency, loaded, unknown};
use super::tools::{bits_in, round_trip, unknown_unit};
use crate::import::draft::one_line;
use crate::import::{ImportError, Input};
use serde_json::Value;

/// More lines than this have no summary that a person reads.
const MAX_LINES: usize = 10_000;

const OOKLA: &str = "Speedtest by Ookla";
const CAPACITIES: [&str; 2] = ["Downlink capacity:", "Uplink capacity:"];
const IPERF3: &str = "[ ID] Interval";

/// Whether one of them printed it, or a program that can write JSON instead.
pub(super) fn is_known(text: &str) -> bool {
    let known = [OOKLA, CAPACITIES[0], CAPACITIES[1], IPERF3, "Download: ", "{\"type\":\"", "[error]"];
    text.lines().take(MAX_LINES).any(|line| known.iter().any(|known| line.contains(known)))
}

/// Lines as they stood on the screen at the end: progress is printed over itself.
struct Screen<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Screen<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.split(['\n', '\r']).take(MAX_LINES).collect() }
    }

    /// The words behind a label, where it stands last, and the number of its line.
    fn find(&self, label: &str) -> Option<(usize, Vec<&'a str>)> {
        let place = |line: &&str| line.split_once(label).is_some_and(|(before, _)| !before.ends_with("link "));
        let at = self.lines.iter().rposition(place)?;
        Some((at, self.words(at, label)))
    }

    fn words(&self, at: usize, label: &str) -> Vec<&'a str> {
        let behind = self.lines[at].split_once(label).map_or("", |(_, behind)| behind);
        behind.split_whitespace().collect()
    }
}

pub(super) fn read(input: &Input) -> Result<Test, ImportError> {
    let text = input.text()?;
    let screen = Screen::new(text);
    let has = |label: &str| screen.lines.iter().any(|line| line.contains(label));
    if has(IPERF3) {
        return Err(input.fault("is what iperf3 prints for people: iperf3 --json writes what is read"));
    }
    if CAPACITIES.iter().any(|label| has(label)) {
        return apple(input, &screen);
    }
    let error = screen.lines.iter().rev().find_map(|line| line.split_once("[error]"));
    match (screen.find("Download:"), error) {
        (Some(_), _) => down_and_up(input, &screen, if has(OOKLA) { "Ookla" } else { "speedtest-cli" }),
        (None, Some((_, why))) => Err(failed(input, why.trim())),
        (None, None) if has(OOKLA) => Err(failed(input, "it has no Download")),
        (None, None) => Err(unknown(input)),
    }
}

/// A number, also with a comma before one or two decimals, as some languages write it.
fn decimal(text: &str) -> Option<f64> {
    match text.split_once(',') {
        Some((whole, part)) if (1..=2).contains(&part.len()) => format!("{whole}.{part}").parse().ok(),
        _ => text.parse().ok(),
    }
}

/// A rate with its unit.
fn rate(input: &Input, label: &str, words: &[&str]) -> Result<Option<Loaded>, ImportError> {
    let field = label.trim_end_matches(':');
    let (number, unit) = match words {
        [number, unit, ..] => (*number, *unit),
        words => return Err(failed(input, &format!("{field}: {}", words.join(" ")))),
    };
    let Some(value) = decimal(number) else { return Err(failed(input, &format!("{field}: {number}"))) };
    let bits = value * bits_in(unit).ok_or_else(|| input.fault(unknown_unit(field, unit)))?;
    loaded(input, bits, field, &format!("{number} {unit}"))
}

/// A time with its unit in milliseconds; none where the words are another thing.
fn time(input: &Input, words: &[&str], field: &str) -> Result<Option<(f64, String)>, ImportError> {
    let [number, unit, ..] = words else { return Ok(None) };
    let unit = match *unit {
        "ms" | "milliseconds" | "milli-seconds" => 1.0,
        "s" | "seconds" => 1e3,
        _ => return Ok(None),
    };
    let Some(value) = decimal(number) else { return Ok(None) };
    latency(input, &Value::from(value * unit), field)
}

/// Rates behind `Download:` and `Upload:`. Newer versions of Ookla's program have the latency under
/// load in the line below each.
fn down_and_up(input: &Input, screen: &Screen<'_>, tool: &'static str) -> Result<Test, ImportError> {
    let direction = |label: &str| -> Result<Option<Loaded>, ImportError> {
        let Some((at, words)) = screen.find(label) else { return Ok(None) };
        let found = rate(input, label, &words)?;
        let below = screen.lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        let words: Vec<&str> = below.map_or(Vec::new(), |line| line.split_whitespace().collect());
        let latency = time(input, &words, &format!("latency below {label}"))?;
        let high = words.iter().position(|word| *word == "high:").and_then(|at| words.get(at + 1));
        let longest = high.and_then(|high| decimal(high.trim_end_matches(')').trim_end_matches("ms")));
        Ok(found.map(|found| Loaded { latency, longest, ..found }))
    };
    let label = if tool == "Ookla" { "Latency:" } else { "Ping:" };
    let idle = screen.find(label).map_or(Vec::new(), |(_, words)| words);
    let isp = screen.find("ISP:").map_or_else(String::new, |(_, words)| format!(" {}", one_line(&words.join(" "))));
    Ok(Test {
        tool,
        name: format!("speed test{isp}"),
        idle: time(input, &idle, label.trim_end_matches(':'))?,
        down: direction("Download:")?,
        up: direction("Upload:")?,
        ..Test::default()
    })
}

/// Summary of `networkQuality`: responsiveness of each direction with `-s`, and of both loaded at
/// once without.
fn apple(input: &Input, screen: &Screen<'_>) -> Result<Test, ImportError> {
    let labels = ["Downlink Responsiveness:", "Uplink Responsiveness:"];
    let each = labels.iter().any(|label| screen.find(label).is_some());
    let direction = |capacity: &str, label: &str| -> Result<Option<Loaded>, ImportError> {
        let Some((_, words)) = screen.find(capacity) else { return Ok(None) };
        let label = if each { label } else { "Responsiveness:" };
        let trips = screen.find(label).map_or(Vec::new(), |(_, words)| words);
        let field = format!("60 s / {}", label.trim_end_matches(':'));
        let count = trips.iter().position(|word| word.starts_with("RPM")).and_then(|at| trips.get(at.checked_sub(1)?));
        let count = count.and_then(|count| count.trim_start_matches('(').parse::<f64>().ok());
        let latency = count.map(|count| round_trip(input, count, label.trim_end_matches(':'))).transpose()?;
        let found = rate(input, capacity, &words)?;
        Ok(found.map(|found| Loaded { latency: latency.map(|ms| (ms, field)), ..found }))
    };
    let idle = screen.find("Idle Latency:").map_or(Vec::new(), |(_, words)| words);
    Ok(Test {
        tool: "networkQuality",
        name: "speed test with networkQuality".to_owned(),
        idle: time(input, &idle, "Idle Latency")?,
        down: direction(CAPACITIES[0], labels[0])?,
        up: direction(CAPACITIES[1], labels[1])?,
        full: if each { Full::One } else { Full::Both },
        ..Test::default()
    })
}
