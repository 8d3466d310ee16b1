//! Round trips per minute under load (draft-ietf-ippm-responsiveness-09, without TLS).

use goodqueue_base::units::Duration;
use goodqueue_lab::results::statistics::round_trips_per_minute;
use serde::{Deserialize, Serialize};

/// Probes per second at most.
const MAX_PER_SECOND: u64 = 100;
/// Share of the rate that probes may take.
const MAX_SHARE: f64 = 0.05;
/// Bytes that the draft counts for a probe on a connection of its own.
const FOREIGN: f64 = 5_000.0;
/// Bytes that the draft counts for a probe on a connection that loads the line.
const OWN: f64 = 1_000.0;

/// The least time between two pairs of probes, one on a connection of its own and one on a
/// connection that loads the line.
#[must_use]
pub fn pause(rate_bit_s: f64) -> Duration {
    let pairs = (MAX_SHARE * rate_bit_s / ((FOREIGN + OWN) * 8.0)).clamp(0.1, MAX_PER_SECOND as f64 / 2.0);
    Duration::from_secs_f64(1.0 / pairs)
}

/// Times of probes, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trips {
    /// From the request for a connection to its acceptance.
    pub tcp_s: Vec<f64>,
    /// From question to answer on that connection.
    pub question_s: Vec<f64>,
    /// From question to answer on a connection that loads the line.
    pub own_s: Vec<f64>,
}

/// Round trips per minute, and the times they follow from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Responsiveness {
    /// Round trips per minute.
    pub rpm: f64,
    /// Mean of the shortest 95 % of the times for a connection.
    pub tcp_s: f64,
    /// Mean of the shortest 95 % of the times for an answer on a new connection.
    pub question_s: f64,
    /// Mean of the shortest 95 % of the times for an answer on a connection that loads the line.
    pub own_s: f64,
    /// Probes on connections of their own.
    pub foreign_probes: u32,
    /// Probes on connections that load the line.
    pub own_probes: u32,
}

impl Responsiveness {
    /// The responsiveness after these probes; `None` where a kind of them is missing.
    #[must_use]
    pub fn of(trips: &Trips) -> Option<Self> {
        let mean = |times: &[f64]| {
            let mut times: Vec<f64> = times.iter().copied().filter(|time| time.is_finite()).collect();
            times.sort_unstable_by(f64::total_cmp);
            let count = times.len() as u64;
            Some(60.0 / round_trips_per_minute(times.into_iter().map(|time| (time * 1e9, 1)), count)?)
        };
        let (tcp_s, question_s, own_s) = (mean(&trips.tcp_s)?, mean(&trips.question_s)?, mean(&trips.own_s)?);
        let foreign = 60.0 / ((tcp_s + question_s) / 2.0);
        Some(Self {
            rpm: (foreign + 60.0 / own_s) / 2.0,
            tcp_s,
            question_s,
            own_s,
            foreign_probes: trips.question_s.len() as u32,
            own_probes: trips.own_s.len() as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rpm(tcp_ms: f64, question_ms: f64, own_ms: f64) -> f64 {
        let times = |ms: f64| vec![ms / 1e3; 40];
        Responsiveness::of(&Trips { tcp_s: times(tcp_ms), question_s: times(question_ms), own_s: times(own_ms) }).unwrap().rpm
    }

    /// Worked from the formula of the draft without TLS: the mean of 60 s over the mean time for a
    /// connection and an answer, and of 60 s over the time on a loaded connection.
    #[test]
    fn round_trips_are_those_of_the_draft() {
        for (times, expected) in [((20.0, 20.0, 20.0), 3000.0), ((40.0, 60.0, 300.0), 700.0), ((50.0, 50.0, 200.0), 750.0)] {
            let got = rpm(times.0, times.1, times.2);
            assert!((got - expected).abs() < 1e-6, "{times:?}: {got} but {expected}");
        }
    }

    #[test]
    fn the_slowest_of_twenty_is_left_out() {
        let mut times = vec![0.05; 99];
        times.push(5.0);
        let trips = Trips { tcp_s: times.clone(), question_s: times.clone(), own_s: times };
        assert!((Responsiveness::of(&trips).unwrap().rpm - 1200.0).abs() < 1e-6);
        assert_eq!(Responsiveness::of(&Trips { own_s: Vec::new(), ..trips }), None);
    }

    #[test]
    fn probes_take_a_twentieth_of_the_rate() {
        assert_eq!(pause(1e9), Duration::ms(20));
        assert_eq!(pause(9.6e6), Duration::ms(100));
        assert_eq!(pause(0.0), Duration::secs(10));
    }
}
