//! The description of a probe.

use crate::gallery::expr::Fault;
use goodqueue_aqm::{Qdisc, SimplePacket};
use goodqueue_base::units::Instant;

/// One program.
pub struct Probe {
    /// The name of the program.
    pub name: &'static str,
    /// The number of numeric arguments.
    pub arguments: usize,
    pub(super) run: Run,
}

/// A program and what it gives.
pub(super) enum Run {
    Number(fn(&[f64]) -> f64),
    Truth(fn() -> bool),
    /// A number for the arguments, or the reason why the program shows nothing.
    Trial(fn(&[f64]) -> Result<f64, Fault>),
}

impl Probe {
    pub(super) const fn number(name: &'static str, arguments: usize, run: fn(&[f64]) -> f64) -> Self {
        Self { name, arguments, run: Run::Number(run) }
    }

    pub(super) const fn truth(name: &'static str, run: fn() -> bool) -> Self {
        Self { name, arguments: 0, run: Run::Truth(run) }
    }

    pub(super) const fn trial(name: &'static str, arguments: usize, run: fn(&[f64]) -> Result<f64, Fault>) -> Self {
        Self { name, arguments, run: Run::Trial(run) }
    }

    /// Whether it gives true or false instead of a number.
    #[must_use]
    pub const fn gives_truth(&self) -> bool {
        matches!(self.run, Run::Truth(_))
    }
}

/// The value of the gauge of one of these names; zero where there is none.
pub fn gauge(queue: &impl Qdisc<SimplePacket>, names: &[&str]) -> f64 {
    let mut found = 0.0;
    queue.gauges(&mut |name, value| {
        if names.contains(&name) {
            found = value;
        }
    });
    found
}

/// Calls the timers of the queue that are due.
pub fn handle_timers(queue: &mut impl Qdisc<SimplePacket>, now: Instant) {
    while let Some(timer) = queue.next_timer().filter(|timer| *timer <= now) {
        queue.handle_timer(timer);
    }
}
