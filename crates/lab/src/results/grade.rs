//! Grades of figures, by what they mean to people: good, fair, poor or unusable.

use serde::Serialize;

/// The grade of an activity, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Nobody notices the queue.
    Good,
    /// Noticed, not minded.
    Fair,
    /// Minded.
    Poor,
    /// Given up.
    Unusable,
}

impl Grade {
    /// All of them, the best first.
    pub const ALL: [Self; 4] = [Self::Good, Self::Fair, Self::Poor, Self::Unusable];

    /// The name of the grade.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::Unusable => "unusable",
        }
    }
}

/// The worst values of a figure that are still good, fair and poor, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Good, fair, poor.
    pub bounds: [f64; 3],
    /// The source of the bounds.
    pub source: &'static str,
}

impl Bounds {
    /// The grade of a figure that is `advantage(value, bound)` better than each bound.
    pub(crate) fn grade(&self, advantage: impl Fn(f64) -> f64) -> Grade {
        let held = self.bounds.iter().position(|bound| advantage(*bound) >= 0.0);
        Grade::ALL[held.unwrap_or(3)]
    }
}
