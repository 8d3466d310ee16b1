#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod channel;
mod law;
mod service;

pub use channel::{Closed, Received, Receiver, Refused, Sender, channel};
pub use law::Law;
pub use service::{BoxError, QueueLayer, QueueService};

use goodqueue_aqm::Reason;
use std::time::Duration;

/// Settings of a queue of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    concurrency: usize,
    target: Duration,
    interval: Duration,
    limit: usize,
    law: Law,
}

impl Settings {
    /// So many requests are worked on at the same time, 1 at least; everything else as in the table
    /// above. A channel ignores the number.
    #[must_use]
    pub fn new(concurrency: usize) -> Self {
        Self {
            concurrency: concurrency.max(1),
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            limit: 100_000,
            law: Law::Deadline,
        }
    }

    /// Sets the wait that is acceptable all the time; no longer than the interval, which follows a
    /// longer one.
    #[must_use]
    pub fn target(self, target: Duration) -> Self {
        Self { target, interval: self.interval.max(target), ..self }
    }

    /// Sets the wait that is acceptable in a burst; no shorter than the target, which follows a
    /// shorter one.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Self {
        Self { interval, target: self.target.min(interval), ..self }
    }

    /// Sets how many requests wait at most, 1 at least; what comes then is turned away at once.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: limit.max(1), ..self }
    }

    /// Sets how it is decided who is turned away.
    #[must_use]
    pub const fn law(self, law: Law) -> Self {
        Self { law, ..self }
    }
}

/// A request or message that was turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("overloaded: turned away after {:.1} ms, {}", .waited.as_secs_f64() * 1e3, cause(.full))]
pub struct Overloaded {
    /// Time in the queue.
    pub waited: Duration,
    /// True if the queue's limit was reached, false if the law decided.
    pub full: bool,
}

const fn cause(full: &bool) -> &'static str {
    if *full { "the queue is full" } else { "a queue stands" }
}

impl Overloaded {
    fn new(dropped: goodqueue_aqm::Dropped, now: goodqueue_units::Instant) -> Self {
        let waited = now.since(dropped.enqueued_at);
        Self { waited: Duration::from_nanos(waited.as_nanos()), full: dropped.reason == Reason::Overflow }
    }
}

/// What a queue has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed on.
    pub passed: u64,
    /// Turned away by the law.
    pub shed: u64,
    /// Turned away because the queue was full.
    pub overflowed: u64,
    /// Waiting now.
    pub waiting: usize,
}
