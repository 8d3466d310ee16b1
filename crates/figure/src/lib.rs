//! Charts as SVG: the figures of the gallery and the pictures of the algorithm pages.
//!
//! A [`Figure`] is data: panels with axes, series of points, reference values, and names of the
//! curves. [`Figure::to_svg`] draws it for a [`Theme`]: a page that may be dark, or print;
//! [`Figure::to_paper`] for a column of a paper. Lengths are CSS pixels, 96 per inch.
//!
//! Own code and not a library, for four reasons. The files are committed and compared, so the same
//! figure must give the same bytes on every machine. A figure on a page follows the page's colors
//! and answers to a pointer, so its parts carry classes and titles. The colors are those of the
//! report, and figures of both stand side by side. And a plotting library brings text shaping and
//! raster back ends that take longer to build than `gq`'s own crates.

mod content;
mod draw;
pub mod file;
mod ink;
mod layout;
mod legend;
mod number;
pub mod palette;
pub mod plot;
mod scale;
mod svg;

pub use content::{Axis, Curve, Figure, Font, Panel, Paper, Point, Reference, Series, Shape, Size, Theme};
use layout::Layout;
pub use number::short;
pub use palette::{Hue, Look};

impl Figure {
    /// The figure as one SVG file.
    #[must_use]
    pub fn to_svg(&self, theme: Theme, font: Font) -> String {
        svg::figure(self, &Layout::page(theme, font))
    }

    /// The figure as one SVG file for paper: no title but those of panels, and margins as small as
    /// the letters allow; `None` if the height that is asked for leaves no room for the panels.
    #[must_use]
    pub fn to_paper(&self, paper: &Paper) -> Option<String> {
        let layout = Layout::paper(paper);
        svg::has_room(self, &layout).then(|| svg::figure(self, &layout))
    }
}

#[cfg(test)]
mod tests;
