//! The credit of a turn.

use crate::arithmetic::LinuxDraws;
use goodqueue_units::Rng;

/// One quantum, shared among the bulk queues of a host.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) quantum: i64,
    /// Linux's form: its draws.
    pub(super) linux: Option<LinuxDraws>,
}

impl Shares {
    pub(super) const fn new(quantum: i64) -> Self {
        Self { quantum, linux: None }
    }

    /// The share of one queue among `count`.
    #[inline]
    pub(super) fn draw(&mut self, queues: u32, rng: &mut Rng) -> i64 {
        match &mut self.linux {
            None => ExactDraw::new(self.quantum).next(queues, rng),
            Some(draws) => linux(self.quantum, queues, draws),
        }
    }
}

/// Shares of which a part of a byte is rounded up as often as it is large.
pub(super) struct ExactDraw {
    quantum: i64,
    /// So many queues share it, so many bytes are a share: mostly as in the turn before.
    queues: u32,
    part: f64,
}

impl ExactDraw {
    #[inline]
    pub(super) const fn new(quantum: i64) -> Self {
        Self { quantum, queues: 0, part: 0.0 }
    }

    #[inline]
    pub(super) fn next(&mut self, queues: u32, rng: &mut Rng) -> i64 {
        if queues <= 1 {
            return self.quantum;
        }
        if queues != self.queues {
            self.queues = queues;
            self.part = self.quantum as f64 / f64::from(queues);
        }
        // Truncation rounds down, as both are positive.
        (self.part + rng.uniform()) as i64
    }
}

/// Shares in 1/65536, of which a single queue has one less than all.
#[cold]
pub(super) fn linux(quantum: i64, queues: u32, draws: &mut LinuxDraws) -> i64 {
    let part = i64::from(u16::MAX) / i64::from(queues.max(1));
    (quantum * part + (draws.go_on() >> 48) as i64) >> 16
}
