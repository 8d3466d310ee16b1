//! The result of a measurement, as a file.

use crate::measure::delays::{Delays, Quantiles};
use crate::measure::probes::Clock;
use crate::measure::responsiveness::Responsiveness;
use crate::measure::volume::Family;
use goodqueue_lab::results::statistics::Figure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema of the file.
pub const SCHEMA: &str = "goodqueue.measurement/1";
/// Rates of lines, in bit/s.
const RATES: std::ops::RangeInclusive<f64> = 1e3..=1e12;
/// Longest delay, in seconds.
const MAX_S: f64 = 60.0;

/// One end of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Address, without the port.
    pub address: String,
    /// Version of gq.
    pub gq: String,
    /// Congestion control of what it sent.
    pub congestion_control: String,
}

/// The figures of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionResult {
    /// Payload that arrived, in bit/s.
    pub goodput_bit_s: Figure,
    /// Rate of the line in bit/s of IP, estimated from the payload.
    pub line_rate_bit_s: Figure,
    /// Connections in the end.
    pub connections: u32,
    /// Whether the rates of the last intervals agree within 5 %.
    pub stable: bool,
    /// Begin of the time that rate and delays were taken over, since that of the measurement.
    pub from_s: f64,
    /// Length of that time.
    pub seconds: f64,
    /// Delays while this direction was full.
    pub loaded: Delays,
    /// Responsiveness while this direction was full.
    pub responsiveness: Option<Responsiveness>,
}

/// The offset of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFit {
    /// Half of the fastest round trip, by which one-way delays may be wrong at most: both are off
    /// by the same time in opposite directions.
    pub uncertainty_s: f64,
    /// Gain of the server's clock, in parts per million.
    pub drift_ppm: f64,
}

impl From<&Clock> for ClockFit {
    fn from(clock: &Clock) -> Self {
        Self { uncertainty_s: clock.uncertainty_s, drift_ppm: clock.drift() * 1e6 }
    }
}

/// A measurement of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// [`SCHEMA`].
    pub schema: String,
    /// When, in UTC, as 2026-11-26T21:00:00Z.
    pub date: String,
    /// The end where *down* arrives.
    pub client: End,
    /// The other end.
    pub server: End,
    /// The version of IP.
    pub family: Family,
    /// Delays of the idle line.
    pub idle: Delays,
    /// The direction to the client.
    pub down: DirectionResult,
    /// The direction from the client.
    pub up: DirectionResult,
    /// The clocks.
    pub clock: ClockFit,
    /// Origin of each figure: measured, or estimated from others.
    pub origins: BTreeMap<String, String>,
    /// Remarks for the reader, in sentences.
    pub notes: Vec<String>,
}

/// Text that is no measurement, with the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(String);

impl Measurement {
    /// The origin of each figure.
    #[must_use]
    pub fn origins() -> BTreeMap<String, String> {
        [
            ("goodput_bit_s", "measured: payload that arrived in the last four intervals"),
            ("line_rate_bit_s", "estimated: payload with headers of full packets of 1500 bytes, and the probes of that time"),
            ("rtt_s", "measured: by the client's clock, less the server's time to answer"),
            ("down_s, up_s", "estimated: the fastest idle probe is taken to need the same time in both directions"),
            ("lost_up, lost_down", "measured: by the server's count of probes"),
            ("responsiveness", "measured: draft-ietf-ippm-responsiveness-09 without TLS, each direction by itself"),
        ]
        .map(|(field, how)| (field.to_owned(), how.to_owned()))
        .into()
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// When it is no measurement, or a figure in it is out of range.
    pub fn read(text: &str) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<String>,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| Fault(format!("is not JSON: {error}")))?;
        match head.schema.as_deref() {
            Some(SCHEMA) => {}
            Some(other) => {
                let other: String = other.chars().filter(|letter| !letter.is_control()).take(80).collect();
                return Err(Fault(format!("schema: `{other}` is not read: allowed {SCHEMA}")));
            }
            None => return Err(Fault(format!("is no measurement: it has no field `schema`, expected {SCHEMA}"))),
        }
        let read: Self = serde_json::from_str(text).map_err(|error| Fault(error.to_string()))?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), Fault> {
        delays("idle", &self.idle)?;
        for (name, way) in [("down", &self.down), ("up", &self.up)] {
            for (field, figure) in [("goodput_bit_s", &way.goodput_bit_s), ("line_rate_bit_s", &way.line_rate_bit_s)] {
                let rate = figure.mean.ok_or_else(|| Fault(format!("{name}.{field}.mean: is missing")))?;
                if !RATES.contains(&rate) {
                    return Err(Fault(format!(
                        "{name}.{field}.mean: {rate} bit/s is out of range: allowed 1 kbit/s to 1000 Gbit/s"
                    )));
                }
                interval(&format!("{name}.{field}"), figure)?;
            }
            delays(&format!("{name}.loaded"), &way.loaded)?;
            let rpm = way.responsiveness.map(|found| found.rpm);
            if let Some(rpm) = rpm.filter(|rpm| !(*rpm > 0.0 && *rpm <= 6e7)) {
                return Err(Fault(format!("{name}.responsiveness.rpm: {rpm} is out of range: allowed 0 to 60000000")));
            }
        }
        Ok(())
    }
}

/// An interval has two samples at least, and is no negative number.
fn interval(name: &str, figure: &Figure) -> Result<(), Fault> {
    match figure.ci95 {
        Some(_) if figure.n < 2 => Err(Fault(format!("{name}.n: {} is out of range: an interval needs 2", figure.n))),
        Some(half) if half < 0.0 => Err(Fault(format!("{name}.ci95: {half} is out of range: allowed 0 and more"))),
        _ => Ok(()),
    }
}

fn delays(name: &str, delays: &Delays) -> Result<(), Fault> {
    let figure = |figure: &Figure| [figure.mean.unwrap_or_default(); 5];
    for (field, times, least) in [
        ("rtt_s", delays.rtt_s.all(), 0.0),
        // The offset of the clocks is estimated.
        ("down_s", delays.down_s.all(), -MAX_S),
        ("up_s", delays.up_s.all(), -MAX_S),
        ("rtt_p50_s", figure(&delays.rtt_p50_s), 0.0),
        ("rtt_p95_s", figure(&delays.rtt_p95_s), 0.0),
    ] {
        if let Some(time) = times.into_iter().find(|time| !(least..=MAX_S).contains(time)) {
            return Err(Fault(format!("{name}.{field}: {time} s is out of range: allowed {least} to {MAX_S} s")));
        }
        if times.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Fault(format!("{name}.{field}: the quantiles do not rise")));
        }
    }
    interval(&format!("{name}.rtt_p50_s"), &delays.rtt_p50_s)?;
    interval(&format!("{name}.rtt_p95_s"), &delays.rtt_p95_s)
}

impl DirectionResult {
    /// Time that the queue of this direction held packets for when it was fullest, in seconds: the
    /// 99th percentile of the one-way delay, less the shortest of the idle line. The offset of the
    /// clocks cancels out.
    #[must_use]
    pub fn queue_s(&self, one_way: fn(&Delays) -> &Quantiles, idle: &Delays) -> f64 {
        one_way(&self.loaded).p99 - one_way(idle).min
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A line of 20/2 Mbit/s with 30 ms, and the delays under load.
    pub(crate) fn sample(loaded_s: f64, spread_s: f64) -> Measurement {
        let figure = |mean: f64, ci95: f64| Figure { mean: Some(mean), ci95: Some(ci95), n: 8 };
        let all = |s: f64| Quantiles { min: s, p50: s, p95: s, p99: s, max: s };
        let delays = |s: f64, up: f64, spread: f64| Delays {
            probes: 125,
            lost_up: 0,
            lost_down: 0,
            rtt_s: all(s),
            down_s: all(s - up),
            up_s: all(up),
            rtt_p50_s: figure(s, spread),
            rtt_p95_s: figure(s, spread),
        };
        let way = |goodput: f64, loaded| DirectionResult {
            goodput_bit_s: figure(goodput, 1e5),
            line_rate_bit_s: figure(goodput * 1500.0 / 1448.0, 1e5),
            connections: 5,
            stable: true,
            from_s: 12.0,
            seconds: 20.0,
            loaded,
            responsiveness: None,
        };
        Measurement {
            schema: SCHEMA.to_owned(),
            date: "2026-11-26T12:00:00Z".to_owned(),
            client: End { address: "192.0.2.1".to_owned(), gq: "0.1.0".to_owned(), congestion_control: "cubic".to_owned() },
            server: End { address: "192.0.2.2".to_owned(), gq: "0.1.0".to_owned(), congestion_control: "cubic".to_owned() },
            family: Family::V4,
            idle: delays(0.03, 0.015, 0.0005),
            down: way(19.3e6, delays(loaded_s, 0.015, spread_s)),
            up: way(1.93e6, delays(loaded_s, loaded_s - 0.015, spread_s)),
            clock: ClockFit { uncertainty_s: 0.015, drift_ppm: 1.5 },
            origins: Measurement::origins(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_measurement_is_read_back() {
        let sample = sample(0.2, 0.01);
        let text = serde_json::to_string_pretty(&sample).unwrap();
        assert_eq!(Measurement::read(&text), Ok(sample.clone()));
        assert!((sample.down.queue_s(|delays| &delays.down_s, &sample.idle) - 0.17).abs() < 1e-9);
    }

    #[test]
    fn faults_are_named_with_what_is_allowed() {
        let text = serde_json::to_string(&sample(0.2, 0.01)).unwrap();
        let fault = |text: &str| Measurement::read(text).unwrap_err().to_string();
        assert!(fault("{").starts_with("is not JSON: "));
        assert_eq!(fault("{}"), "is no measurement: it has no field `schema`, expected goodqueue.measurement/1");
        let other = text.replace("measurement/1", "measurement/2");
        assert_eq!(fault(&other), "schema: `goodqueue.measurement/2` is not read: allowed goodqueue.measurement/1");
        assert!(fault(&text.replace("\"idle\"", "\"busy\"")).starts_with("missing field `idle`"));
        let rate = fault(&text.replace("19300000.0", "19.3"));
        assert_eq!(rate, "down.goodput_bit_s.mean: 19.3 bit/s is out of range: allowed 1 kbit/s to 1000 Gbit/s");
        let time = fault(&text.replacen("0.03", "-0.03", 1));
        assert_eq!(time, "idle.rtt_s: -0.03 s is out of range: allowed 0 to 60 s");
        assert_eq!(fault(&text.replacen("0.03", "0.04", 1)), "idle.rtt_s: the quantiles do not rise");
        assert!(fault(&text.replacen("\"n\":8", "\"n\":1", 1)).contains(".n: 1 is out of range: an interval needs 2"));
    }
}
