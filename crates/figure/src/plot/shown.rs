//! A point of a result as it is shown, and the panel that it is shown in.

use crate::{Axis, Curve, Panel};

/// A point of the result with its look.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The place of the point in the result.
    pub(crate) place: usize,
    pub(crate) curve: Curve,
}

/// A coordinate system without series; its height is that of a figure of width 1.
pub(crate) fn empty_panel() -> Panel {
    Panel {
        title: String::new(),
        height: 0.0,
        x: Axis::default(),
        y: Axis::default(),
        shaded: Vec::new(),
        series: Vec::new(),
        references: Vec::new(),
    }
}
