//! Policer detection: when two consecutive intervals of heavy loss deliver at the same rate, that
//! rate is used for a while.

use super::path::Path;
use goodqueue_base::units::{Duration, Instant};

/// Least round trips of an interval; the most are four times as many.
const MIN_ROUNDS: u32 = 4;
/// Ratio of losses to deliveries from which an interval is lossy, in 1/256.
const LOSSY: u64 = 50;
/// Two rates are equal if they differ by at most an eighth, or by at most 4 kbit/s.
const SAME_RATIO: f64 = 0.125;
const SAME_BIT_S: f64 = 4_000.0;
/// Round trips for which the detected rate is used.
const USE_ROUNDS: u32 = 48;

#[derive(Clone, Debug)]
pub(super) struct Policer {
    enabled: bool,
    sampling: bool,
    /// Rate of the last lossy interval in segments per second; zero without one.
    rate: f64,
    in_use: bool,
    rounds: u32,
    began_at: Instant,
    delivered: u64,
    lost: u64,
}

/// Totals of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// The consequence of an acknowledgement or a timeout for the detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// A policer is detected: use its rate.
    Found,
    /// The rate has been used long enough: probe for more.
    Over,
}

impl Policer {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, sampling: false, rate: 0.0, in_use: false, rounds: 0, began_at: Instant::ZERO, delivered: 0, lost: 0 }
    }

    /// Rate of the policer in segments per second, while it is in use.
    pub(super) fn rate(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    fn begin_interval(&mut self, path: &Path, counted: Counted) {
        self.began_at = path.delivered_at;
        self.delivered = counted.delivered;
        self.lost = counted.lost;
        self.rounds = 0;
    }

    pub(super) fn reset(&mut self, path: &Path, counted: Counted) {
        self.rate = 0.0;
        self.in_use = false;
        self.sampling = false;
        self.begin_interval(path, counted);
    }

    /// Processes an acknowledgement that revealed `newly_lost` losses.
    pub(super) fn take(&mut self, path: &Path, counted: Counted, newly_lost: u32, limits: Limits) -> Finding {
        if !self.enabled {
            return Finding::Nothing;
        }
        if self.in_use {
            if limits.cycling && path.round_began {
                self.rounds += 1;
                if self.rounds >= USE_ROUNDS {
                    self.reset(path, counted);
                    return Finding::Over;
                }
            }
            return Finding::Nothing;
        }
        if !self.sampling {
            // The first loss shows that the tokens of the policer are used up.
            if newly_lost == 0 {
                return Finding::Nothing;
            }
            self.begin_interval(path, counted);
            self.sampling = true;
        }
        if limits.app_limited {
            self.reset(path, counted);
            return Finding::Nothing;
        }
        self.rounds += u32::from(path.round_began);
        if self.rounds < MIN_ROUNDS {
            return Finding::Nothing;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(path, counted);
            return Finding::Nothing;
        }
        if newly_lost == 0 { Finding::Nothing } else { self.end_interval(path, counted, limits.mss) }
    }

    /// Possibly ends the interval at a loss, which shows that the tokens are used up again.
    fn end_interval(&mut self, path: &Path, counted: Counted, mss: u32) -> Finding {
        let lost = counted.lost - self.lost;
        let delivered = counted.delivered - self.delivered;
        let elapsed = path.delivered_at.since(self.began_at);
        if delivered == 0 || lost * 256 < LOSSY * delivered || elapsed < Duration::ms(1) {
            return Finding::Nothing;
        }
        let rate = delivered as f64 / elapsed.as_secs_f64();
        let difference = if rate > self.rate { rate - self.rate } else { self.rate - rate };
        let same = difference <= SAME_RATIO * self.rate || difference * f64::from(mss) * 8.0 <= SAME_BIT_S;
        if self.rate > 0.0 && same {
            self.rate = (self.rate + rate) / 2.0;
            self.in_use = true;
            self.rounds = 0;
            return Finding::Found;
        }
        self.rate = rate;
        self.begin_interval(path, counted);
        Finding::Nothing
    }
}

/// Inputs of the detection besides losses and deliveries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Whether the sender is cycling its gain in steady state.
    pub(super) cycling: bool,
    pub(super) app_limited: bool,
    pub(super) mss: u32,
}
