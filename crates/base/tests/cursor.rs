//! The cursor over a rate against a naive model, through a million random steps. The digests are
//! those of the two cursors that simulator and live host had before they shared this one.

use goodqueue_base::line::{Opportunities, RateCursor, RateSpec};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

/// Steps through each random rate.
const STEPS: u32 = 500;
/// Random rates of each of the three kinds.
const RATES: u32 = 700;

/// Digest of all ends of transmissions.
const TRANSMISSIONS: u64 = 16_773_644_654_634_872_076;
/// Digest of all opportunities.
const OPPORTUNITIES: u64 = 17_170_582_869_847_367_105;

fn below(rng: &mut Rng, bound: u64) -> u64 {
    rng.next_u64() % bound
}

/// A number of random magnitude, up to `bits` bits.
fn magnitude(rng: &mut Rng, bits: u64) -> u64 {
    let width = below(rng, bits + 1);
    rng.next_u64() & ((1 << width) - 1)
}

fn rate(rng: &mut Rng) -> Rate {
    if below(rng, 6) == 0 { Rate::ZERO } else { Rate::bit_s(1 + magnitude(rng, 38)) }
}

fn size(rng: &mut Rng) -> Bytes {
    let usual = [40, 64, 1000, 1500, 1514];
    match below(rng, 3) {
        0 => Bytes::new(1 + magnitude(rng, 17)),
        _ => Bytes::new(usual[below(rng, 5) as usize]),
    }
}

/// A number that depends on everything observed.
struct Digest(u64);

impl Digest {
    fn add(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }
}

/// A later instant, sometimes much later.
fn later(rng: &mut Rng, now: Instant) -> Instant {
    now + Duration::ns(magnitude(rng, 34))
}

/// Bits times nanoseconds that `steps` can carry in `[0, at]`.
fn carried(steps: &[(Instant, Rate)], at: u64) -> u128 {
    let ends = steps.iter().skip(1).map(|step| step.0.as_nanos()).chain([u64::MAX]);
    steps
        .iter()
        .zip(ends)
        .map(|(&(from, rate), end)| u128::from(rate.as_bit_s()) * u128::from(end.min(at).saturating_sub(from.as_nanos())))
        .sum()
}

/// The earliest time by which `steps` have carried `size` since `start`, by bisection.
fn modelled_end(steps: &[(Instant, Rate)], start: Instant, size: Bytes) -> Instant {
    let wanted = carried(steps, start.as_nanos()) + u128::from(size.bits()) * 1_000_000_000;
    let (mut early, mut late) = (start.as_nanos(), u64::MAX);
    if carried(steps, late) < wanted {
        return Instant::MAX;
    }
    while early < late {
        let middle = early + (late - early) / 2;
        if carried(steps, middle) >= wanted { late = middle } else { early = middle + 1 }
    }
    Instant::from_nanos(late)
}

#[test]
fn transmissions_end_when_the_model_says() {
    let mut rng = Rng::new(1);
    let mut digest = Digest(0);
    for number in 0..2 * RATES {
        let mut steps = Vec::new();
        let spec = if number % 2 == 0 {
            let rate = Rate::bit_s(1 + magnitude(&mut rng, 38));
            steps.push((Instant::ZERO, rate));
            RateSpec::Constant(rate)
        } else {
            steps.push((Instant::ZERO, rate(&mut rng)));
            for _ in 0..below(&mut rng, 20) {
                let at = later(&mut rng, steps[steps.len() - 1].0) + Duration::ns(1);
                steps.push((at, rate(&mut rng)));
            }
            RateSpec::Steps(steps.clone())
        };
        let mut cursor = RateCursor::new(&spec);
        let mut now = Instant::ZERO;
        for _ in 0..STEPS {
            let size = size(&mut rng);
            let end = cursor.end_of(now, size);
            assert_eq!(end, modelled_end(&steps, now, size), "{size:?} from {now:?} at {spec:?}");
            let known = steps.iter().rev().find(|step| step.0 <= now).expect("a step at zero").1;
            assert_eq!(cursor.known_rate(now), known);
            digest.add(end.as_nanos());
            digest.add(known.as_bit_s());
            // Back to back as often as after a pause.
            now = if below(&mut rng, 2) == 0 && end < Instant::MAX { end } else { later(&mut rng, now) };
        }
    }
    assert_eq!(digest.0, TRANSMISSIONS);
}

/// The first opportunity later than `now`, by a search from two periods before.
fn modelled_opportunity(all: &[(Duration, Bytes)], period: Duration, now: Instant) -> (Instant, Bytes) {
    let cycle = (now.as_nanos() / period.as_nanos()).saturating_sub(2);
    (cycle..)
        .flat_map(|cycle| all.iter().map(move |&(at, bytes)| (Instant::ZERO + period * cycle + at, bytes)))
        .find(|opportunity| opportunity.0 > now)
        .expect("a recording repeats")
}

#[test]
fn opportunities_come_when_the_model_says() {
    let mut rng = Rng::new(2);
    let mut digest = Digest(0);
    for _ in 0..RATES {
        let mut all = Vec::new();
        let mut last = Duration::ZERO;
        for _ in 0..1 + below(&mut rng, 40) {
            last += Duration::ns(1 + magnitude(&mut rng, 24));
            all.push((last, Bytes::new(1500 * (1 + below(&mut rng, 4)))));
        }
        let period = if below(&mut rng, 2) == 0 { last } else { last + Duration::ns(magnitude(&mut rng, 24)) };
        let recording = Opportunities::new(all.clone(), period).expect("a good recording");
        let mut cursor = RateCursor::new(&RateSpec::Recorded(recording.into()));
        let cursor = cursor.opportunities().expect("a recording");
        let mut now = Instant::ZERO;
        for _ in 0..STEPS {
            let (next, bytes) = cursor.next_after(now);
            assert_eq!((next, bytes), modelled_opportunity(&all, period, now), "after {now:?}");
            digest.add(next.as_nanos());
            digest.add(bytes.get());
            now = if below(&mut rng, 2) == 0 { next } else { later(&mut rng, now) };
            assert_eq!(cursor.bytes_at(now), if now == next { bytes } else { Bytes::ZERO });
        }
    }
    assert_eq!(digest.0, OPPORTUNITIES);
}
