//! The content of a figure.

use crate::palette::Look;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name that is unique on a page.
    pub id: String,
    /// Title, for readers who do not see it; drawn above a lone panel without a title of its own.
    pub title: String,
    /// Size and arrangement.
    pub size: Size,
    /// The panels, line by line.
    pub panels: Vec<Panel>,
    /// Names and looks of the curves; an empty name has no entry in the legend.
    pub curves: Vec<Curve>,
}

/// Size and arrangement of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width of all in pixels.
    pub width: f64,
    /// Panels side by side.
    pub columns: usize,
}

/// Surroundings that a figure is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// A page in the light or dark colors that the reader prefers.
    Page,
    /// Paper: light colors, whatever the reader prefers.
    Print,
}

/// Letters of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Font {
    /// As on pages.
    Sans,
    /// As in papers.
    Serif,
}

/// Paper that a figure is drawn for: its size is that of a column, and its letters those of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// Names of fonts as in CSS, the preferred one first.
    pub family: String,
    /// Size of the titles of axes in CSS pixels, 4/3 of a point; ticks are a tenth smaller.
    pub letters: f64,
    /// Height of all in pixels; panels are as tall as they say where it is not given.
    pub height: Option<f64>,
}

/// Name and look of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Color, dash and mark.
    pub look: Look,
}

/// One coordinate system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Title above it.
    pub title: String,
    /// Height of the plot, without titles and axes.
    pub height: f64,
    /// Direction across.
    pub x: Axis,
    /// Direction up.
    pub y: Axis,
    /// Stretches of x that are shaded.
    pub shaded: Vec<(f64, f64)>,
    /// The series to draw, the first below the others.
    pub series: Vec<Series>,
    /// Values of another source next to the curves, such as those that a study prints.
    pub references: Vec<Reference>,
}

/// One direction of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The title of the axis, without the unit.
    pub label: String,
    /// The unit of the values.
    pub unit: String,
    /// Logarithmic, instead of linear.
    pub log: bool,
    /// Lower end, where it is given.
    pub min: Option<f64>,
    /// Upper end, where it is given.
    pub max: Option<f64>,
    /// Names of equally spaced places 0, 1, 2 … instead of numbers.
    pub categories: Option<Vec<String>>,
    /// Values that have a tick where there is room, instead of round ones.
    pub ticks: Vec<f64>,
}

/// Points of one curve in one panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The place of the curve among those of the figure.
    pub curve: usize,
    /// The shape in which the series is drawn.
    pub shape: Shape,
    /// The points, in the order of the line.
    pub points: Vec<Point>,
}

/// Shapes of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line with a mark and an interval at each point.
    Marked,
    /// A line alone.
    Line,
    /// A line that stays at a value until the next.
    Steps,
    /// Marks alone.
    Scatter,
    /// The area between the ends of the intervals.
    Band,
    /// Bars from zero.
    Bars,
    /// Boxes from quartile to quartile.
    Boxes,
    /// Strokes at the foot of the panel, longer for greater values; y is a count and not on the
    /// scale.
    Strokes,
}

/// One point of a series, in the figure's units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Position across.
    pub x: f64,
    /// Value; a line breaks where it is not finite.
    pub y: f64,
    /// Ends of the interval or of the whiskers.
    pub interval: Option<(f64, f64)>,
    /// Ends of the interval across, of marks alone.
    pub across: Option<(f64, f64)>,
    /// First and third quartile, of boxes.
    pub quartiles: Option<(f64, f64)>,
    /// Words for a reader who points at it.
    pub words: String,
}

/// A value of another source next to a point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The curve it belongs to.
    pub curve: usize,
    /// Position across.
    pub x: f64,
    /// The value itself, if one is given.
    pub value: Option<f64>,
    /// Least value that agrees; none where all below agree.
    pub low: Option<f64>,
    /// Greatest value that agrees; none where all above agree.
    pub high: Option<f64>,
    /// Words for a reader who points at it.
    pub words: String,
}

impl Reference {
    /// Whether this one has the place and the values of another one, of whatever curve.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        (self.x, self.value, self.low, self.high) == (other.x, other.value, other.low, other.high)
    }
}
