//! cake's shaper: when the next packet of all, and of each tin, is due.
//!
//! A packet moves the time of the next one on by its own at the rate: the shaper bursts no more
//! than an idle spell shorter than a packet leaves over. Drops of packets that crossed the
//! bottleneck before are charged as well; packets that leave may then go at two thirds of the rate
//! at least (the failsafe).

use goodqueue_base::units::{Instant, Rate};

/// Nanoseconds per byte as Linux has them: a number below 2^34 and a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    per_byte: u64,
    shift: u32,
}

/// Bytes per second of the slowest rate.
const MIN_RATE: u64 = 64;

impl Pace {
    pub(super) fn of(rate: Rate) -> Self {
        let (mut per_byte, mut shift) = ((1_000_000_000_u64 << 34) / (rate.as_bit_s() / 8).max(MIN_RATE), 34);
        while per_byte >> 34 != 0 {
            per_byte >>= 1;
            shift -= 1;
        }
        Self { per_byte, shift }
    }

    /// Nanoseconds of `len` bytes.
    pub(super) const fn of_bytes(self, len: u64) -> u64 {
        // A packet's length has 17 bits at most, so that the product fits.
        (len * self.per_byte) >> self.shift
    }
}

/// A tin's place in the schedule.
#[derive(Clone, Copy, Debug)]
struct TinSchedule {
    pace: Pace,
    next: Instant,
    /// Packets that wait in it.
    packets: u64,
}

/// The schedule of all packets and of each tin's.
#[derive(Clone, Debug)]
pub(super) struct Shaping {
    pace: Pace,
    next: Instant,
    failsafe: Instant,
    tins: [TinSchedule; 8],
    /// Time at which packets that were held back may go.
    pub(super) held: Option<Instant>,
}

impl Shaping {
    /// Creates the schedule before anything is sent; `rates` are the tins', the first of them that
    /// of all.
    pub(super) fn new(rates: &[Rate]) -> Self {
        let first = rates.first().copied().unwrap_or(Rate::ZERO);
        let tin = |number: usize| {
            let pace = Pace::of(rates.get(number).copied().unwrap_or(first));
            TinSchedule { pace, next: Instant::ZERO, packets: 0 }
        };
        Self { pace: Pace::of(first), next: Instant::ZERO, failsafe: Instant::ZERO, tins: core::array::from_fn(tin), held: None }
    }

    /// Other rates from now on, as in [`Shaping::new`].
    pub(super) fn set_rates(&mut self, rates: &[Rate]) {
        self.pace = Pace::of(rates.first().copied().unwrap_or(Rate::ZERO));
        for (tin, rate) in self.tins.iter_mut().zip(rates) {
            tin.pace = Pace::of(*rate);
        }
    }

    /// A packet arrives for `tin`: times that passed while nothing waited are no credit.
    pub(super) fn arrive(&mut self, tin: usize, now: Instant, is_empty: bool) {
        if self.tins[tin].packets > 0 {
            return;
        }
        self.tins[tin].next = self.tins[tin].next.max(now);
        if is_empty && self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// The number of packets in `tin` went from `before` to `after`.
    pub(super) fn count(&mut self, tin: usize, before: u64, after: u64) {
        let packets = &mut self.tins[tin].packets;
        *packets = (*packets + after).saturating_sub(before);
    }

    /// The time at which the next packet may go.
    pub(super) fn may_go_at(&self) -> Instant {
        self.next.min(self.failsafe)
    }

    /// The time until which all packets must wait, if they must.
    pub(super) fn holds_until(&self, now: Instant) -> Option<Instant> {
        Some(self.may_go_at()).filter(|&at| at > now)
    }

    /// The tin to serve: the last one that is on schedule, else the one that is due first.
    pub(super) fn choose(&self, now: Instant, is_active: impl Iterator<Item = bool>) -> usize {
        let (mut best, mut chosen) = (i64::MAX, 0);
        for (number, (tin, _)) in self.tins.iter().zip(is_active).enumerate().filter(|(_, (_, is_active))| *is_active) {
            let wait = tin.next.as_nanos().cast_signed().saturating_sub(now.as_nanos().cast_signed());
            if wait <= 0 || wait <= best {
                (best, chosen) = (wait, number);
            }
        }
        chosen
    }

    /// Charges `len` bytes, framing included, of a packet of `tin` that left or was dropped.
    pub(super) fn charge(&mut self, tin: usize, len: u64, now: Instant, is_drop: bool) {
        let of_all = self.pace.of_bytes(len);
        let tin = &mut self.tins[tin];
        let of_tin = goodqueue_base::units::Duration::ns(tin.pace.of_bytes(len));
        if tin.next < now {
            tin.next += of_tin;
        } else if tin.next < now + of_tin {
            tin.next = now + of_tin;
        }
        self.next += goodqueue_base::units::Duration::ns(of_all);
        if !is_drop {
            self.failsafe += goodqueue_base::units::Duration::ns(of_all + (of_all >> 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + nanos)
    }

    /// Worked out by hand from the numbers above; not recorded of a kernel.
    #[test]
    fn a_byte_takes_its_time_at_the_rate() {
        // 2.5 MB/s: 400 ns per byte, which 9 bits less of shift hold exactly.
        let pace = Pace::of(Rate::mbit(20));
        assert_eq!(pace, Pace { per_byte: 400 << 25, shift: 25 });
        assert_eq!(pace.of_bytes(1514), 605_600);
        // 12 345 678 bit/s are 1 543 209 B/s: 648.0003 ns per byte, cut at 24 bits.
        assert_eq!(Pace::of(Rate::bit_s(12_345_678)).of_bytes(1500), 972_000);
        assert_eq!(Pace::of(Rate::bit_s(1)).of_bytes(64), 1_000_000_000);
    }

    #[test]
    fn packets_leave_at_the_rate_and_idle_time_is_no_credit() {
        let mut shaping = Shaping::new(&[Rate::mbit(8)]);
        shaping.arrive(0, at(0), true);
        shaping.count(0, 0, 2);
        assert_eq!(shaping.holds_until(at(0)), None);
        shaping.charge(0, 1000, at(0), false);
        shaping.count(0, 2, 1);
        assert_eq!(shaping.holds_until(at(0)), Some(at(1_000_000)));
        assert_eq!(shaping.holds_until(at(1_000_000)), None);
        shaping.charge(0, 1000, at(1_000_000), false);
        shaping.count(0, 1, 0);
        shaping.arrive(0, at(90_000_000), true);
        shaping.charge(0, 1000, at(90_000_000), false);
        assert_eq!(shaping.holds_until(at(90_000_000)), Some(at(91_000_000)));
    }

    #[test]
    fn drops_hold_packets_back_no_longer_than_the_failsafe() {
        let mut shaping = Shaping::new(&[Rate::mbit(8)]);
        shaping.arrive(0, at(0), true);
        (0..9).for_each(|_| shaping.charge(0, 1000, at(0), true));
        shaping.charge(0, 1000, at(0), false);
        assert_eq!(shaping.holds_until(at(0)), Some(at(1_500_000)), "and not 10 ms");
    }

    #[test]
    fn the_last_tin_on_schedule_goes_first() {
        let mut shaping = Shaping::new(&[Rate::mbit(16), Rate::mbit(1), Rate::mbit(4)]);
        (0..3).for_each(|tin| shaping.arrive(tin, at(0), tin == 0));
        assert_eq!(shaping.choose(at(0), [true; 3].into_iter()), 2);
        shaping.charge(2, 1000, at(0), false);
        assert_eq!(shaping.choose(at(0), [true; 3].into_iter()), 1);
        shaping.charge(1, 1000, at(0), false);
        assert_eq!(shaping.choose(at(0), [true; 3].into_iter()), 0);
        shaping.charge(0, 1000, at(0), false);
        assert_eq!(shaping.choose(at(0), [false, true, true].into_iter()), 2, "2 ms before 8 ms");
    }
}
