//! Waiting in threads: until it is over, until a time, until a socket has something.

use super::Flow;
use crate::clock::{Clock, MonotonicClock};
use goodqueue_base::units::Instant;
use std::io::{self, ErrorKind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration as Wall;

/// Time between two looks of a thread at whether the experiment is over.
pub(super) const LOOK: Wall = Wall::from_millis(100);

/// Says once to many that it is over.
#[derive(Debug, Default)]
pub struct Stop {
    over: Mutex<bool>,
    told: Condvar,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stop {
    /// Ends the experiment.
    pub fn now(&self) {
        *locked(&self.over) = true;
        self.told.notify_all();
    }

    /// Waits for this time. Returns whether the experiment is over.
    #[must_use]
    pub fn within(&self, span: Wall) -> bool {
        let over = locked(&self.over);
        let waited = self.told.wait_timeout_while(over, span, |over| !*over);
        waited.map_or(true, |(over, _)| *over)
    }
}

/// Returns how long a flow offers data, from its start.
pub(super) fn offered(flow: &Flow) -> Wall {
    flow.stop.map_or(Wall::MAX, |stop| stop.saturating_sub(flow.start).into())
}

/// Whether the call only has to be repeated later, which is no error.
pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// A point in time.
pub(super) struct Deadline {
    clock: MonotonicClock,
    end: Wall,
}

impl Deadline {
    pub(super) fn after(span: Wall) -> Self {
        Self { clock: MonotonicClock::start(), end: span }
    }

    /// Time since it was made.
    pub(super) fn passed(&mut self) -> Wall {
        self.clock.now().since(Instant::ZERO).into()
    }

    pub(super) fn is_past(&self) -> bool {
        let mut clock = self.clock;
        Wall::from(clock.now().since(Instant::ZERO)) >= self.end
    }
}
