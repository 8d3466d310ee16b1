//! A point of a result as it is shown.

use crate::Curve;

/// A point of the result with its look.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The place of the point in the result.
    pub(crate) place: usize,
    pub(crate) curve: Curve,
}
