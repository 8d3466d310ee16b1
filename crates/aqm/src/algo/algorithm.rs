//! The link between an algorithm and its kinds.

use crate::aqm::Aqm;
use crate::spec::{KindSpec, LinkFacts, ParamError, ParamValues};

/// The part of an algorithm's file besides [`Aqm`]: its kinds, and how to build it from parameters.
pub trait Algorithm: Aqm + Sized {
    /// The kinds this file implements, usually one.
    const KINDS: &'static [KindSpec];

    /// Builds the algorithm for a link.
    ///
    /// # Errors
    /// When parameters contradict each other or the link; single values are already checked against
    /// their ranges.
    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError>;
}
