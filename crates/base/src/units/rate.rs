//! Rates in bits per second and their arithmetic with sizes and times.

use crate::units::decimal::Decimal;
use crate::units::{Bytes, Duration};
use core::fmt;

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A rate in bits per second. At rate zero nothing is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// No transmission at all.
    pub const ZERO: Self = Self(0);

    /// Bits per second.
    #[inline]
    #[must_use]
    pub const fn bit_s(bits: u64) -> Self {
        Self(bits)
    }

    /// Kilobits (1000 bits) per second; saturates.
    #[inline]
    #[must_use]
    pub const fn kbit(kilobits: u64) -> Self {
        Self(kilobits.saturating_mul(1_000))
    }

    /// Megabits (10^6 bits) per second; saturates.
    #[inline]
    #[must_use]
    pub const fn mbit(megabits: u64) -> Self {
        Self(megabits.saturating_mul(1_000_000))
    }

    /// Gigabits (10^9 bits) per second; saturates.
    #[inline]
    #[must_use]
    pub const fn gbit(gigabits: u64) -> Self {
        Self(gigabits.saturating_mul(1_000_000_000))
    }

    /// Bits per second.
    #[inline]
    #[must_use]
    pub const fn as_bit_s(self) -> u64 {
        self.0
    }

    /// Bytes per second.
    #[inline]
    #[must_use]
    pub fn as_bytes_s_f64(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Whether this is zero.
    #[inline]
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Time to send `size` at this rate, rounded **up** to the nanosecond so that no link exceeds
    /// its rate.
    /// [`Duration::MAX`] at rate zero.
    #[inline]
    #[must_use]
    pub const fn transmission_time(self, size: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // A comparison, since WebAssembly has no flag for overflow and would call a function.
        if size.bits() <= u64::MAX / NANOS_PER_SEC {
            return Duration::ns((size.bits() * NANOS_PER_SEC).div_ceil(self.0));
        }
        let nanos = (size.bits() as u128 * NANOS_PER_SEC as u128).div_ceil(self.0 as u128);
        if nanos > u64::MAX as u128 { Duration::MAX } else { Duration::ns(nanos as u64) }
    }

    /// Bytes sent in `span` at this rate, rounded down; saturates.
    #[inline]
    #[must_use]
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        let bytes = self.0 as u128 * span.as_nanos() as u128 / (8 * NANOS_PER_SEC as u128);
        Bytes::new(if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..1_000 => (1, " bit/s"),
            1_000..1_000_000 => (1_000, " kbit/s"),
            1_000_000..1_000_000_000 => (1_000_000, " Mbit/s"),
            _ => (1_000_000_000, " Gbit/s"),
        };
        Decimal { number: self.0, unit }.fmt(f)?;
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_time_rounds_up() {
        assert_eq!(Rate::mbit(10).transmission_time(Bytes::new(1507)), Duration::ns(1_205_600));
        assert_eq!(Rate::bit_s(3).transmission_time(Bytes::new(1)), Duration::ns(2_666_666_667));
        assert_eq!(Rate::ZERO.transmission_time(Bytes::new(1)), Duration::MAX);
        assert_eq!(Rate::bit_s(1).transmission_time(Bytes::MAX), Duration::MAX);
    }

    #[test]
    fn bytes_in_a_span_round_down() {
        assert_eq!(Rate::mbit(10).bytes_in(Duration::ms(1)), Bytes::new(1250));
        assert_eq!(Rate::bit_s(7).bytes_in(Duration::secs(1)), Bytes::ZERO);
    }
}
