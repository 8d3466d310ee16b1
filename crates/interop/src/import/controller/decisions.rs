//! The rates that StormGuard gave a site, next to what passed it and the delay that it measured.

use super::{Log, Table};
use crate::import::draft::one_line;
use crate::import::{ImportError, Input};
use goodqueue_base::units::Direction;
use goodqueue_lab::run::circuits::Ways;

/// Rates of a site in Mbit/s.
const RATES: (f64, f64) = (0.1, 10_000_000.0);
/// Delay above the baseline from which a queue stands somewhere, as StormGuard has it unless told
/// otherwise (`delay_threshold_ms`).
pub const STANDING_MS: f64 = 40.0;
/// A rate is used up where at least this part of it passes; our choice.
pub const USED_UP: f64 = 0.9;
/// The part of the time in which no more passes than the rate that is called the usual most.
const USUAL_MOST: f64 = 0.95;

/// One row of the log in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds since the first row.
    pub at: f64,
    /// The rate that StormGuard gave the site, bit/s.
    pub decided: f64,
    /// The rate that the site has by its configuration, bit/s.
    pub configured: f64,
    /// The rate that passed, bit/s.
    pub passed: f64,
    /// Round-trip time above the baseline, in ms.
    pub delay_ms: Option<f64>,
}

impl Moment {
    /// The rate that the line gave, where the log tells it: a queue stood somewhere although the
    /// decided rate was not used up.
    fn line(&self) -> Option<f64> {
        let stands = self.delay_ms.is_some_and(|delay| delay >= STANDING_MS);
        (stands && self.passed < USED_UP * self.decided).then_some(self.passed)
    }
}

/// The decisions about one site.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// The name of the site.
    pub site: String,
    /// The rows of each direction.
    pub moments: Ways<Vec<Moment>>,
    /// Seconds that the log covers.
    pub seconds: f64,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// The decisions in a log of StormGuard about `site`, or about its first one.
///
/// # Errors
/// When the file is no such log, a row has a field that cannot be, the site has no rows in a
/// direction, or StormGuard ran dry, so that rates were not what it decided.
pub fn read(input: &Input, site: Option<&str>) -> Result<Decisions, ImportError> {
    let (table, lines) = Table::of(input)?;
    let (at, place, direction) = (table.needed("timestamp_unix_ms")?, table.needed("site")?, table.needed("direction")?);
    let rates = [table.needed("queue_mbps")?, table.needed("max_mbps")?, table.needed("throughput_mbps")?];
    let (delay, mode) = (table.needed("delay_ms")?, table.needed("mode")?);
    let mut log = Log { name: site.unwrap_or_default().to_owned(), ..Log::default() };
    let mut moments: Ways<Vec<Moment>> = Ways::default();
    let mut known: Vec<String> = Vec::new();
    for (number, line) in lines {
        let row = table.row(number, line)?;
        if log.name.is_empty() {
            log.name.clone_from(&row[place]);
        }
        if row[place] != log.name {
            if !known.contains(&row[place]) && known.len() < 10 {
                known.push(row[place].clone());
            }
            continue;
        }
        let wrong = |column: usize, why: &str| {
            let shown = one_line(&row[column]);
            input.fault(format!("line {}: {}: `{shown}` {why}", number + 1, table.header[column]))
        };
        let value = |column: usize| row[column].trim().parse::<f64>().ok().filter(|value| value.is_finite());
        if row[mode].trim() == "dry_run" {
            return Err(wrong(mode, "left the rate as it was: there is no decision to play"));
        }
        let rate = |column: usize, least: f64| {
            let mbit = value(column).filter(|mbit| (least..=RATES.1).contains(mbit));
            let why = || wrong(column, &format!("is not a rate: allowed {least} to {} Mbit/s", RATES.1));
            mbit.map(|mbit| mbit * 1e6).ok_or_else(why)
        };
        let seconds = value(at).ok_or_else(|| wrong(at, "is not a number"))? / 1e3;
        let moment = Moment {
            at: log.passed(seconds),
            decided: rate(rates[0], RATES.0)?,
            configured: rate(rates[1], RATES.0)?,
            passed: rate(rates[2], 0.0)?,
            delay_ms: value(delay),
        };
        moments.of_mut(table.direction(number, &row[direction])?).push(moment);
    }
    for (way, name) in [(Direction::Down, "download"), (Direction::Up, "upload")] {
        if moments.of(way).is_empty() {
            let others = if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) };
            return Err(input.fault(format!("has no {name} of the site `{}`{others}", one_line(&log.name))));
        }
    }
    let mut notes = log.clock.notes("rows");
    if !known.is_empty() && site.is_none() {
        notes.push(format!("The log has more sites: {}. --site names one.", known.join(", ")));
    }
    Ok(Decisions { site: log.name, moments, seconds: log.clock.seconds(), notes })
}

/// A rate that a site has, had, or could have had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chosen {
    /// StormGuard's decision.
    Decided,
    /// That of the configuration, all the time.
    Configured,
    /// The most that usually passed, all the time.
    Passed,
}

impl Decisions {
    /// The rate over time, as steps of seconds and bit/s from 0 on: no more than the line gave
    /// where the log tells that.
    #[must_use]
    pub fn rates(&self, chosen: Chosen, way: Direction) -> Vec<(f64, f64)> {
        let mut steps: Vec<(f64, f64)> = Vec::new();
        let stays = self.mean(chosen, way);
        for moment in self.moments.of(way) {
            let rate = if chosen == Chosen::Decided { moment.decided } else { stays };
            let rate = moment.line().map_or(rate, |line| rate.min(line.max(RATES.0 * 1e6)));
            if steps.last().is_none_or(|(_, last)| *last != rate) {
                steps.push((if steps.is_empty() { 0.0 } else { moment.at }, rate));
            }
        }
        steps
    }

    /// The mean rate that was chosen, bit/s.
    #[must_use]
    pub fn mean(&self, chosen: Chosen, way: Direction) -> f64 {
        let moments = self.moments.of(way);
        match chosen {
            Chosen::Decided => moments.iter().map(|moment| moment.decided).sum::<f64>() / moments.len() as f64,
            Chosen::Configured => moments.iter().map(|moment| moment.configured).fold(0.0, f64::max),
            Chosen::Passed => {
                let mut passed: Vec<f64> = moments.iter().map(|moment| moment.passed).collect();
                passed.sort_by(f64::total_cmp);
                let place = ((passed.len() - 1) as f64 * USUAL_MOST).round() as usize;
                passed[place].max(RATES.0 * 1e6)
            }
        }
    }

    /// The share of the time in which the rate was, or would have been, above what the line gave.
    /// At least that: elsewhere the log does not tell the line's rate. None where no delay was
    /// measured.
    #[must_use]
    pub fn above_line(&self, chosen: Chosen, way: Direction) -> Option<f64> {
        let stays = self.mean(chosen, way);
        let (mut all, mut above) = (0, 0);
        for moment in self.moments.of(way).iter().filter(|moment| moment.delay_ms.is_some()) {
            all += 1;
            let rate = if chosen == Chosen::Decided { moment.decided } else { stays };
            above += u32::from(moment.line().is_some_and(|line| line < USED_UP * rate));
        }
        (all > 0).then(|| f64::from(above) / f64::from(all))
    }

    /// The mean rate that StormGuard kept back while what it gave was used up and no queue stood
    /// elsewhere, in bit/s. At most that could have passed in addition.
    #[must_use]
    pub fn kept_back(&self, way: Direction) -> f64 {
        let moments = self.moments.of(way);
        let is_used_up = |moment: &&Moment| {
            moment.passed >= USED_UP * moment.decided && moment.delay_ms.is_none_or(|delay| delay < STANDING_MS)
        };
        let kept = moments.iter().filter(is_used_up).map(|moment| (moment.configured - moment.decided).max(0.0));
        // The sum of none is -0.
        (kept.sum::<f64>() / moments.len() as f64).max(0.0)
    }

    /// The mean rate that passed, bit/s.
    #[must_use]
    pub fn passed(&self, way: Direction) -> f64 {
        let moments = self.moments.of(way);
        moments.iter().map(|moment| moment.passed).sum::<f64>() / moments.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "schema_version;timestamp_unix_ms;site;direction;mode;strategy;queue_mbps;min_mbps;max_mbps;\
        throughput_mbps;delay_ms;decision_reason\n";

    fn row(ms: u32, site: &str, direction: &str, queue: &str, passed: &str, delay: &str) -> String {
        format!("1;{ms};{site};{direction};live;delay_probe;{queue};50;200;{passed};{delay};\"delay={delay} ms; held\"\n")
    }

    fn decisions(rows: &str) -> Result<Decisions, ImportError> {
        read(&Input::read("storm.csv", format!("{HEADER}{rows}").as_bytes()).unwrap(), None)
    }

    #[test]
    fn decisions_stand_next_to_what_the_line_gave() {
        let down = [("200", "60", "90"), ("176", "60", "80"), ("60", "58", "12"), ("60", "57", ""), ("80", "20", "3")];
        let mut rows = String::new();
        for (second, (queue, passed, delay)) in down.into_iter().enumerate() {
            let ms = 5000 + 1000 * second as u32;
            rows += &row(ms, "\"Mast;1\"", "download", queue, passed, delay);
            rows += &row(ms, "\"Mast;1\"", "upload", "50", "1", "");
            rows += &row(ms, "Other", "download", "500", "1", "");
        }
        let found = decisions(&rows).unwrap();
        assert_eq!((found.site.as_str(), found.seconds), ("Mast;1", 4.0));
        // Of 200 and 176 Mbit/s the line gave 60.
        assert_eq!(found.rates(Chosen::Decided, Direction::Down), [(0.0, 60e6), (4.0, 80e6)]);
        assert_eq!(found.rates(Chosen::Configured, Direction::Down), [(0.0, 60e6), (2.0, 200e6)]);
        assert_eq!(found.rates(Chosen::Configured, Direction::Up), [(0.0, 200e6)]);
        assert_eq!(found.mean(Chosen::Decided, Direction::Down), 115.2e6);
        assert_eq!(found.mean(Chosen::Passed, Direction::Down), 60e6);
        // Of four seconds with a delay, two had 60 of 200 and 176 Mbit/s and a queue elsewhere.
        assert_eq!(found.above_line(Chosen::Decided, Direction::Down), Some(0.5));
        assert_eq!(found.above_line(Chosen::Passed, Direction::Down), Some(0.0));
        assert_eq!(found.above_line(Chosen::Decided, Direction::Up), None);
        // In two of five seconds 60 Mbit/s were used up and 140 more configured.
        assert_eq!(found.kept_back(Direction::Down), 56e6);
        assert!(found.notes[0].contains("more sites: Other"), "{:?}", found.notes);
    }

    #[test]
    fn wrong_logs_are_named_by_line() {
        let good = row(1000, "A", "download", "100", "5", "1") + &row(1000, "A", "upload", "100", "5", "1");
        for (rows, wanted) in [
            (row(1, "A", "download", "0", "5", ""), "storm.csv: line 2: queue_mbps: `0` is not a rate: allowed 0.1 to"),
            (good.clone() + &row(2, "A", "upload", "9", "-1", ""), "line 4: throughput_mbps: `-1` is not a rate: allowed 0 to"),
            (row(1, "A", "down", "9", "1", ""), "storm.csv: has no upload of the site `A`"),
            (good.replace("live", "dry_run"), "line 2: mode: `dry_run` left the rate as it was: there is no decision to play"),
            (good.replace("1;1000", "2;1000"), "line 2: schema_version: `2` is not read: expected 1"),
            ("1;1;A\n".to_owned(), "line 2: has 3 fields: expected 12"),
        ] {
            let text = decisions(&rows).unwrap_err().to_string();
            assert!(text.contains(wanted), "{text}");
        }
        let text = read(&Input::read("x", &b"timestamp_unix_ms;site\n"[..]).unwrap(), None).unwrap_err().to_string();
        assert!(text.contains("has no column `direction`"), "{text}");
    }
}
