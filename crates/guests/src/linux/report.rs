//! The report of the program inside a guest, line by line. A guest may send anything, so an invalid
//! line is an error and nothing worse.

use std::fmt;
use std::str::FromStr;

/// State of one connection, from `TCP_INFO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionState {
    /// Congestion window in bytes.
    pub window: u64,
    /// Bytes sent and not known to have left the network.
    pub in_flight: u64,
    /// Smoothed round-trip time in microseconds.
    pub rtt_us: u64,
    /// Bytes acknowledged.
    pub acknowledged: u64,
    /// Retransmitted segments.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The job has been read and everything is set up.
    Ready,
    /// A sample of a flow at a time relative to the start of the world.
    Sample(u64, u32, ConnectionState),
    /// The state of a flow when the measured part begins.
    From(u32, ConnectionState),
    /// The state of a flow when the measured part ends.
    Until(u32, ConnectionState),
    /// The program exited with this code; 128 plus the signal number if a signal killed it.
    Exit(i32),
    /// The report is complete.
    Done,
    /// An error.
    Error(String),
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window, in_flight, rtt_us, acknowledged, retransmitted, timeouts } = self;
        write!(f, "{window} {in_flight} {rtt_us} {acknowledged} {retransmitted} {timeouts}")
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => write!(f, "ready"),
            Self::Sample(at, flow, state) => write!(f, "sample {at} {flow} {state}"),
            Self::From(flow, state) => write!(f, "from {flow} {state}"),
            Self::Until(flow, state) => write!(f, "until {flow} {state}"),
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Done => write!(f, "done"),
            Self::Error(message) => write!(f, "error {message}"),
        }
    }
}

impl Line {
    /// Parses a line; `None` if it is invalid.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = rest.split(' ');
        Some(match what {
            "ready" => Self::Ready,
            "done" => Self::Done,
            "exit" => Self::Exit(number(&mut words)?),
            "error" => Self::Error(rest.to_owned()),
            "sample" => Self::Sample(number(&mut words)?, number(&mut words)?, state(&mut words)?),
            "from" => Self::From(number(&mut words)?, state(&mut words)?),
            "until" => Self::Until(number(&mut words)?, state(&mut words)?),
            _ => return None,
        })
    }
}

fn number<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}

fn state<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<ConnectionState> {
    Some(ConnectionState {
        window: number(words)?,
        in_flight: number(words)?,
        rtt_us: number(words)?,
        acknowledged: number(words)?,
        retransmitted: number(words)?,
        timeouts: number(words)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_their_text() {
        let state = ConnectionState { window: 1, in_flight: 2, rtt_us: 3, acknowledged: 4, retransmitted: 5, timeouts: 6 };
        for line in [
            Line::Ready,
            Line::Sample(9, 1, state),
            Line::From(2, state),
            Line::Until(3, state),
            Line::Exit(143),
            Line::Done,
            Line::Error("so it is".to_owned()),
        ] {
            assert_eq!(Line::read(&line.to_string()), Some(line));
        }
        assert_eq!(Line::read("sample 1 2 3"), None);
        assert_eq!(Line::read("hello"), None);
    }
}
