//! The periodic timer of an algorithm.

use goodqueue_base::units::{Duration, Instant, Rng};

/// Ticks on a grid whose phase is drawn once, when it first starts, so that queues built together
/// do not act together. Stopped and started again it keeps to its grid.
#[derive(Clone, Debug)]
pub(crate) struct Tick {
    period: Duration,
    /// A point of the grid: the next one while running.
    next: Instant,
    started: bool,
    running: bool,
}

impl Tick {
    /// Not started. A period below a nanosecond is one.
    pub(crate) fn new(period: Duration) -> Self {
        Self { period: period.max(Duration::ns(1)), next: Instant::ZERO, started: false, running: false }
    }

    /// Not started, on the multiples of `period` of the host's clock.
    pub(crate) fn of_clock(period: Duration) -> Self {
        Self { started: true, ..Self::new(period) }
    }

    /// Starts; nothing while it runs.
    #[inline]
    pub(crate) fn start(&mut self, now: Instant, rng: &mut Rng) {
        if !self.running {
            self.resume(now, rng);
        }
    }

    #[cold]
    fn resume(&mut self, now: Instant, rng: &mut Rng) {
        self.running = true;
        if self.started {
            self.pass(now);
        } else {
            self.started = true;
            self.next = now + self.period.mul_f64(rng.uniform());
        }
    }

    /// Stops until it is started again.
    pub(crate) fn stop(&mut self) {
        self.running = false;
    }

    /// The next tick, while running.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        self.running.then_some(self.next)
    }

    /// Takes the ticks that are due at `now` and returns their number: more than one when the host
    /// was held up. The next one is then after `now`.
    pub(crate) fn take(&mut self, now: Instant) -> u64 {
        if self.running { self.pass(now) } else { 0 }
    }

    /// Moves to the first point of the grid after `now` and returns the number of points passed.
    fn pass(&mut self, now: Instant) -> u64 {
        if self.next > now {
            return 0;
        }
        let points = now.since(self.next).as_nanos() / self.period.as_nanos() + 1;
        self.next += self.period * points;
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::ms(1);

    #[test]
    fn ticks_stay_on_the_grid_through_a_rest_and_a_late_host() {
        let (mut tick, mut rng) = (Tick::new(MS), Rng::new(1));
        assert_eq!((tick.due(), tick.take(Instant::MAX)), (None, 0));
        let start = Instant::from_nanos(5);
        tick.start(start, &mut rng);
        let first = tick.due().expect("running");
        assert!(first >= start && first < start + MS);
        tick.start(start + MS, &mut rng);
        assert_eq!(tick.take(first), 1);
        assert_eq!(tick.take(first), 0);
        assert_eq!(tick.due(), Some(first + MS));
        assert_eq!(tick.take(first + MS * 7), 7);
        assert_eq!(tick.due(), Some(first + MS * 8));
        tick.stop();
        assert_eq!((tick.due(), tick.take(first + MS * 9)), (None, 0));
        tick.start(first + MS * 10, &mut rng);
        assert_eq!(tick.due(), Some(first + MS * 11));
    }
}
