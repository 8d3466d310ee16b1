//! How fast a shaped direction sends over time. Times count from the start of the clock.

use goodqueue_units::{Bytes, Duration, Instant, Rate};
use std::sync::Arc;

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum RateSpec {
    /// Always the same.
    Constant(Rate),
    /// From each instant on, this rate; the first entry is at time zero, instants rise strictly.
    Steps(Vec<(Instant, Rate)>),
    /// Recorded delivery opportunities, repeated from their start when they end.
    Recorded(Arc<Opportunities>),
}

/// Recorded delivery opportunities: what is not used at once is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// (time since the start, bytes that may leave then); times rise strictly and lie in (0, period].
    pub at: Vec<(Duration, Bytes)>,
    /// After this time it starts again. Not zero.
    pub period: Duration,
}

impl Opportunities {
    fn mean_rate(&self) -> Rate {
        let bits: u64 = self.at.iter().map(|(_, bytes)| bytes.bits()).sum();
        Rate::bit_s((bits as f64 / self.period.as_secs_f64()) as u64)
    }
}

impl RateSpec {
    /// What algorithms may know at the start: the first rate, or a recording's mean.
    #[must_use]
    pub fn nominal(&self) -> Rate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => steps.first().map_or(Rate::ZERO, |step| step.1),
            Self::Recorded(trace) => trace.mean_rate(),
        }
    }
}

/// A place in a rate over time.
#[derive(Clone, Debug)]
pub(crate) enum RateCursor {
    /// With the transmission time of the size sent last, which spares the division for most packets.
    Constant {
        rate: Rate,
        last: (Bytes, Duration),
    },
    Steps {
        steps: Vec<(Instant, Rate)>,
        current: usize,
    },
    Recorded {
        trace: Arc<Opportunities>,
        next: usize,
        cycle: Instant,
    },
}

impl RateCursor {
    pub(crate) fn new(spec: &RateSpec) -> Self {
        match spec {
            RateSpec::Constant(rate) => Self::Constant { rate: *rate, last: (Bytes::ZERO, rate.transmission_time(Bytes::ZERO)) },
            RateSpec::Steps(steps) => Self::Steps { steps: steps.clone(), current: 0 },
            RateSpec::Recorded(trace) => Self::Recorded { trace: trace.clone(), next: 0, cycle: Instant::ZERO },
        }
    }

    pub(crate) const fn is_recorded(&self) -> bool {
        matches!(self, Self::Recorded { .. })
    }

    /// When a transmission of `size` that starts at `start` ends; never, for a link that stays down.
    #[inline(always)]
    pub(crate) fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        match self {
            Self::Constant { rate, last } => {
                if last.0 != size {
                    *last = (size, rate.transmission_time(size));
                }
                start + last.1
            }
            Self::Steps { steps, current } => {
                while steps.get(*current + 1).is_some_and(|step| step.0 <= start) {
                    *current += 1;
                }
                across(&steps[*current..], start, size)
            }
            Self::Recorded { .. } => Instant::MAX,
        }
    }

    /// When the rate changes next after `now`; never, of a constant or a recorded one.
    pub(crate) fn next_change(&self, now: Instant) -> Instant {
        match self {
            Self::Steps { steps, .. } => {
                steps.get(steps.partition_point(|step| step.0 <= now)).map_or(Instant::MAX, |step| step.0)
            }
            _ => Instant::MAX,
        }
    }

    /// What algorithms may know at `now`.
    pub(crate) fn known(&self, now: Instant) -> Rate {
        match self {
            Self::Constant { rate, .. } => *rate,
            Self::Steps { steps, .. } => {
                steps[..steps.partition_point(|step| step.0 <= now)].last().map_or(Rate::ZERO, |step| step.1)
            }
            Self::Recorded { trace, .. } => trace.mean_rate(),
        }
    }

    /// The first delivery opportunity later than `now`, which never goes back.
    pub(crate) fn next_opportunity(&mut self, now: Instant) -> (Instant, Bytes) {
        let Self::Recorded { trace, next, cycle } = self else { return (Instant::MAX, Bytes::ZERO) };
        let period = trace.period.as_nanos();
        let whole = now.since(*cycle).as_nanos() / period;
        if whole > 1 {
            // One at the very end of a period belongs to the cycle before.
            *cycle += Duration::ns((whole - 1) * period);
            *next = 0;
        }
        loop {
            let behind = now.since(*cycle);
            *next += trace.at[*next..].partition_point(|(offset, _)| *offset <= behind);
            match trace.at.get(*next) {
                Some(&(offset, bytes)) => return (*cycle + offset, bytes),
                None => {
                    *next = 0;
                    *cycle += trace.period;
                }
            }
        }
    }
}

/// The end of a transmission that may cross changes of rate: where the integral of the rate reaches the size.
fn across(steps: &[(Instant, Rate)], start: Instant, size: Bytes) -> Instant {
    const NANOS: u128 = 1_000_000_000;
    let mut left = u128::from(size.bits()) * NANOS;
    let mut at = start;
    for (place, &(_, rate)) in steps.iter().enumerate() {
        let until = steps.get(place + 1).map_or(Instant::MAX, |next| next.0);
        let can = u128::from(rate.as_bit_s()) * u128::from(until.since(at).as_nanos());
        if can >= left {
            return at + Duration::ns(left.div_ceil(u128::from(rate.as_bit_s().max(1))) as u64);
        }
        left -= can;
        at = until;
    }
    Instant::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::ms(n)
    }

    #[test]
    fn a_transmission_waits_out_an_outage() {
        let steps = vec![(ms(0), Rate::mbit(8)), (ms(1), Rate::ZERO), (ms(5), Rate::mbit(4))];
        let mut cursor = RateCursor::new(&RateSpec::Steps(steps));
        assert_eq!(cursor.end_of(ms(0), Bytes::new(1500)), ms(6));
        assert_eq!(cursor.next_change(ms(0)), ms(1));
        assert_eq!((cursor.known(ms(2)), cursor.known(ms(5))), (Rate::ZERO, Rate::mbit(4)));
        let mut down = RateCursor::new(&RateSpec::Steps(vec![(ms(0), Rate::mbit(8)), (ms(1), Rate::ZERO)]));
        assert_eq!(down.end_of(ms(2), Bytes::new(1)), Instant::MAX);
    }

    #[test]
    fn opportunities_repeat_and_none_comes_twice() {
        let at = vec![(Duration::ms(2), Bytes::new(1500)), (Duration::ms(5), Bytes::new(3000))];
        let mut cursor = RateCursor::new(&RateSpec::Recorded(Arc::new(Opportunities { at, period: Duration::ms(5) })));
        let mut now = Instant::ZERO;
        let mut seen = Vec::new();
        for _ in 0..5 {
            let (next, bytes) = cursor.next_opportunity(now);
            seen.push((next.as_nanos() / 1_000_000, bytes.get()));
            now = next;
        }
        assert_eq!(seen, [(2, 1500), (5, 3000), (7, 1500), (10, 3000), (12, 1500)]);
        assert_eq!(cursor.next_opportunity(ms(1002)), (ms(1005), Bytes::new(3000)));
    }
}
