//! Settings: what candidates are compared in.

use crate::run::recommend::corners::Corner;
use crate::run::recommend::scenario::Length;
use crate::scenario::mix::Mix;
use std::fmt;

/// A mix at a corner of the line.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The mix of traffic.
    pub mix: &'static Mix,
    /// The corner of the line.
    pub corner: Corner,
    /// The length of its runs.
    pub length: Length,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.mix.name, self.corner)
    }
}
