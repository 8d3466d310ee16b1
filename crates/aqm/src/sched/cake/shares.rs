//! The credit of a turn.

use crate::arithmetic::LinuxDraws;
use goodqueue_units::Rng;

/// One quantum, shared among the bulk queues of a host.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) quantum: i64,
    /// Linux's form: its draws.
    pub(super) linux: Option<LinuxDraws>,
    /// What was divided last: the quantum, by so many queues, gave so many bytes.
    divided: (i64, u32, f64),
}

impl Shares {
    pub(super) const fn new(quantum: i64) -> Self {
        Self { quantum, linux: None, divided: (0, 1, 0.0) }
    }

    /// The share of one of so many queues, a part of a byte rounded up as often as it is large.
    #[inline]
    pub(super) fn draw(&mut self, queues: u32, rng: &mut Rng) -> i64 {
        if let Some(draws) = &mut self.linux {
            return Self::in_16_bits(self.quantum, queues, draws);
        }
        match queues {
            0 | 1 => self.quantum,
            // Truncation rounds down, as both are positive.
            queues => (self.part(queues) + rng.uniform()) as i64,
        }
    }

    /// The quantum divided by so many queues, which are mostly as many as before.
    #[inline]
    fn part(&mut self, queues: u32) -> f64 {
        if (self.quantum, queues) != (self.divided.0, self.divided.1) {
            self.divided = (self.quantum, queues, self.quantum as f64 / f64::from(queues));
        }
        self.divided.2
    }

    /// Shares in 1/65536, of which a single queue has one less than all.
    fn in_16_bits(quantum: i64, queues: u32, draws: &mut LinuxDraws) -> i64 {
        let part = i64::from(u16::MAX) / i64::from(queues.max(1));
        (quantum * part + (draws.go_on() >> 48) as i64) >> 16
    }
}
