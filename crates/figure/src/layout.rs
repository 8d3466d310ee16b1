//! Sizes of everything that is not a curve: for pages they are fixed, for paper they follow from
//! the letters.

use crate::{Figure, Font, Paper, Theme};

/// About the width of a letter, as a part of its size.
const LETTER: f64 = 6.7 / 11.0;
/// Size of the axis titles of a page in pixels; what is fixed there is scaled from it for paper.
const PAGE_LETTERS: f64 = 12.0;

/// Lengths in pixels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) theme: Theme,
    /// Names of fonts, the preferred one first.
    pub(crate) family: String,
    /// Size of titles of axes.
    pub(crate) letters: f64,
    /// Size of ticks and of the legend.
    pub(crate) small: f64,
    /// Size of slanted names.
    pub(crate) slanted: f64,
    /// Room left of the plot; `None`: as the numbers need.
    left: Option<f64>,
    pub(crate) right: f64,
    /// Room above the plot where there is a title, and where there is none.
    title: [f64; 2],
    pub(crate) ticks: f64,
    pub(crate) label: f64,
    pub(crate) gap: f64,
    /// Between lines of the legend.
    pub(crate) line: f64,
    /// Length of a sample of a line in the legend.
    pub(crate) key: f64,
    /// Paper measures in inches, and no title is drawn that is not a panel's own.
    pub(crate) is_paper: bool,
    /// Height of all, where it is given.
    pub(crate) height: Option<f64>,
}

impl Layout {
    pub(crate) fn page(theme: Theme, font: Font) -> Self {
        let family = match font {
            Font::Sans => "Inter, DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif",
            Font::Serif => "DejaVu Serif, Liberation Serif, Times, serif",
        };
        Self {
            theme,
            family: family.to_owned(),
            letters: PAGE_LETTERS,
            small: 11.0,
            slanted: 10.0,
            left: Some(62.0),
            right: 14.0,
            title: [30.0, 30.0],
            ticks: 22.0,
            label: 22.0,
            gap: 8.0,
            line: 18.0,
            key: 24.0,
            is_paper: false,
            height: None,
        }
    }

    pub(crate) fn paper(paper: &Paper) -> Self {
        let scale = paper.letters / PAGE_LETTERS;
        Self {
            theme: Theme::Print,
            family: paper.family.clone(),
            letters: paper.letters,
            small: 0.9 * paper.letters,
            slanted: 0.9 * paper.letters,
            left: None,
            right: 8.0 * scale,
            title: [28.0 * scale, 6.0 * scale],
            ticks: 18.0 * scale,
            label: 18.0 * scale,
            gap: 4.0 * scale,
            line: 15.0 * scale,
            key: 24.0 * scale,
            is_paper: true,
            height: paper.height,
        }
    }

    /// Factor from lengths of a page.
    pub(crate) fn scale(&self) -> f64 {
        self.letters / PAGE_LETTERS
    }

    /// Returns the approximate width of `letters` small letters.
    pub(crate) fn width_of(&self, letters: usize) -> f64 {
        LETTER * self.small * letters as f64
    }

    /// Returns the room left of a plot whose longest tick has `longest` letters: for the ticks, a
    /// gap and the title of the axis.
    pub(crate) fn left(&self, longest: usize) -> f64 {
        self.left.unwrap_or_else(|| self.width_of(longest) + 6.0 * self.scale() + 1.7 * self.letters)
    }

    /// Returns the left edge of the legend.
    pub(crate) fn legend_left(&self) -> f64 {
        self.left.unwrap_or(self.right)
    }

    /// From the plot to the middle of the title of the axis at its left.
    pub(crate) fn title_left(&self, longest: usize) -> f64 {
        if self.left.is_some() { 46.0 } else { self.left(longest) - 1.1 * self.letters }
    }

    /// Room above the plot of a panel.
    pub(crate) fn top(&self, figure: &Figure, title: &str) -> f64 {
        let is_empty = title.is_empty() && (self.is_paper || figure.panels.len() != 1);
        self.title[usize::from(is_empty)]
    }
}
