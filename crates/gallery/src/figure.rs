//! Figures: from finished points to curves, bars, boxes or series, then to SVG and PNG.

mod collect;
mod png;
mod scale;
mod svg;

pub use collect::collect;
pub use png::{Fonts, png};
pub use svg::svg;
pub(crate) use svg::{escape, short};

use crate::files::FigureKind;

/// A figure ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Its paper and id.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Where the study has it.
    pub place: String,
    /// A remark below it.
    pub note: Option<String>,
    /// How it is drawn.
    pub kind: FigureKind,
    /// Do whiskers reach over all runs, instead of over the mean's interval?
    pub range: bool,
    /// Along x.
    pub x: AxisSpec,
    /// Along y.
    pub y: AxisSpec,
    /// One or several.
    pub panels: Vec<Panel>,
    /// Names of all curves, in the order of their colours.
    pub curves: Vec<String>,
}

/// One direction of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSpec {
    /// What it is.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Logarithmic?
    pub log: bool,
    /// Ends, where they are given.
    pub min: Option<f64>,
    /// See `min`.
    pub max: Option<f64>,
    /// Names of equally spaced places instead of numbers.
    pub categories: Option<Vec<String>>,
}

/// One coordinate system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What is particular to it; empty when there is one only.
    pub title: String,
    /// Its curves: the number among the figure's names, and the marks.
    pub curves: Vec<(usize, Vec<Mark>)>,
}

/// One point of a curve, bar or box, in the figure's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// Position.
    pub x: f64,
    /// Mean over replications, or median over runs.
    pub y: f64,
    /// Ends of the interval, or of the whiskers.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// First and third quartile, of boxes.
    pub quartiles: Option<(f64, f64)>,
}

/// What an SI value is multiplied by to be in a unit.
#[must_use]
pub fn factor(unit: &str) -> f64 {
    match unit {
        "%" => 100.0,
        "ms" | "kB^-1" => 1e3,
        "us" | "µs" => 1e6,
        "kbit/s" | "kB" | "kb/s" => 1e-3,
        "Mbit/s" | "MB" | "Mb/s" => 1e-6,
        "Gbit/s" | "Gbit" | "GB" | "Gb/s" => 1e-9,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
