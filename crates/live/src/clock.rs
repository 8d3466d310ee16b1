//! The one place that reads a clock.

use goodqueue_base::units::{Duration, Instant};

/// Time since this clock was made.
pub trait Clock {
    /// Now. Never goes back.
    fn now(&mut self) -> Instant;
}

/// The kernel's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin: std::time::Instant,
}

impl MonotonicClock {
    /// A clock that shows zero now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the clock that the live host reads")]
    pub fn start() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    /// Returns how far the wall clock, which stamps packets, is ahead of this one, in nanoseconds.
    /// Accurate to about a microsecond: of a few readings, the one that took the least time counts.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "kernel time stamps are of the wall clock")]
    pub fn wall_offset(&mut self) -> i128 {
        let mut best = (Duration::MAX, 0);
        for _ in 0..5 {
            let before = self.now();
            let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos() as i128;
            let after = self.now();
            let took = after.since(before);
            if took < best.0 {
                best = (took, wall - i128::from(before.as_nanos() + took.as_nanos() / 2));
            }
        }
        best.1
    }
}

impl Clock for MonotonicClock {
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "this is the clock that the live host reads")]
    fn now(&mut self) -> Instant {
        // 584 years fit.
        Instant::from_nanos(self.origin.elapsed().as_nanos() as u64)
    }
}

/// A clock that its owner moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct VirtualClock(pub Instant);

impl Clock for VirtualClock {
    fn now(&mut self) -> Instant {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_stays_as_far_ahead() {
        let mut clock = MonotonicClock::start();
        let (first, second) = (clock.wall_offset(), clock.wall_offset());
        assert!((first - second).abs() < 50_000_000, "{first} and {second} are far apart");
    }
}
