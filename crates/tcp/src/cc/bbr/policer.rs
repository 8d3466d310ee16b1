//! Policers: when two intervals of heavy loss in a row deliver at one rate, that rate is taken for the path's for a while.

use super::path::Path;
use goodqueue_units::{Duration, Instant};

/// Round trips of an interval: at least these, and at most four times as many.
const MIN_ROUNDS: u32 = 4;
/// Losses over deliveries from which an interval counts as lossy, in 1/256.
const LOSSY: u64 = 50;
/// Two rates are one if they differ by an eighth, or by 4 kbit/s.
const SAME_RATIO: f64 = 0.125;
const SAME_BIT_S: f64 = 4_000.0;
/// Round trips for which the rate found is used.
const USE_ROUNDS: u32 = 48;

#[derive(Clone, Debug)]
pub(super) struct Policer {
    enabled: bool,
    sampling: bool,
    /// Rate of the last lossy interval in segments a second; zero when there is none.
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

/// What an acknowledgement, or a timeout, means for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// A policer is there: use its rate.
    Found,
    /// The rate has been used for long enough: look for more.
    Over,
}

impl Policer {
    pub(super) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            sampling: false,
            rate: 0.0,
            in_use: false,
            rounds: 0,
            began_at: Instant::ZERO,
            delivered: 0,
            lost: 0,
        }
    }

    /// The policer's rate in segments a second, while it is used.
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

    /// Takes an acknowledgement that revealed `newly_lost` losses.
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
            // The first loss shows that the tokens are used up.
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

    /// A loss may end the interval: the tokens are used up again.
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

/// What the search depends on beside losses and deliveries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The sender is cycling its gain in steady state.
    pub(super) cycling: bool,
    pub(super) app_limited: bool,
    pub(super) mss: u32,
}
