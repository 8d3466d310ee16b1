//! Time as an argument: nanoseconds since an origin that the host chooses.

use crate::units::decimal::Decimal;
use core::fmt;
use core::num::TryFromIntError;
use core::ops::{Add, AddAssign, Mul, Sub};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A point in time: nanoseconds since the host's origin (room for 584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The host's origin.
    pub const ZERO: Self = Self(0);
    /// Later than any time a host will reach.
    pub const MAX: Self = Self(u64::MAX);

    /// Nanoseconds since the origin.
    #[inline]
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the origin, rounded to the nearest `f64`.
    #[inline]
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Time since `earlier`; zero if the clock went backwards.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// The empty span.
    pub const ZERO: Self = Self(0);
    /// The longest representable span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span in nanoseconds.
    #[inline]
    #[must_use]
    pub const fn ns(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span in microseconds; saturates.
    #[inline]
    #[must_use]
    pub const fn us(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span in milliseconds; saturates.
    #[inline]
    #[must_use]
    pub const fn ms(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span in seconds; saturates.
    #[inline]
    #[must_use]
    pub const fn secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// A span in seconds, rounded to the nearest nanosecond. Negative values and NaN become zero;
    /// large values saturate.
    #[inline]
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        // `as` saturates and maps NaN to zero. Adding one half rounds to nearest.
        Self((secs * NANOS_PER_SEC as f64 + 0.5) as u64)
    }

    /// Nanoseconds.
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest `f64`.
    #[inline]
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Whether the span is zero.
    #[inline]
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero where it would be negative.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This span times a non-negative factor, rounded to the nearest nanosecond; saturates.
    #[inline]
    #[must_use]
    pub fn mul_f64(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor + 0.5) as u64)
    }

    /// This span divided by a whole number, rounded down.
    ///
    /// # Panics
    /// When `divisor` is zero.
    #[inline]
    #[must_use]
    pub const fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for Duration {
    /// Writes the span with the largest unit that keeps it at or above one: `1.5 ms`, `20 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            1..1_000 => (1, " ns"),
            1_000..1_000_000 => (1_000, " us"),
            1_000_000..NANOS_PER_SEC => (1_000_000, " ms"),
            _ => (NANOS_PER_SEC, " s"),
        };
        Decimal { number: self.0, unit }.fmt(f)?;
        f.write_str(name)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal { number: self.0, unit: NANOS_PER_SEC }.fmt(f)?;
        f.write_str(" s")
    }
}

impl From<Duration> for core::time::Duration {
    fn from(span: Duration) -> Self {
        Self::from_nanos(span.0)
    }
}

/// The span, unless it is longer than [`Duration::MAX`], 584 years.
impl TryFrom<core::time::Duration> for Duration {
    type Error = TryFromIntError;

    fn try_from(span: core::time::Duration) -> Result<Self, TryFromIntError> {
        span.as_nanos().try_into().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_clock_that_goes_backwards_gives_no_time() {
        assert_eq!(Instant::from_nanos(5).since(Instant::from_nanos(9)), Duration::ZERO);
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.1), Duration::ms(100));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY), Duration::MAX);
    }

    #[test]
    fn spans_are_written_in_the_largest_unit_below_them() {
        for (ns, text) in [
            (0, "0 s"),
            (999, "999 ns"),
            (1_000, "1 us"),
            (803_700, "803.7 us"),
            (1_000_001, "1.000001 ms"),
            (9_200_000_000_000_000_000, "9200000000 s"),
            (u64::MAX, "18446744073.709551615 s"),
        ] {
            assert_eq!(Duration::ns(ns).to_string(), text);
        }
        assert_eq!(Instant::from_nanos(1_050_000_000).to_string(), "1.05 s");
    }

    #[test]
    fn spans_of_other_libraries_convert_as_far_as_they_fit() {
        let wall = core::time::Duration::from_millis(1_500);
        assert_eq!(core::time::Duration::from(Duration::ms(1_500)), wall);
        assert_eq!(Duration::try_from(wall), Ok(Duration::ms(1_500)));
        assert!(Duration::try_from(core::time::Duration::MAX).is_err());
    }

    #[test]
    fn sums_saturate() {
        assert_eq!(Instant::MAX + Duration::secs(1), Instant::MAX);
        assert_eq!(Duration::MAX + Duration::ns(1), Duration::MAX);
    }
}
