//! A number between zero and one.

use core::fmt;

/// A probability: a finite number in `[0, 1]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// The value was below zero, above one or not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbabilityError(pub f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// Checks that `value` is in `[0, 1]`.
    ///
    /// # Errors
    /// [`ProbabilityError`] otherwise, also for NaN.
    pub fn new(value: f64) -> Result<Self, ProbabilityError> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value)) } else { Err(ProbabilityError(value)) }
    }

    /// The bare number in `[0, 1]`.
    #[inline]
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for ProbabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a probability: allowed 0 to 1", self.0)
    }
}

impl core::error::Error for ProbabilityError {}
