//! The one place where this crate asks the machine for the time: it says how far simulations are to
//! go, never what happens in them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Now, on a clock that never goes back.
#[allow(clippy::disallowed_methods, reason = "the wall clock sets the pace of what is watched; no result depends on it")]
pub fn now() -> Instant {
    Instant::now()
}

/// The time since `then`.
pub fn since(then: Instant) -> Duration {
    now().saturating_duration_since(then)
}

/// Seconds since 1970, for lists that people read.
#[allow(clippy::disallowed_methods, reason = "shown in a list of sessions; no result depends on it")]
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
