//! A transmitter's place in a rate over time.

use crate::line::{Bucket, OpportunityCursor, RateSpec};
use crate::units::{Bytes, Duration, Instant, Rate};
use alloc::vec::Vec;

/// A place in a rate over time, which only moves forward.
#[derive(Clone, Debug)]
pub enum RateCursor {
    /// A rate that never changes.
    Constant {
        /// The rate.
        rate: Rate,
        /// Two sizes and their transmission times, the one worked out last first: most packets have
        /// one of two sizes.
        last: [(Bytes, Duration); 2],
    },
    /// A token bucket.
    Bucket(Bucket),
    /// A rate that changes in steps.
    Steps {
        /// The rate from each instant on.
        steps: Vec<(Instant, Rate)>,
        /// Index of the step in which the latest transmission started.
        current: usize,
    },
    /// Recorded delivery opportunities.
    Recorded(OpportunityCursor),
}

impl RateCursor {
    /// The start of the rate that `spec` describes.
    #[must_use]
    pub fn new(spec: &RateSpec) -> Self {
        match spec {
            RateSpec::Constant(rate) => Self::constant(*rate),
            RateSpec::Steps(steps) => Self::Steps { steps: steps.clone(), current: 0 },
            RateSpec::Recorded(recording) => Self::Recorded(OpportunityCursor::new(recording.clone())),
        }
    }

    /// The start of the rate that `spec` describes, with a token bucket of `burst` bytes if that is
    /// above zero and the rate constant.
    #[must_use]
    pub fn with_burst(spec: &RateSpec, burst: Bytes) -> Self {
        match spec {
            RateSpec::Constant(rate) if !burst.is_zero() => Self::Bucket(Bucket::new(*rate, burst)),
            spec => Self::new(spec),
        }
    }

    /// A constant rate.
    #[must_use]
    pub const fn constant(rate: Rate) -> Self {
        Self::Constant { rate, last: [(Bytes::ZERO, rate.transmission_time(Bytes::ZERO)); 2] }
    }

    /// The place among recorded opportunities; `None` for other rates.
    #[inline]
    #[must_use]
    pub const fn opportunities(&mut self) -> Option<&mut OpportunityCursor> {
        match self {
            Self::Recorded(cursor) => Some(cursor),
            _ => None,
        }
    }

    /// True if packets leave at recorded opportunities only.
    #[inline]
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        matches!(self, Self::Recorded(_))
    }

    /// The end of a transmission of `size` that starts at `start`; [`Instant::MAX`] on a line that
    /// stays down, and on a recorded one. Starts never go back in time.
    #[inline(always)]
    pub fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        if let Self::Constant { last: [one, other], .. } = self {
            if one.0 == size {
                return start + one.1;
            }
            if other.0 == size {
                return start + other.1;
            }
        }
        self.end_of_other(start, size)
    }

    /// [`RateCursor::end_of`] for a size other than the last two, or a rate that is not constant.
    #[inline(never)]
    fn end_of_other(&mut self, start: Instant, size: Bytes) -> Instant {
        match self {
            Self::Constant { rate, last } => {
                let time = rate.transmission_time(size);
                *last = [(size, time), last[0]];
                start + time
            }
            Self::Steps { steps, current } => {
                while steps.get(*current + 1).is_some_and(|&(from, _)| from <= start) {
                    *current += 1;
                }
                end_across(&steps[*current..], start, size)
            }
            Self::Bucket(bucket) => bucket.end_of(start, size),
            Self::Recorded(_) => Instant::MAX,
        }
    }

    /// Sets the rate from `now` on, until a later step. Returns false for rates that cannot be
    /// set: recordings and token buckets.
    #[must_use]
    pub fn change(&mut self, now: Instant, to: Rate) -> bool {
        match self {
            Self::Constant { rate, .. } => {
                let before = (now > Instant::ZERO).then_some((Instant::ZERO, *rate));
                *self = Self::Steps { steps: before.into_iter().chain([(now, to)]).collect(), current: 0 };
                true
            }
            Self::Steps { steps, .. } => {
                match steps.binary_search_by_key(&now, |step| step.0) {
                    Ok(place) => steps[place].1 = to,
                    Err(place) => steps.insert(place, (now, to)),
                }
                true
            }
            Self::Bucket(_) | Self::Recorded(_) => false,
        }
    }

    /// The time of the next change of the rate after `now`; [`Instant::MAX`] for a rate that has no
    /// later step.
    #[must_use]
    pub fn next_change(&self, now: Instant) -> Instant {
        match self {
            Self::Steps { steps, .. } => {
                steps.get(steps.partition_point(|step| step.0 <= now)).map_or(Instant::MAX, |step| step.0)
            }
            Self::Constant { .. } | Self::Bucket(_) | Self::Recorded(_) => Instant::MAX,
        }
    }

    /// The rate that algorithms may know at `now`: the current one, or a recording's mean.
    #[must_use]
    pub fn known_rate(&self, now: Instant) -> Rate {
        match self {
            Self::Constant { rate, .. } | Self::Bucket(Bucket { rate, .. }) => *rate,
            Self::Steps { steps, .. } => {
                steps[..steps.partition_point(|step| step.0 <= now)].last().map_or(Rate::ZERO, |step| step.1)
            }
            Self::Recorded(cursor) => cursor.recording().mean_rate(),
        }
    }

    /// Bits that the line can carry at once at `now`, besides those of its rate: of a token bucket,
    /// those that it has saved up.
    #[must_use]
    pub fn saved_bits(&self, now: Instant) -> f64 {
        if let Self::Bucket(bucket) = self { bucket.saved_bits(now) } else { 0.0 }
    }

    /// Bits that the line can carry in `(from, to]` by its rate.
    #[must_use]
    pub fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        match self {
            Self::Constant { rate, .. } | Self::Bucket(Bucket { rate, .. }) => {
                rate.as_bit_s() as f64 * to.since(from).as_secs_f64()
            }
            Self::Steps { steps, .. } => {
                let ends = steps.iter().skip(1).map(|step| step.0).chain([Instant::MAX]);
                steps
                    .iter()
                    .zip(ends)
                    .map(|(&(start, rate), end)| rate.as_bit_s() as f64 * end.min(to).since(start.max(from)).as_secs_f64())
                    .sum()
            }
            Self::Recorded(cursor) => {
                let recording = cursor.recording();
                (recording.bytes_until(to) - recording.bytes_until(from)) * 8.0
            }
        }
    }
}

/// The time at which the integral of the rate since `start` reaches `size`; [`Instant::MAX`] when
/// the last rate is zero before that.
fn end_across(steps: &[(Instant, Rate)], start: Instant, size: Bytes) -> Instant {
    const NANOS: u128 = 1_000_000_000;
    let mut left = u128::from(size.bits()) * NANOS;
    let mut at = start;
    for (i, &(_, rate)) in steps.iter().enumerate() {
        let until = steps.get(i + 1).map_or(Instant::MAX, |step| step.0);
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
    use alloc::vec;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::ms(n)
    }

    fn steps(steps: &[(u64, u64)]) -> RateCursor {
        let steps = steps.iter().map(|&(at, mbit)| (ms(at), Rate::mbit(mbit))).collect();
        RateCursor::new(&RateSpec::Steps(steps))
    }

    #[test]
    fn a_transmission_crosses_rate_steps_and_outages() {
        let mut rate = steps(&[(0, 8), (1, 0), (5, 4)]);
        // 1500 bytes: 1000 by 1 ms at 8 Mbit/s, none until 5 ms, the rest at half the rate.
        assert_eq!(rate.end_of(ms(0), Bytes::new(1500)), ms(6));
        assert_eq!(rate.capacity_bits(ms(0), ms(7)), 16_000.0);
        assert_eq!([0, 1, 5].map(|at| rate.next_change(ms(at))), [ms(1), ms(5), Instant::MAX]);
        assert_eq!((rate.known_rate(ms(2)), rate.known_rate(ms(5))), (Rate::ZERO, Rate::mbit(4)));
    }

    #[test]
    fn a_changed_rate_holds_from_then_on_until_a_later_step() {
        let mut rate = RateCursor::constant(Rate::mbit(8));
        assert_eq!(rate.end_of(ms(0), Bytes::new(1000)), ms(1));
        assert!(rate.change(ms(10), Rate::mbit(4)));
        assert_eq!(rate.end_of(ms(10), Bytes::new(1000)), ms(12));
        assert_eq!((rate.known_rate(ms(9)), rate.known_rate(ms(10))), (Rate::mbit(8), Rate::mbit(4)));
        assert_eq!(rate.capacity_bits(ms(0), ms(20)), 120_000.0);
        let mut steps = steps(&[(0, 8), (30, 1)]);
        assert!(steps.change(ms(20), Rate::mbit(2)) && steps.change(ms(20), Rate::mbit(4)));
        assert_eq!([19, 20, 30].map(|at| steps.known_rate(ms(at))), [8, 4, 1].map(Rate::mbit));
        let mut bucket = RateCursor::with_burst(&RateSpec::Constant(Rate::mbit(8)), Bytes::new(1600));
        assert!(!bucket.change(ms(1), Rate::mbit(4)));
    }

    #[test]
    fn a_link_that_stays_down_never_finishes() {
        let mut rate = steps(&[(0, 1), (1, 0)]);
        assert_eq!(rate.end_of(ms(2), Bytes::new(1)), Instant::MAX);
        let mut down = RateCursor::constant(Rate::ZERO);
        assert_eq!(down.end_of(ms(2), Bytes::new(1)), Instant::MAX);
    }

    #[test]
    fn a_bucket_lets_the_first_packet_go_at_once_and_keeps_the_rate() {
        // 1600 bytes at 8 Mbit/s: a byte per microsecond.
        let mut bucket = RateCursor::with_burst(&RateSpec::Constant(Rate::mbit(8)), Bytes::new(1600));
        let at = |us: u64| Instant::ZERO + Duration::us(us);
        let mut send = |start_us: u64| bucket.end_of(at(start_us), Bytes::new(1000));
        // 1000 of 1600 tokens; then 400 are missing; then 1000 each time.
        let sent = vec![send(5000), send(5000), send(5400), send(6400)];
        assert_eq!(sent, [at(5000), at(5400), at(6400), at(7400)]);
        assert_eq!(send(7900), at(8400), "half a packet's time later half its tokens have come");
        assert_eq!(send(20_000), at(20_000), "a long pause fills the bucket");
    }
}
