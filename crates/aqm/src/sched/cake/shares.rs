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
    /// The share of one of so many queues, a part of a byte rounded up as often as it is large.
    #[inline]
    pub(super) fn draw(&mut self, queues: u32, rng: &mut Rng) -> i64 {
        if let Some(draws) = &mut self.linux {
            return Self::in_16_bits(self.quantum, queues, draws);
        }
        match queues {
            0 | 1 => self.quantum,
            // Truncation rounds down, as both are positive.
            queues => (self.quantum as f64 / f64::from(queues) + rng.uniform()) as i64,
        }
    }

    /// Shares in 1/65536, of which a single queue has one less than all.
    fn in_16_bits(quantum: i64, queues: u32, draws: &mut LinuxDraws) -> i64 {
        let part = i64::from(u16::MAX) / i64::from(queues.max(1));
        (quantum * part + (draws.go_on() >> 48) as i64) >> 16
    }
}
