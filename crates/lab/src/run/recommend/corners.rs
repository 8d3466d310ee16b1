//! The line as far as it is known: ranges, and the corners of them at which candidates are tried.

use crate::run::recommend::access::Access;
use goodqueue_base::units::{Direction, Duration, Rate};
use serde::Serialize;
use std::fmt;

/// A quantity between two values; known exactly where they are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    /// The least.
    pub low: T,
    /// The most.
    pub high: T,
}

impl<T: Copy + PartialEq> Range<T> {
    /// A quantity that is known.
    pub const fn exactly(value: T) -> Self {
        Self { low: value, high: value }
    }

    /// Whether the two values differ.
    pub fn varies(&self) -> bool {
        self.low != self.high
    }

    fn at(&self, high: bool) -> T {
        if high { self.high } else { self.low }
    }
}

/// The known facts of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Measured rate toward the user.
    pub down: Rate,
    /// Measured rate from the user.
    pub up: Rate,
    /// Part by which the rate at a time may lie above or below the measured one, in [0, 0.9].
    pub varies: f64,
    /// Round-trip time without queueing.
    pub rtt: Range<Duration>,
    /// The amount that the modem and the provider's equipment can hold, as time at the line's rate.
    pub buffer: Range<Duration>,
    /// Bulk flows in each direction; the mix's own number where none is given.
    pub flows: Option<Range<u32>>,
    /// Congestion control of the bulk flows.
    pub control: Range<&'static str>,
    /// The facts that rates and times do not say.
    pub access: Access,
}

/// A quantity that may be known only roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// Round-trip time without queueing.
    Rtt,
    /// Rate, above or below the measured one.
    Rate,
    /// Number of bulk flows.
    Flows,
    /// Buffer behind the router.
    Buffer,
    /// Congestion control of the bulk flows.
    Control,
}

impl Factor {
    /// All of them. The first three are crossed in full; the others share their runs.
    pub const ALL: [Self; 5] = [Self::Rtt, Self::Rate, Self::Flows, Self::Buffer, Self::Control];

    /// The measurement that a user would make.
    #[must_use]
    pub const fn measurement(self) -> &'static str {
        match self {
            Self::Rtt => "the round-trip time of the idle line to the servers that matter (ping)",
            Self::Rate => "the rate over a day (a speed test every hour)",
            Self::Flows => "how many large transfers run at once (ss -ti on the router, or conntrack)",
            Self::Buffer => "the round-trip time of the loaded line (a speed test with loaded latency)",
            Self::Control => "the congestion control of the senders (ss -ti on a server)",
        }
    }
}

/// One combination of what the line may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Round-trip time without queueing.
    pub rtt: Duration,
    /// The present rate over the measured one.
    pub rate: f64,
    /// Bulk flows in each direction; the mix's own number where none is given.
    pub flows: Option<u32>,
    /// The amount that the modem can hold, as time at the line's rate.
    pub buffer: Duration,
    /// Congestion control of the bulk flows.
    pub control: &'static str,
    /// Whether each factor is at its high value, in the order of [`Factor::ALL`].
    high: [bool; 5],
}

impl Corner {
    /// Whether this factor is at its high value.
    #[must_use]
    pub fn is_high(&self, factor: Factor) -> bool {
        Factor::ALL.iter().position(|known| *known == factor).is_some_and(|place| self.high[place])
    }

    /// The value of this factor here, as text.
    #[must_use]
    pub fn value(&self, factor: Factor) -> String {
        match factor {
            Factor::Rtt => self.rtt.to_string(),
            Factor::Rate => format!("{:.0} % of the measured one", self.rate * 100.0),
            Factor::Flows => self.flows.map_or_else(String::new, |flows| flows.to_string()),
            Factor::Buffer => self.buffer.to_string(),
            Factor::Control => self.control.to_owned(),
        }
    }
}

impl fmt::Display for Corner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RTT {}, modem buffer {}, {}", self.rtt, self.buffer, self.control)?;
        match self.flows {
            Some(1) => f.write_str(", 1 flow")?,
            Some(flows) => write!(f, ", {flows} flows")?,
            None => {}
        }
        if self.rate != 1.0 { write!(f, ", rate {:.0} % of the measured one", self.rate * 100.0) } else { Ok(()) }
    }
}

/// From this part on, no fixed rate fits a line: shaping to what it always carries wastes more than
/// the steps between shaped rates. Our choice.
const VARIES_MUCH: f64 = 0.15;

impl Line {
    /// Measured rate in a direction.
    #[must_use]
    pub const fn rate(&self, heading: Direction) -> Rate {
        match heading {
            Direction::Down => self.down,
            Direction::Up => self.up,
        }
    }

    /// Whether the rate varies so much that no fixed one fits.
    #[must_use]
    pub fn varies_much(&self) -> bool {
        self.varies >= VARIES_MUCH
    }

    /// Whether the rate is unknown, but constant for a run.
    fn has_unknown_rate(&self) -> bool {
        self.varies > 0.0 && self.access.step().is_none()
    }

    /// The factors that are not known exactly.
    #[must_use]
    pub fn unknown(&self) -> Vec<Factor> {
        let varies = |factor: &Factor| match factor {
            Factor::Rtt => self.rtt.varies(),
            Factor::Rate => self.has_unknown_rate(),
            Factor::Flows => self.flows.is_some_and(|flows| flows.varies()),
            Factor::Buffer => self.buffer.varies(),
            Factor::Control => self.control.varies(),
        };
        Factor::ALL.into_iter().filter(varies).collect()
    }

    /// The corners: every combination of up to `crossed` unknown factors, two or three; more than
    /// three unknown ones are never crossed by two. Further ones follow from the others in a
    /// fractional factorial design (2^(3-1) with c = ab; 2^(4-1) with d = abc, 2^(5-2) with e = ab
    /// too), in which every factor is at each of its values in half of the corners, so that its own
    /// effect can still be told.
    #[must_use]
    pub fn corners(&self, crossed: usize) -> Vec<Corner> {
        let unknown = self.unknown();
        let crossed = if unknown.len() > 3 { 3 } else { unknown.len().min(crossed) } as u32;
        let corner = |number: u32| {
            let [a, b, c] = [0, 1, 2].map(|bit| number >> bit & 1 == 1);
            let column = if crossed == 2 { [a, b, a ^ b, false, false] } else { [a, b, c, a ^ b ^ c, a ^ b] };
            let mut high = [false; 5];
            for (place, factor) in Factor::ALL.iter().enumerate() {
                high[place] = unknown.iter().position(|other| other == factor).is_some_and(|order| column[order]);
            }
            self.corner(high)
        };
        (0..1 << crossed).map(corner).collect()
    }

    /// The corner at which these factors, in the order of [`Factor::ALL`], are at their high
    /// values.
    fn corner(&self, high: [bool; 5]) -> Corner {
        let [rtt, rate, flows, buffer, control] = high;
        Corner {
            rtt: self.rtt.at(rtt),
            rate: match (self.has_unknown_rate(), rate) {
                (false, _) => 1.0,
                (true, true) => 1.0 + self.varies,
                (true, false) => 1.0 - self.varies,
            },
            flows: self.flows.map(|range| range.at(flows)),
            buffer: self.buffer.at(buffer),
            control: self.control.at(control),
            high,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            down: Rate::mbit(50),
            up: Rate::mbit(10),
            varies: 0.0,
            rtt: Range::exactly(Duration::ms(20)),
            buffer: Range::exactly(Duration::ms(100)),
            flows: Some(Range::exactly(4)),
            control: Range::exactly("cubic"),
            access: Access::default(),
        }
    }

    #[test]
    fn a_line_that_is_known_has_one_corner() {
        let corners = line().corners(3);
        assert_eq!(corners.len(), 1);
        assert_eq!(corners[0].to_string(), "RTT 20 ms, modem buffer 100 ms, cubic, 4 flows");
    }

    #[test]
    fn corners_are_balanced_and_orthogonal() {
        let all = Line {
            varies: 0.1,
            rtt: Range { low: Duration::ms(10), high: Duration::ms(100) },
            buffer: Range { low: Duration::ms(50), high: Duration::ms(500) },
            flows: Some(Range { low: 1, high: 8 }),
            control: Range { low: "cubic", high: "bbr" },
            ..line()
        };
        let corners = all.corners(3);
        assert_eq!(corners.len(), 8);
        for one in Factor::ALL {
            assert_eq!(corners.iter().filter(|corner| corner.is_high(one)).count(), 4, "{one:?}");
            for other in Factor::ALL.into_iter().filter(|other| *other != one) {
                let together = corners.iter().filter(|corner| corner.is_high(one) && corner.is_high(other)).count();
                assert_eq!(together, 2, "{one:?} and {other:?}");
            }
        }
        let rates: Vec<f64> = corners.iter().map(|corner| corner.rate).collect();
        assert!(rates.contains(&0.9) && rates.contains(&1.1), "{rates:?}");
    }

    #[test]
    fn two_unknown_factors_are_crossed() {
        let two = Line {
            flows: Some(Range { low: 1, high: 8 }),
            buffer: Range { low: Duration::ms(50), high: Duration::ms(500) },
            ..line()
        };
        let seen: Vec<(Option<u32>, Duration)> = two.corners(3).iter().map(|corner| (corner.flows, corner.buffer)).collect();
        assert_eq!(seen, [(1, 50), (8, 50), (1, 500), (8, 500)].map(|(flows, ms)| (Some(flows), Duration::ms(ms))));
    }

    #[test]
    fn a_rate_in_steps_is_no_factor() {
        let kind = crate::run::recommend::access::LineKind::named("leo");
        let leo = Line { varies: 0.4, access: Access { kind, ..Access::default() }, ..line() };
        assert_eq!((leo.unknown(), leo.corners(3)[0].rate), (vec![], 1.0));
        assert!(leo.varies_much() && !Line { varies: 0.1, ..line() }.varies_much());
    }
}
