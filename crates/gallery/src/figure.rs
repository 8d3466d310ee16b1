//! Figures: from finished points to the data of a [`goodqueue_figure::Figure`], and from its SVG to
//! PNG.

mod collect;
#[cfg(feature = "png")]
mod png;
#[cfg(not(feature = "png"))]
#[path = "figure/no_png.rs"]
mod png;
mod printed;

pub use collect::collect;
pub use png::{Fonts, png};

/// The reason why figures are not written as PNG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPng {
    /// Letters need a font.
    #[error("this machine has no fonts")]
    NoFonts,
    /// The rasteriser is an optional part of the program.
    #[error("this gq was built without `--features png`")]
    NotBuilt,
}

/// Reason why one figure has no PNG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PngError(String);

/// Factor from an SI value to a unit.
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
