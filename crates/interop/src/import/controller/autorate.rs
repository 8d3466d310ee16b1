//! Logs of cake-autorate, from its first versions of 2022 to 3.5.

use crate::import::controller::{Log, draft};
use crate::import::draft::one_line;
use crate::import::rows::MAX_COLUMNS;
use crate::import::steps::least;
use crate::import::{Draft, ImportError, Input};
use std::collections::BTreeMap;

/// Kinds of lines that have rates. `HEADER` stood above lines of `DATA` before there were others.
const KINDS: [&str; 3] = ["LOAD", "SUMMARY", "DATA"];

/// Whether a line of the log may begin with this word.
pub(crate) fn is_autorate(word: &str) -> bool {
    titled(word).is_some_and(|kind| KINDS.contains(&kind)) || KINDS.contains(&word)
}

/// The kind of lines that a header is for.
fn titled(word: &str) -> Option<&str> {
    if word == "HEADER" { Some("DATA") } else { word.strip_suffix("_HEADER") }
}

/// Places of figures in a kind of line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Columns {
    seconds: Option<usize>,
    down: Option<usize>,
    up: Option<usize>,
    /// A round-trip time, or one-way delays in both directions, in microseconds.
    rtt: [Option<usize>; 2],
}

impl Columns {
    /// Reads a header.
    fn of(header: &str) -> Self {
        // One version forgot a semicolon.
        let names: Vec<&str> = header.split([';', ' ']).filter(|name| !name.is_empty()).take(MAX_COLUMNS).collect();
        let place = |name: &str| names.iter().position(|known| *known == name);
        let delays = match place("RTT_US") {
            Some(rtt) => [Some(rtt), None],
            None => ["DL_OWD_US", "UL_OWD_US"].map(place),
        };
        // One version had the time of its start in place of LOG_TIMESTAMP; processing is later by
        // less than a millisecond, and is in seconds whatever its name says.
        let seconds = place("LOG_TIMESTAMP").or_else(|| place("PROC_TIME_US"));
        Self { seconds, down: place("CAKE_DL_RATE_KBPS"), up: place("CAKE_UL_RATE_KBPS"), rtt: delays }
    }

    /// The columns of a line without a header, by their number: rates stand at its end.
    fn usual(kind: &str, count: usize) -> Option<Self> {
        let delays = match (kind, count) {
            ("LOAD", 6 | 8) | ("SUMMARY", 13) => [None, None],
            ("DATA", 20) => [Some(12), None],
            ("DATA", 24) => [Some(12), Some(15)],
            ("DATA", 25) => [Some(12), Some(16)],
            ("DATA", 27 | 31 | 33) => [Some(12), Some(17)],
            _ => return None,
        };
        let rates = (count > 6).then_some([count - 2, count - 1]);
        Some(Self { seconds: Some(2), down: rates.map(|[down, _]| down), up: rates.map(|[_, up]| up), rtt: delays })
    }
}

/// A line from a log of cake-autorate.
///
/// # Errors
/// When the file has no line with rates, a line of no known version, or a number that is none.
pub fn autorate(input: &Input) -> Result<Draft, ImportError> {
    let text = input.text()?;
    let mut headers: BTreeMap<&str, Columns> = BTreeMap::new();
    let mut log = Log { name: "cake-autorate".to_owned(), ..Log::default() };
    let mut shortest: Option<(f64, &str)> = None;
    for (number, line) in text.lines().enumerate() {
        let word = line.split(';').next().unwrap_or_default().trim();
        if let Some(kind) = titled(word).filter(|kind| KINDS.contains(kind)) {
            headers.insert(kind, Columns::of(line));
            continue;
        }
        if !KINDS.contains(&word) {
            continue;
        }
        let row: Vec<&str> = line.split(';').take(MAX_COLUMNS).map(str::trim).collect();
        let fault = |why: String| input.fault(format!("line {}: {why}", number + 1));
        let columns = headers.get(word).copied().or_else(|| Columns::usual(word, row.len()));
        let columns = columns.ok_or_else(|| fault(unknown(word, row.len())))?;
        let value = |column: Option<usize>, name: &str| -> Result<Option<f64>, ImportError> {
            let Some(text) = column.and_then(|column| row.get(column)) else { return Ok(None) };
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(fault(format!("{name}: `{}` is not a number", one_line(text)))),
            }
        };
        let Some(seconds) = value(columns.seconds, "LOG_TIMESTAMP")? else { continue };
        let seconds = log.passed(seconds);
        if let Some(kbit) = value(columns.down, "CAKE_DL_RATE_KBPS")? {
            log.down.push(seconds, kbit * 1e3);
        }
        if let Some(kbit) = value(columns.up, "CAKE_UL_RATE_KBPS")? {
            log.up.push(seconds, kbit * 1e3);
        }
        // One-way delays have the difference of two clocks in them, which their sum has not.
        let (sum, how) = match columns.rtt {
            [there, None] => (value(there, "RTT_US")?, "the least RTT_US"),
            [there, back] => {
                let both = value(there, "DL_OWD_US")?.zip(value(back, "UL_OWD_US")?);
                (both.map(|(there, back)| there + back), "the least sum of DL_OWD_US and UL_OWD_US")
            }
        };
        if let Some(sum) = sum.and_then(|micros| Some(log.round_trip(micros / 1e3)? * 1e3)) {
            shortest = least([sum].into_iter().chain(shortest.map(|(before, _)| before))).map(|shortest| (shortest, how));
        }
    }
    log.rtt = shortest.map(|(micros, how)| (micros / 1e3, how.to_owned()));
    draft(input, "autorate", log, "rates that the controller set")
}

fn unknown(kind: &str, count: usize) -> String {
    format!("{kind} with {count} columns is of no known version: add the {kind}_HEADER line of the log, which names them")
}
