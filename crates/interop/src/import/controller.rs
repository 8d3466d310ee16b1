//! Logs of controllers that follow a line's rate: LibreQoS' StormGuard and cake-autorate.

mod autorate;
pub mod decisions;

use crate::import::clock::Clock;
use crate::import::draft::{buffer, halves, one_line, usual_delay};
use crate::import::rows::fields;
use crate::import::steps::{Steps, least, median};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use goodqueue_base::units::{Direction, Duration};
use std::collections::BTreeSet;

pub use autorate::autorate;
pub(crate) use autorate::is_autorate;

/// Round-trip times above this are no line's, in milliseconds.
const MAX_MS: f64 = 10_000.0;

/// Nor those below this.
const MIN_MS: f64 = 0.001;

/// Sites beyond these are not counted.
const MAX_SITES: usize = 10_000;

/// The version of StormGuard's log.
const SCHEMA: &str = "1";

/// Longer logs are played from their beginning for this many seconds; a longer duration plays more.
const MAX_RUN: f64 = 600.0;

/// The figures of a line in a log.
#[derive(Default)]
struct Log {
    name: String,
    down: Steps,
    up: Steps,
    /// Base round-trip time in milliseconds, and how it was found.
    rtt: Option<(f64, String)>,
    /// Round-trip times that none has.
    wrong_rtts: u64,
    clock: Clock,
}

impl Log {
    /// Seconds since the first line.
    fn passed(&mut self, seconds: f64) -> f64 {
        self.clock.pass((seconds * 1e9).round() as i64).ns as f64 / 1e9
    }

    /// A round-trip time in milliseconds; nought and less are counted, as nothing was measured.
    fn round_trip(&mut self, ms: f64) -> Option<f64> {
        let is_time = ms >= MIN_MS;
        self.wrong_rtts += u64::from(!is_time);
        is_time.then_some(ms)
    }
}

/// A line from the CSV of StormGuard; `site` chooses one of several.
///
/// # Errors
/// When the file has no header of StormGuard, a line with too few fields, or nothing of the site.
pub fn stormguard(input: &Input, site: Option<&str>) -> Result<Draft, ImportError> {
    let (table, lines) = Table::of(input)?;
    let (at, place, direction, rate) =
        (table.needed("timestamp_unix_ms")?, table.needed("site")?, table.needed("direction")?, table.needed("queue_mbps")?);
    let (base, ping) = (table.column("baseline_rtt_ms"), table.column("active_ping_rtt_ms"));
    let mut log = Log::default();
    let (mut bases, mut pings) = (Vec::new(), Vec::new());
    let mut others = BTreeSet::new();
    for (number, line) in lines {
        let row = table.row(number, line)?;
        let chosen = site.map_or_else(|| if log.name.is_empty() { row[place].clone() } else { log.name.clone() }, str::to_owned);
        if row[place] != chosen {
            if others.len() < MAX_SITES {
                others.insert(row[place].clone());
            }
            continue;
        }
        log.name = chosen;
        let value = |column: usize| row[column].trim().parse::<f64>().ok().filter(|value| value.is_finite());
        let Some(seconds) = value(at).map(|ms| ms / 1e3) else {
            return Err(input.fault(format!("line {}: timestamp_unix_ms: `{}` is not a number", number + 1, one_line(&row[at]))));
        };
        let seconds = log.passed(seconds);
        let steps = match table.direction(number, &row[direction])? {
            Direction::Down => &mut log.down,
            Direction::Up => &mut log.up,
        };
        if !row[rate].trim().is_empty() {
            steps.push(seconds, value(rate).unwrap_or(f64::NAN) * 1e6);
        }
        bases.extend(base.and_then(value).and_then(|ms| log.round_trip(ms)));
        pings.extend(ping.and_then(value).and_then(|ms| log.round_trip(ms)));
    }
    if log.name.is_empty() {
        let known: Vec<&str> = others.iter().map(String::as_str).take(10).collect();
        return Err(match site {
            Some(site) => input.fault(format!("has no site `{}`: allowed {}", one_line(site), known.join(", "))),
            None => input.fault("has no rows"),
        });
    }
    let measured = median(bases).map(|rtt| (rtt, "the median of baseline_rtt_ms"));
    let measured = measured.or_else(|| least(pings).map(|rtt| (rtt, "the least of active_ping_rtt_ms")));
    log.rtt = measured.map(|(rtt, how)| (rtt, how.to_owned()));
    let mut draft = draft(input, "stormguard", log, "queue_mbps")?;
    if !others.is_empty() {
        let more = if others.len() < MAX_SITES { "" } else { " or more" };
        draft.notes.push(format!("The log has {}{more} more sites: --site names one.", others.len()));
    }
    Ok(draft)
}

/// The table in StormGuard's log.
struct Table<'a> {
    input: &'a Input,
    header: Vec<String>,
    version: Option<usize>,
}

impl<'a> Table<'a> {
    /// The table, and its lines below the header with their numbers from 0.
    fn of(input: &'a Input) -> Result<(Self, impl Iterator<Item = (usize, &'a str)>), ImportError> {
        let mut lines = input.text()?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let header: Vec<String> = lines.next().map_or(Vec::new(), |(_, line)| fields(line, ';'));
        let version = header.iter().position(|known| known == "schema_version");
        Ok((Self { input, header, version }, lines))
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|known| known == name)
    }

    fn needed(&self, name: &str) -> Result<usize, ImportError> {
        let missing = || self.input.fault(format!("has no column `{name}`: expected the header of StormGuard's log"));
        self.column(name).ok_or_else(missing)
    }

    /// The fields of a line of the version that is read.
    fn row(&self, number: usize, line: &str) -> Result<Vec<String>, ImportError> {
        let row = fields(line, ';');
        if row.len() < self.header.len() {
            let (has, wanted) = (row.len(), self.header.len());
            return Err(self.input.fault(format!("line {}: has {has} fields: expected {wanted}", number + 1)));
        }
        if let Some(other) = self.version.map(|column| row[column].trim()).filter(|version| *version != SCHEMA) {
            let fault = format!("line {}: schema_version: `{}` is not read: expected {SCHEMA}", number + 1, one_line(other));
            return Err(self.input.fault(fault));
        }
        Ok(row)
    }

    fn direction(&self, number: usize, text: &str) -> Result<Direction, ImportError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "download" | "down" => Ok(Direction::Down),
            "upload" | "up" => Ok(Direction::Up),
            other => {
                let fault =
                    format!("line {}: direction: `{}` is not known: allowed download, upload", number + 1, one_line(other));
                Err(self.input.fault(fault))
            }
        }
    }
}

fn draft(input: &Input, format: &str, log: Log, why: &str) -> Result<Draft, ImportError> {
    let start = [log.down.start(), log.up.start()].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let way = |steps: &Steps| {
        let fastest = steps.fastest();
        let queue = Cited::toml("\"cake\"", Origin::Assumed("the queue that the controller sets the rate of".to_owned()));
        let held = buffer(Duration::ms(100), fastest, Origin::Assumed("a log of rates does not tell the buffer".to_owned()));
        (!steps.is_empty()).then(|| Way {
            rate: steps.cited(start, why),
            fastest,
            buffer: held,
            queue,
            settings: Vec::new(),
            burst: None,
            loss: None,
            known_as: Direction::Down,
        })
    };
    let ways = Way::of_line(way(&log.down), way(&log.up));
    let ways = ways.ok_or_else(|| input.fault("has no rates: expected the log of a controller"))?;
    let delay = match log.rtt {
        Some((rtt, how)) if (MIN_MS..=MAX_MS).contains(&rtt) => {
            halves(Duration::us((rtt * 1e3) as u64), &Origin::Measured(format!("half of {rtt:.1} ms, {how}")))
        }
        Some((rtt, how)) => return Err(input.fault(format!("{how}: {rtt} ms is out of range: allowed {MIN_MS} to {MAX_MS} ms"))),
        None => usual_delay("the log has no round-trip times"),
    };
    let covers = log.clock.seconds();
    let seconds = covers.clamp(30.0, MAX_RUN).ceil();
    let span = Origin::Measured(format!("the log covers {covers:.0} s; so much of it at most is simulated"));
    let mut notes = vec!["The rates are those of the controller, which may have been below what the line carried.".to_owned()];
    notes.extend(log.clock.notes("rows"));
    let wrong = log.down.wrong() + log.up.wrong();
    if wrong > 0 {
        notes.push(format!("{wrong} rates are out of range: allowed 1 bit/s to 10 Tbit/s. They were not read."));
    }
    if log.wrong_rtts > 0 {
        notes.push(format!("{} round-trip times are not above 0 s. They were not read.", log.wrong_rtts));
    }
    Ok(Draft {
        notes,
        duration: Some(Cited::quantity(format!("{seconds} s"), span)),
        ..Draft::new(format!("line of {}", one_line(&log.name)), format, input, delay, ways)
    })
}

#[cfg(test)]
mod tests;
