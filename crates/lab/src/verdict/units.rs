//! Latency under load in units that people know from speed tests.

use super::rule::Candidate;
use super::words::capital;
use crate::results::experience::Activity;
use std::fmt;
use std::str::FromStr;

/// The unit of the latency under load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds above the empty line, in the median.
    #[default]
    Ms,
    /// Round trips per minute (draft-ietf-ippm-responsiveness), from the ping.
    Rpm,
    /// The grade of increased latency that speed tests give, A+ to F.
    Grade,
    /// Quality of outcome for a conference (draft-ietf-ippm-qoo), 0 to 100.
    Qoo,
}

/// A unit that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no unit: allowed ms, rpm, grade, qoo")]
pub struct UnknownUnit(String);

impl FromStr for Unit {
    type Err = UnknownUnit;

    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        match text {
            "ms" => Ok(Self::Ms),
            "rpm" => Ok(Self::Rpm),
            "grade" => Ok(Self::Grade),
            "qoo" => Ok(Self::Qoo),
            _ => Err(UnknownUnit(text.to_owned())),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ms => "latency added under load",
            Self::Rpm => "round trips per minute under load",
            Self::Grade => "grade of the latency added under load",
            Self::Qoo => "quality of outcome for conferences, of 100",
        })
    }
}

/// Least increase of the median latency that no longer gets the grade, ms: the bounds of
/// DSLReports' speed test, which LibreQoS' test shares.
const GRADES: [(f64, &str); 5] = [(5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D")];

/// The grade of a latency that grows by `increase_ms` under load.
#[must_use]
pub fn grade(increase_ms: f64) -> &'static str {
    GRADES.iter().find(|(bound, _)| increase_ms < *bound).map_or("F", |(_, grade)| *grade)
}

/// Quality of outcome: full at the first value of each pair, zero at the second.
#[must_use]
pub fn quality(latency_ms: f64, lost: f64) -> f64 {
    /// LibreQoS' profile for conferences: 95th percentile of the latency, and losses.
    const LATENCY_MS: (f64, f64) = (50.0, 100.0);
    const LOST: (f64, f64) = (0.001, 0.005);
    let score = |value: f64, (full, zero): (f64, f64)| (100.0 * (1.0 - (value - full) / (zero - full))).clamp(0.0, 100.0);
    score(latency_ms, LATENCY_MS).min(score(lost, LOST))
}

/// The mean of a figure of the first group of pings; `None` without one.
pub(super) fn of_pings(one: &Candidate<'_>, name: &str) -> Option<f64> {
    let place = Activity::Ping.metrics().iter().position(|metric| metric.about.name == name)?;
    one.figure(|sample| sample.groups.iter().find(|group| group.activity == Activity::Ping)?.values[place]).mean
}

impl Unit {
    /// The pings of each of these queues; `None` where there are none.
    pub fn under_load<'a>(self, queues: impl Iterator<Item = (&'a str, &'a Candidate<'a>)>) -> Option<String> {
        let all: Vec<String> = queues.map_while(|(name, one)| Some(format!("{name} {}", self.said(one)?))).collect();
        (!all.is_empty()).then(|| capital(&format!("{self}: {}.", all.join(", "))))
    }

    /// The pings of a queue; `None` without a ping.
    fn said(self, one: &Candidate<'_>) -> Option<String> {
        let mean = |name: &str| of_pings(one, name);
        let base = one.figure(|sample| Some(sample.groups.iter().find(|group| group.activity == Activity::Ping)?.base_rtt_s));
        let increase_ms = || Some((mean("rtt_s.p50")? - base.mean?).max(0.0) * 1e3);
        Some(match self {
            Self::Ms => super::words::short_time(increase_ms()? / 1e3),
            Self::Rpm => format!("{:.0}", mean("rpm")?),
            Self::Grade => grade(increase_ms()?).to_owned(),
            Self::Qoo => format!("{:.0}", quality(mean("rtt_s.p95")? * 1e3, mean("loss_ratio")?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_have_the_bounds_of_speed_tests() {
        assert_eq!([0.0, 4.9, 5.0, 59.0, 199.0, 399.0, 400.0].map(grade), ["A+", "A+", "A", "B", "C", "D", "F"]);
    }

    #[test]
    fn quality_is_that_of_the_worse_requirement() {
        assert_eq!(quality(50.0, 0.0), 100.0);
        assert_eq!(quality(75.0, 0.0), 50.0);
        assert_eq!(quality(75.0, 0.004), 25.0_f64.clamp(0.0, 100.0));
        assert_eq!(quality(120.0, 0.0), 0.0);
    }

    #[test]
    fn unknown_units_are_refused_with_what_is_allowed() {
        assert_eq!("rpm".parse(), Ok(Unit::Rpm));
        assert_eq!("bpm".parse::<Unit>().expect_err("unknown").to_string(), "`bpm` is no unit: allowed ms, rpm, grade, qoo");
    }
}
