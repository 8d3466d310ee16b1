//! The report of the program inside a guest, one JSON text per line. A guest may send
//! anything, so an invalid line is an error and nothing worse.

use goodqueue_live::sys::tcp::TcpState;
use serde::{Deserialize, Serialize};

/// State of one connection, from `TCP_INFO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl From<TcpState> for ConnectionState {
    fn from(state: TcpState) -> Self {
        let bytes = |segments: u32| u64::from(segments) * u64::from(state.mss);
        Self {
            window: bytes(state.window),
            in_flight: bytes(state.in_flight),
            rtt_us: state.rtt.as_nanos() / 1000,
            acknowledged: state.acknowledged,
            retransmitted: u64::from(state.retransmitted),
            timeouts: u64::from(state.timeouts),
        }
    }
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Line {
    /// Parses a line; `None` if it is invalid.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// The line as [`Line::read`] takes it.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts have a form in JSON")
    }
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
            assert_eq!(Line::read(&line.text()), Some(line));
        }
        assert_eq!(Line::read(r#"{"Sample":[1,2,3]}"#), None);
        assert_eq!(Line::read("hello"), None);
        assert!(!Line::Error("one\nanother".to_owned()).text().contains('\n'));
    }
}
