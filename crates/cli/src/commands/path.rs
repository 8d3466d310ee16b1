//! A path in a few options, the same for `gq shell` in real time and `gq exec` in virtual time.

use crate::commands::bridge::{LineSettings, QueueSettings};
use crate::failure::Failure;
use goodqueue_base::units::Duration;
use goodqueue_lab::quantity::{self, Limits};
use goodqueue_lab::scenario::compare::two_rates;

/// The path between a program and the other end; *down* is toward the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct PathSettings {
    /// Rate down, toward the program, and up, from it, for instance 50/10mbit; one value for both.
    /// With --trace: up
    #[arg(long, value_name = "DOWN[/UP]")]
    pub rate: Option<String>,
    /// Recorded rate down instead: a mahimahi file
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Round-trip time of the empty line, half of it in each direction [default: 0 s]
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,
    #[command(flatten)]
    pub queues: QueueSettings,
}

/// Longer round trips are no line's.
const MAX_RTT: Duration = Duration::secs(60);

impl PathSettings {
    /// True if anything is said of a path.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// Converts the settings to those of a bridge.
    pub fn line(&self) -> Result<LineSettings, Failure> {
        let rates = self.rate.as_deref().map(|rate| two_rates(rate).map_err(Failure::input)).transpose()?;
        let (rate, rate_up) = match (rates, &self.trace) {
            (Some((down, up)), None) => (Some(down), up),
            (Some((_, Some(_))), Some(_)) => {
                let rate = self.rate.as_deref().unwrap_or_default();
                return Err(Failure::Input(format!("--rate {rate}: with --trace there is one rate, from the program")));
            }
            (Some((up, None)), Some(_)) => (None, Some(up)),
            (None, _) => (None, None),
        };
        Ok(LineSettings {
            rate,
            rate_up,
            trace: self.trace.clone(),
            queues: self.queues.clone(),
            delay: self.delay()?,
            ..LineSettings::default()
        })
    }

    /// Half of the round trip.
    fn delay(&self) -> Result<Option<String>, Failure> {
        let Some(text) = &self.rtt else { return Ok(None) };
        let limits = Limits::new(Duration::ZERO, MAX_RTT);
        let rtt =
            quantity::duration_within(text, limits).map_err(|error| Failure::Input(format!("--rtt: {}", error.message())))?;
        Ok(Some(format!("{} ns", rtt.as_nanos() / 2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(rate: &str) -> PathSettings {
        PathSettings { rate: Some(rate.to_owned()), ..PathSettings::default() }
    }

    #[test]
    fn a_unit_serves_both_rates() {
        assert_eq!(two_rates("50/10mbit").unwrap(), ("50mbit".to_owned(), Some("10mbit".to_owned())));
        assert_eq!(two_rates("1gbit / 20 mbit").unwrap(), ("1gbit".to_owned(), Some("20 mbit".to_owned())));
        assert_eq!(two_rates("5mbit").unwrap(), ("5mbit".to_owned(), None));
        assert_eq!(two_rates("10 Mbit/s").unwrap(), ("10 Mbit/s".to_owned(), None));
    }

    #[test]
    fn a_path_is_a_line_with_half_the_round_trip_each_way() {
        let path = PathSettings {
            rtt: Some("30ms".into()),
            queues: QueueSettings { buffer: Some("1bdp".into()), ..QueueSettings::default() },
            ..settings("50/10mbit")
        };
        let link = path.line().unwrap().link().unwrap();
        assert_eq!((link.down.delay, link.up.delay), (Duration::ms(15), Duration::ms(15)));
        assert_eq!(link.down.nominal_rate(), goodqueue_base::units::Rate::mbit(50));
        assert_eq!(link.up.nominal_rate(), goodqueue_base::units::Rate::mbit(10));
    }

    #[test]
    fn mistakes_name_the_option() {
        let message = |path: PathSettings| match path.line().and_then(|line| line.link()) {
            Err(Failure::Input(message)) => message,
            other => panic!("{other:?}"),
        };
        assert!(message(PathSettings { rtt: Some("2h".into()), ..settings("1mbit") }).starts_with("--rtt: `2h` is out of range"));
        assert!(message(PathSettings { rtt: Some("soon".into()), ..settings("1mbit") }).starts_with("--rtt: "));
        assert!(
            message(PathSettings { trace: Some("x".into()), ..settings("1/2mbit") }).starts_with("--rate 1/2mbit: with --trace")
        );
        assert!(message(settings("fast/1mbit")).starts_with("--rate: "));
        assert!(message(settings("1mbit/fast")).starts_with("--rate-up: "));
        assert!(message(PathSettings::default()).starts_with("--rate: "));
    }
}
