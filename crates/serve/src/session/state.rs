//! The event `state`.

use serde::Serialize;

/// Data of the event `state`, of a session that runs, waits, or has failed.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct StateEvent<'a> {
    pub state: &'a str,
    /// Simulated seconds that have passed.
    pub t: f64,
    /// Simulated seconds in all.
    pub duration: f64,
    /// Simulated seconds per second; none: as fast as it goes.
    pub speed: Option<f64>,
    /// Whether something was changed while it ran.
    pub changed: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: &'a str,
    /// Place among the sessions that wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<usize>,
}

impl<'a> StateEvent<'a> {
    /// Describes a session before its beginning.
    pub const fn new(state: &'a str) -> Self {
        Self { state, t: 0.0, duration: 0.0, speed: None, changed: false, message: "", queue_position: None }
    }
}
