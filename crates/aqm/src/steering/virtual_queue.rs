//! A queue that is only a number: what would wait if the link were slower than it is.

use goodqueue_base::units::{Bytes, Duration, Instant};

/// Bytes that would wait at a given rate. No packet is ever delayed by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VirtualQueue {
    /// Service rate in bytes per second; above zero.
    pub(super) rate: f64,
    /// Bytes that wait at `at`.
    fill: f64,
    at: Instant,
}

impl VirtualQueue {
    pub(super) fn new(rate: f64, backlog: Bytes, now: Instant) -> Self {
        Self { rate, fill: backlog.get() as f64, at: now }
    }

    /// Bytes that wait at `now`.
    #[inline]
    pub(super) fn fill(&self, now: Instant) -> f64 {
        (self.fill - self.rate * now.since(self.at).as_secs_f64()).max(0.0)
    }

    /// The time that a byte arriving at `now` would wait.
    #[inline]
    pub(super) fn delay(&self, now: Instant) -> Duration {
        Duration::from_secs_f64(self.fill(now) / self.rate)
    }

    /// The delay when its content last changed.
    pub(super) fn last_delay(&self) -> Duration {
        self.delay(self.at)
    }

    #[inline]
    pub(super) fn add(&mut self, now: Instant, len: Bytes) {
        self.fill = self.fill(now) + len.get() as f64;
        self.at = now;
    }

    /// Takes out a packet that was added and then dropped.
    pub(super) fn take_out(&mut self, len: Bytes) {
        self.fill = (self.fill - len.get() as f64).max(0.0);
    }

    /// Serves it with another rate from `now` on.
    pub(super) fn serve_at(&mut self, now: Instant, rate: f64) {
        *self = Self { rate, fill: self.fill(now), at: now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::us(micros)
    }

    #[test]
    fn drains_at_its_rate_and_never_below_empty() {
        let mut queue = VirtualQueue::new(1e6, Bytes::new(3000), at(0));
        assert_eq!(queue.delay(at(0)), Duration::ms(3));
        assert_eq!(queue.fill(at(1000)), 2000.0);
        queue.add(at(1000), Bytes::new(500));
        assert_eq!(queue.delay(at(1500)), Duration::ms(2));
        assert_eq!(queue.fill(at(10_000)), 0.0);
        queue.add(at(10_000), Bytes::new(100));
        queue.take_out(Bytes::new(1500));
        assert_eq!(queue.fill(at(10_000)), 0.0);
    }

    #[test]
    fn another_rate_counts_from_then_on() {
        let mut queue = VirtualQueue::new(1e6, Bytes::new(3000), at(0));
        queue.serve_at(at(1000), 2e6);
        assert_eq!(queue.fill(at(1500)), 1000.0);
    }
}
