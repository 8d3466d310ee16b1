//! How fast a transmitter sends over time.

use crate::spec::{OpportunityTrace, RateSpec};
use goodqueue_units::{Bytes, Duration, Instant, Rate};
use std::sync::Arc;

/// A transmitter's rate: either a function of time, or a series of delivery opportunities.
#[derive(Clone, Debug)]
pub(crate) enum RateProcess {
    Constant { rate: Rate, last: (Bytes, Duration) },
    Bucket(Bucket),
    Steps { steps: Vec<(Instant, Rate)>, current: usize },
    Trace(TraceCursor),
}

impl RateProcess {
    /// A constant rate with a `burst` is a token bucket; other rates have none.
    pub(crate) fn new(spec: &RateSpec, burst: Bytes) -> Self {
        match spec {
            RateSpec::Constant(rate) if !burst.is_zero() => Self::Bucket(Bucket::new(*rate, burst)),
            RateSpec::Constant(rate) => Self::Constant { rate: *rate, last: (Bytes::ZERO, Duration::ZERO) },
            RateSpec::Steps(steps) => Self::Steps { steps: steps.clone(), current: 0 },
            RateSpec::Trace(trace) => Self::Trace(TraceCursor::new(trace.clone())),
        }
    }

    /// When a transmission of `size` that starts at `start` ends. Starts never go back in time. Not for traces.
    #[inline(always)]
    pub(crate) fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        if let Self::Constant { last, .. } = self
            && last.0 == size
        {
            return start + last.1;
        }
        self.work_out_end(start, size)
    }

    #[inline(never)]
    fn work_out_end(&mut self, start: Instant, size: Bytes) -> Instant {
        match self {
            Self::Constant { rate, last } => {
                *last = (size, rate.transmission_time(size));
                start + last.1
            }
            Self::Steps { steps, current } => {
                while steps.get(*current + 1).is_some_and(|&(from, _)| from <= start) {
                    *current += 1;
                }
                end_across_steps(&steps[*current..], start, size)
            }
            Self::Bucket(bucket) => bucket.end_of(start, size),
            Self::Trace(_) => Instant::MAX,
        }
    }

    /// From `now` on this rate, until a later step says otherwise. False for rates that nobody can set: recordings and buckets.
    #[must_use]
    pub(crate) fn change(&mut self, now: Instant, to: Rate) -> bool {
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
            Self::Bucket(_) | Self::Trace(_) => false,
        }
    }

    /// The rate an algorithm may know at `now`: the current one, or a trace's mean.
    pub(crate) fn known_rate(&self, now: Instant) -> Rate {
        match self {
            Self::Constant { rate, .. } | Self::Bucket(Bucket { rate, .. }) => *rate,
            Self::Steps { steps, .. } => steps.iter().rev().find(|(from, _)| *from <= now).map_or(Rate::ZERO, |s| s.1),
            Self::Trace(cursor) => cursor.mean_rate(),
        }
    }

    /// Bits the link can carry in `(from, to]`.
    pub(crate) fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        match self {
            Self::Constant { rate, .. } | Self::Bucket(Bucket { rate, .. }) => {
                rate.as_bit_s() as f64 * to.since(from).as_secs_f64()
            }
            Self::Steps { steps, .. } => {
                let ends = steps.iter().skip(1).map(|s| s.0).chain([Instant::MAX]);
                steps
                    .iter()
                    .zip(ends)
                    .map(|(&(start, rate), end)| rate.as_bit_s() as f64 * end.min(to).since(start.max(from)).as_secs_f64())
                    .sum()
            }
            Self::Trace(cursor) => (cursor.bytes_until(to) - cursor.bytes_until(from)) * 8.0,
        }
    }
}

/// A shaper in place of a wire: it sends a packet in no time once there are tokens for it, and waits for them with the packet in hand. After a
/// pause the first bytes find tokens and leave at once.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    /// How long an empty bucket needs to fill.
    depth: Duration,
    /// The bucket is full again then, if nothing more is taken.
    full_at: Instant,
}

impl Bucket {
    fn new(rate: Rate, burst: Bytes) -> Self {
        Self { rate, depth: rate.transmission_time(burst), full_at: Instant::ZERO }
    }

    #[inline]
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        self.full_at = self.full_at.max(start) + self.rate.transmission_time(size);
        // The debt beyond what a full bucket holds must come in first.
        start + self.full_at.since(start).saturating_sub(self.depth)
    }
}

/// Ends where the integral of the rate reaches the size; never when the last rate is zero before that.
fn end_across_steps(steps: &[(Instant, Rate)], start: Instant, size: Bytes) -> Instant {
    const NANOS: u128 = 1_000_000_000;
    let mut bit_nanos = u128::from(size.bits()) * NANOS;
    let mut at = start;
    for (i, &(_, rate)) in steps.iter().enumerate() {
        let until = steps.get(i + 1).map_or(Instant::MAX, |s| s.0);
        let can = u128::from(rate.as_bit_s()) * u128::from(until.since(at).as_nanos());
        if can >= bit_nanos {
            return at + Duration::ns(bit_nanos.div_ceil(u128::from(rate.as_bit_s().max(1))) as u64);
        }
        bit_nanos -= can;
        at = until;
    }
    Instant::MAX
}

/// A place in a repeated trace of delivery opportunities.
#[derive(Clone, Debug)]
pub(crate) struct TraceCursor {
    trace: Arc<OpportunityTrace>,
    /// Bytes of all opportunities before each one, and of all of them at the end.
    before: Vec<u64>,
    next: usize,
    cycle_start: Instant,
}

impl TraceCursor {
    fn new(trace: Arc<OpportunityTrace>) -> Self {
        let mut before = Vec::with_capacity(trace.opportunities.len() + 1);
        before.push(0);
        for (i, (_, bytes)) in trace.opportunities.iter().enumerate() {
            before.push(before[i] + bytes.get());
        }
        Self { trace, before, next: 0, cycle_start: Instant::ZERO }
    }

    /// The first opportunity later than `now`, which never goes back in time.
    pub(crate) fn next_after(&mut self, now: Instant) -> (Instant, Bytes) {
        let whole = now.since(self.cycle_start).as_nanos() / self.trace.period.as_nanos();
        if whole > 0 {
            // An opportunity at the very end of the period belongs to the cycle before.
            let skipped = self.cycle_start + Duration::ns((whole - 1) * self.trace.period.as_nanos());
            if skipped > self.cycle_start {
                self.cycle_start = skipped;
                self.next = 0;
            }
        }
        loop {
            let Some(&(offset, bytes)) = self.trace.opportunities.get(self.next) else {
                self.next = 0;
                self.cycle_start += self.trace.period;
                continue;
            };
            let at = self.cycle_start + offset;
            if at > now {
                return (at, bytes);
            }
            let behind = now.since(self.cycle_start);
            self.next = self.next.max(self.next + self.trace.opportunities[self.next..].partition_point(|o| o.0 <= behind));
        }
    }

    /// The bytes of the opportunity at `now`, which [`TraceCursor::next_after`] has named before.
    pub(crate) fn take_at(&mut self, now: Instant) -> Bytes {
        match self.trace.opportunities.get(self.next) {
            Some(&(offset, bytes)) if self.cycle_start + offset == now => bytes,
            _ => Bytes::ZERO,
        }
    }

    fn mean_rate(&self) -> Rate {
        let bits = self.before.last().copied().unwrap_or(0).saturating_mul(8);
        Rate::bit_s((bits as f64 / self.trace.period.as_secs_f64()) as u64)
    }

    /// Bytes of all opportunities up to and including `at`.
    fn bytes_until(&self, at: Instant) -> f64 {
        let total = self.before.last().copied().unwrap_or(0);
        let period = self.trace.period.as_nanos();
        let cycles = at.as_nanos() / period;
        // Opportunities at the very end of a period coincide with the start of the next cycle and are counted once.
        let within = Duration::ns(at.as_nanos() % period);
        let index = self.trace.opportunities.partition_point(|o| o.0 <= within);
        cycles as f64 * total as f64 + self.before[index] as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::ms(n)
    }

    #[test]
    fn a_transmission_crosses_rate_steps_and_outages() {
        let mut rate = RateProcess::new(
            &RateSpec::Steps(vec![(ms(0), Rate::mbit(8)), (ms(1), Rate::ZERO), (ms(5), Rate::mbit(4))]),
            Bytes::ZERO,
        );
        // 1500 bytes at 8 Mbit/s take 1.5 ms: 1000 bytes by 1 ms, nothing until 5 ms, the rest at half the rate.
        assert_eq!(rate.end_of(ms(0), Bytes::new(1500)), ms(6));
        assert_eq!(rate.capacity_bits(ms(0), ms(7)), 16_000.0);
    }

    #[test]
    fn a_changed_rate_holds_from_then_on_until_a_later_step() {
        let mut rate = RateProcess::new(&RateSpec::Constant(Rate::mbit(8)), Bytes::ZERO);
        assert_eq!(rate.end_of(ms(0), Bytes::new(1000)), ms(1));
        assert!(rate.change(ms(10), Rate::mbit(4)));
        assert_eq!(rate.end_of(ms(10), Bytes::new(1000)), ms(12));
        assert_eq!((rate.known_rate(ms(9)), rate.known_rate(ms(10))), (Rate::mbit(8), Rate::mbit(4)));
        assert_eq!(rate.capacity_bits(ms(0), ms(20)), 120_000.0);
        let mut steps = RateProcess::new(&RateSpec::Steps(vec![(ms(0), Rate::mbit(8)), (ms(30), Rate::mbit(1))]), Bytes::ZERO);
        assert!(steps.change(ms(20), Rate::mbit(2)) && steps.change(ms(20), Rate::mbit(4)));
        let known = [19, 20, 30].map(|at| steps.known_rate(ms(at)));
        assert_eq!(known, [Rate::mbit(8), Rate::mbit(4), Rate::mbit(1)]);
        let mut bucket = RateProcess::new(&RateSpec::Constant(Rate::mbit(8)), Bytes::new(1600));
        assert!(!bucket.change(ms(1), Rate::mbit(4)));
    }

    #[test]
    fn a_link_that_stays_down_never_finishes() {
        let mut rate = RateProcess::new(&RateSpec::Steps(vec![(ms(0), Rate::mbit(1)), (ms(1), Rate::ZERO)]), Bytes::ZERO);
        assert_eq!(rate.end_of(ms(2), Bytes::new(1)), Instant::MAX);
    }

    #[test]
    fn opportunities_repeat_and_are_never_reused() {
        let trace = OpportunityTrace {
            opportunities: vec![(Duration::ms(2), Bytes::new(1500)), (Duration::ms(5), Bytes::new(3000))],
            period: Duration::ms(5),
        };
        let RateProcess::Trace(mut cursor) = RateProcess::new(&RateSpec::Trace(Arc::new(trace)), Bytes::ZERO) else { panic!() };
        let mut at = Instant::ZERO;
        let mut seen = Vec::new();
        for _ in 0..5 {
            let (next, bytes) = cursor.next_after(at);
            seen.push((next.as_nanos() / 1_000_000, bytes.get()));
            at = next;
        }
        assert_eq!(seen, [(2, 1500), (5, 3000), (7, 1500), (10, 3000), (12, 1500)]);
        assert_eq!(cursor.next_after(ms(1002)), (ms(1005), Bytes::new(3000)));
        assert_eq!(cursor.bytes_until(ms(10)), 9000.0);
        assert_eq!(cursor.bytes_until(ms(4)), 1500.0);
    }

    #[test]
    fn a_bucket_lets_the_first_packet_go_at_once_and_keeps_the_rate() {
        // 1600 bytes at 8 Mbit/s: a byte a microsecond.
        let mut process = RateProcess::new(&RateSpec::Constant(Rate::mbit(8)), Bytes::new(1600));
        let at = |us: u64| Instant::ZERO + Duration::us(us);
        let mut send = |start_us: u64| process.end_of(at(start_us), Bytes::new(1000));
        // 1000 of 1600 tokens; then 400 are missing; then 1000 each time.
        assert_eq!([send(5000), send(5000), send(5400), send(6400)], [at(5000), at(5400), at(6400), at(7400)]);
        // Half a packet's time later half its tokens have come.
        assert_eq!(send(7900), at(8400));
        assert_eq!(send(20_000), at(20_000), "a long pause fills the bucket");
    }
}
