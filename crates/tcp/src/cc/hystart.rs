//! Hybrid slow start: ends slow start when a train of acknowledgements lasts half a round trip, or
//! when the delay rises.
//!
//! *Signal*: the length of the unbroken train of acknowledgements (gaps up to 2 ms) since the round
//! began, and the smallest round-trip time among the first samples of the round.
//!
//! *Law*: slow start ends when the train is longer than `(delay_min + slack) / 2`, with a slack of
//! at most 1 ms, or when the smallest of more than 8 samples exceeds
//! `delay_min + clamp(delay_min / 8, 4 ms, 16 ms)`; but only above 16 segments.
//!
//! *Deviations*: none known from Linux 6.12; times are in nanoseconds instead of microseconds.
//!
//! *Source*: Ha, Rhee: Taming the elephants (2011); Linux 6.12's CUBIC.

const ACK_GAP: u64 = 2_000_000;
const MIN_SAMPLES: u32 = 8;
const DELAY_MIN: u64 = 4_000_000;
const DELAY_MAX: u64 = 16_000_000;
const MAX_SLACK: u64 = 1_000_000;
/// Four of the largest bursts (64 KiB) of a sender with segmentation offload.
const SLACK_BYTES: u64 = 4 * 65_536;

/// State of one slow start; times in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hystart {
    round_start: u64,
    last_ack: u64,
    end: u64,
    smallest: u64,
    samples: u32,
    pub(crate) found: bool,
}

/// Measurements of one acknowledgement.
pub(crate) struct Observation {
    pub(crate) now: u64,
    pub(crate) delay: u64,
    pub(crate) delay_min: u64,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// Window in bytes and smoothed round-trip time, which give the rate of a paced sender.
    pub(crate) window: u64,
    pub(crate) srtt: u64,
}

impl Hystart {
    pub(crate) fn begin_round(&mut self, now: u64, nxt: u64) {
        self.round_start = now;
        self.last_ack = now;
        self.end = nxt;
        self.smallest = u64::MAX;
        self.samples = 0;
    }

    /// Returns whether slow start should end now. `large` tells that the window is above the lower
    /// limit.
    pub(crate) fn on_ack(&mut self, seen: &Observation, large: bool) -> bool {
        if seen.una > self.end {
            self.begin_round(seen.now, seen.nxt);
        }
        if !large {
            return false;
        }
        if seen.now.saturating_sub(self.last_ack) <= ACK_GAP {
            self.last_ack = seen.now;
            // The rate of slow start is twice the window per round trip: slack = SLACK_BYTES * srtt
            // / (2 window).
            let slack = (SLACK_BYTES * (seen.srtt >> 10) / (2 * seen.window).max(1)) << 10;
            let train = (seen.delay_min + slack.min(MAX_SLACK)) / 2;
            self.found |= seen.now.saturating_sub(self.round_start) > train;
        }
        self.smallest = self.smallest.min(seen.delay);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else {
            self.found |= self.smallest > seen.delay_min + (seen.delay_min / 8).clamp(DELAY_MIN, DELAY_MAX);
        }
        self.found
    }
}
