//! The credit of a turn.

use crate::arithmetic::LinuxDraws;
use goodqueue_base::units::Rng;

/// The part of a shared quantum that one of several queues gets: whole bytes, and one more with the
/// probability of the fraction of a byte that remains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    bytes: i64,
    /// A random number above this one rounds up.
    most: u64,
}

impl Share {
    /// The share of each of `queues`; of none as of one.
    pub(super) fn of(quantum: i64, queues: u32) -> Self {
        if queues <= 1 {
            return Self { bytes: quantum, most: u64::MAX };
        }
        let part = quantum as f64 / f64::from(queues);
        // Truncation rounds down, as all numbers here are positive.
        let bytes = part as i64;
        // In steps of 2^-53 the upper bits of a random number are one on `[0, 1)`. Their sum with
        // the part is rounded: it reaches the next byte from half a step of the sum below that on.
        let rounds_up = |steps: u64| (part + steps as f64 * STEP) as i64 > bytes;
        let half = 1_u64 << bytes.max(1).ilog2();
        let mut first = ((((bytes + 1) as f64 - part) / STEP) as u64).saturating_sub(half);
        while first < STEPS && !rounds_up(first) {
            first += 1;
        }
        while first > 0 && rounds_up(first - 1) {
            first -= 1;
        }
        Self { bytes, most: (first << UNUSED).wrapping_sub(1) }
    }

    /// All of it, where nobody else has any.
    #[inline]
    pub(super) const fn whole(self) -> i64 {
        self.bytes
    }

    /// `part + rng.uniform()` rounded down, without the sum.
    #[inline]
    pub(super) fn draw(self, rng: &mut Rng) -> i64 {
        self.bytes + i64::from(rng.next_u64() > self.most)
    }
}

/// Lower bits of a random number that [`Rng::uniform`] does not use.
const UNUSED: u32 = 11;
const STEPS: u64 = 1 << (u64::BITS - UNUSED);
const STEP: f64 = 1.0 / STEPS as f64;

/// Shares in 1/65536, of which a single queue has one less than all.
#[cold]
pub(super) fn linux(quantum: i64, queues: u32, draws: &mut LinuxDraws) -> i64 {
    let part = i64::from(u16::MAX) / i64::from(queues.max(1));
    (quantum * part + (draws.go_on() >> 48) as i64) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share as the sum that it stands for, of `number`.
    fn sum(quantum: i64, queues: u32, number: u64) -> i64 {
        (quantum as f64 / f64::from(queues) + Rng::about_to_draw(number).uniform()) as i64
    }

    #[test]
    fn shares_are_rounded_as_their_sums_are() {
        for quantum in [1, 2, 63, 64, 65, 300, 301, 1000, 1024, 1514, 9000, 65_535, 1 << 31] {
            for queues in (2..2100).chain([65_535, 65_536]) {
                let share = Share::of(quantum, queues);
                let near = [share.most.wrapping_sub(1 << UNUSED), share.most, share.most.wrapping_add(1), 0, u64::MAX, 1 << 63];
                for number in near {
                    let found = share.draw(&mut Rng::about_to_draw(number));
                    assert_eq!(found, sum(quantum, queues, number), "{quantum} / {queues} with {number}");
                }
            }
        }
    }

    #[test]
    fn a_queue_on_its_own_has_all() {
        assert_eq!([Share::of(1514, 0).whole(), Share::of(1514, 1).whole()], [1514, 1514]);
    }
}
