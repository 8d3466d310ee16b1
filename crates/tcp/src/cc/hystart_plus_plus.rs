//! HyStart++: ends slow start when the round-trip time rises, after a trial phase with a quarter of
//! the growth.
//!
//! *Signal*: the smallest round-trip time of each round, compared with the round before.
//!
//! *Law*: after 8 samples in a round, `current >= last + clamp(last / 8, 4 ms, 16 ms)` starts
//! conservative slow start (a quarter of the growth, five rounds). A later round below the baseline
//! returns to slow start; otherwise slow start ends for good.
//!
//! *Deviations*: the growth of unpaced senders is limited to 8 segments per acknowledgement as in
//! the RFC. Used only in the initial slow start, since the control drops it at its first reduction.
//!
//! *Source*: RFC 9406 §4.

use super::AckSample;

const MIN_RTT_THRESH: u64 = 4_000_000;
const MAX_RTT_THRESH: u64 = 16_000_000;
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
const MAX_STEP: u32 = 8;
const NONE: u64 = u64::MAX;

/// State of one initial slow start.
#[derive(Clone, Debug)]
pub struct HystartPlusPlus {
    window_end: u64,
    last_round_min: u64,
    current_min: u64,
    samples: u32,
    /// Smallest round-trip time of the round that started the conservative phase; `None` outside of
    /// it.
    baseline: Option<u64>,
    rounds: u32,
    /// Quarters of a segment carried over.
    remainder: u32,
}

impl Default for HystartPlusPlus {
    fn default() -> Self {
        Self { window_end: 0, last_round_min: NONE, current_min: NONE, samples: 0, baseline: None, rounds: 0, remainder: 0 }
    }
}

impl HystartPlusPlus {
    /// Processes one acknowledgement that counts as `counted` segments. Returns the segments to
    /// grow by, or `None` once slow start is over.
    pub fn on_ack(&mut self, sample: &AckSample, counted: u32) -> Option<u32> {
        if sample.una >= self.window_end {
            self.window_end = sample.nxt;
            self.last_round_min = self.current_min;
            self.current_min = NONE;
            self.samples = 0;
            if self.baseline.is_some() {
                self.rounds += 1;
                if self.rounds >= CSS_ROUNDS {
                    return None;
                }
            }
        }
        if let Some(rtt) = sample.rtt {
            self.current_min = self.current_min.min(rtt.as_nanos());
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE && self.current_min != NONE {
            match self.baseline {
                Some(baseline) if self.current_min < baseline => self.baseline = None,
                None if self.last_round_min != NONE => {
                    let threshold = (self.last_round_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                    if self.current_min >= self.last_round_min + threshold {
                        self.baseline = Some(self.current_min);
                        self.rounds = 0;
                    }
                }
                _ => {}
            }
        }
        let counted = counted.min(MAX_STEP);
        if self.baseline.is_none() {
            return Some(counted);
        }
        self.remainder += counted;
        let grown = self.remainder / CSS_GROWTH_DIVISOR;
        self.remainder %= CSS_GROWTH_DIVISOR;
        Some(grown)
    }
}

#[cfg(test)]
mod tests;
