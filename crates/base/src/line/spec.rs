//! The description of a rate over time.

use crate::line::Opportunities;
use crate::units::{Instant, Rate};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum RateSpec {
    /// A rate that never changes.
    Constant(Rate),
    /// The rate from each instant on. The first entry is at time zero; instants rise strictly.
    Steps(Vec<(Instant, Rate)>),
    /// Recorded delivery opportunities, repeated from their start when they end.
    Recorded(Arc<Opportunities>),
}

impl RateSpec {
    /// The rate that sizes buffers and that algorithms are told at the start: the constant one,
    /// the first step, or the mean of a recording.
    #[must_use]
    pub fn nominal(&self) -> Rate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => steps.first().map_or(Rate::ZERO, |step| step.1),
            Self::Recorded(recording) => recording.mean_rate(),
        }
    }

    /// The lowest rate that is known: that of a recording may pause, and counts as zero.
    #[must_use]
    pub fn slowest(&self) -> Rate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => steps.iter().map(|step| step.1).min().unwrap_or(Rate::ZERO),
            Self::Recorded(_) => Rate::ZERO,
        }
    }

    /// Returns this rate on a clock that shows `start` when the first step begins. Until then, and
    /// until the second step, the first rate holds.
    #[must_use]
    pub fn from_start(&self, start: Instant) -> Self {
        match self {
            Self::Steps(steps) => {
                let later = |&(at, rate): &(Instant, Rate)| match at {
                    Instant::ZERO => (at, rate),
                    _ => (at + start.since(Instant::ZERO), rate),
                };
                Self::Steps(steps.iter().map(later).collect())
            }
            same => same.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;
    use alloc::vec;

    #[test]
    fn only_later_steps_wait_for_the_start() {
        let ms = |n| Instant::ZERO + Duration::ms(n);
        let spec = RateSpec::Steps(vec![(ms(0), Rate::mbit(8)), (ms(5), Rate::mbit(4))]);
        assert_eq!(spec.from_start(ms(100)), RateSpec::Steps(vec![(ms(0), Rate::mbit(8)), (ms(105), Rate::mbit(4))]));
        assert_eq!(spec.nominal(), Rate::mbit(8));
    }
}
