//! Sizes in bytes and counts of packets.

use crate::units::decimal::Decimal;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub, SubAssign};

macro_rules! count_type {
    ($(#[$doc:meta])* $name:ident($inner:ty), $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// The largest representable count.
            pub const MAX: Self = Self(<$inner>::MAX);

            /// Creates a count.
            #[inline]
            #[must_use]
            pub const fn new(count: $inner) -> Self {
                Self(count)
            }

            /// The bare number.
            #[inline]
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }

            /// The difference, zero where it would be negative.
            #[inline]
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// Whether this is zero.
            #[inline]
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = Self;
            /// In debug builds, when the result would be negative, which is a bookkeeping error.
            #[inline]
            fn sub(self, other: Self) -> Self {
                debug_assert!(self.0 >= other.0, "negative count");
                Self(self.0.wrapping_sub(other.0))
            }
        }

        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, |a, b| a + b)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Decimal { number: self.0, unit: 1 }.fmt(f)?;
                f.write_str(concat!(" ", $unit))
            }
        }
    };
}

count_type!(
    /// A size in bytes.
    Bytes(u64),
    "B"
);
count_type!(
    /// A number of packets.
    Packets(u64),
    "packets"
);

impl Bytes {
    /// The size in bits; saturates.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
}
