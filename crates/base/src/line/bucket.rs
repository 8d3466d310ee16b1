//! A token bucket as a transmitter.

use crate::units::{Bytes, Duration, Instant, Rate};

/// A token bucket in place of a wire. It sends a packet in no time once it has the tokens, and
/// otherwise waits for them with the packet in hand. After a pause the first bytes leave at once.
#[derive(Clone, Debug)]
pub struct Bucket {
    pub(crate) rate: Rate,
    /// Time that an empty bucket needs to fill.
    depth: Duration,
    /// Time at which the bucket is full again if nothing more is taken.
    full_at: Instant,
}

impl Bucket {
    pub(crate) const fn new(rate: Rate, burst: Bytes) -> Self {
        Self { rate, depth: rate.transmission_time(burst), full_at: Instant::ZERO }
    }

    /// Bits that the tokens in the bucket let pass at `now` besides the rate.
    pub(crate) fn saved_bits(&self, now: Instant) -> f64 {
        let missing = self.full_at.max(now).since(now);
        self.rate.as_bit_s() as f64 * self.depth.saturating_sub(missing).as_secs_f64()
    }

    #[inline]
    pub(crate) fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        self.full_at = self.full_at.max(start) + self.rate.transmission_time(size);
        // Tokens owed beyond a full bucket must come in first.
        start + self.full_at.since(start).saturating_sub(self.depth)
    }
}
