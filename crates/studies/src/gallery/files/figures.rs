//! Figures and tables, as `paper.toml` defines them.

use super::SourceFile;
use crate::gallery::error::FileFault;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The kind of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// A curve for each value of one axis, over another.
    Lines,
    /// A bar for each value of an axis.
    Bars,
    /// The spread over runs, for each value of an axis.
    Boxes,
    /// Sampled values over time.
    Time,
}

/// One text or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, String> {
        match self {
            Self::One(one) => std::slice::from_ref(one).iter(),
            Self::Many(many) => many.iter(),
        }
    }
}

impl<'a> IntoIterator for &'a OneOrMany {
    type Item = &'a String;
    type IntoIter = std::slice::Iter<'a, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One value of a filter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum FilterValue {
    /// A number in SI units.
    Number(f64),
    /// A name, a quantity, or a comparison such as `>=2`.
    Text(String),
    /// Any of these.
    Any(Vec<FilterValue>),
}

/// Axes and what they must be.
pub type FilterSpec = BTreeMap<String, FilterValue>;

/// One figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// `1a`; names its files.
    pub id: Spanned<String>,
    /// The title, which says what the figure shows.
    pub title: String,
    /// The place of the figure in the study.
    pub place: String,
    /// The kind of the figure.
    pub kind: FigureKind,
    /// The experiments that the values come from.
    pub experiment: Spanned<OneOrMany>,
    /// The axis along x; not for time.
    pub x: Option<Spanned<String>>,
    /// The title of the x axis.
    #[serde(default)]
    pub x_label: String,
    /// Unit of x: values are divided to fit it.
    #[serde(default)]
    pub x_unit: String,
    /// Lower end of x.
    pub x_min: Option<f64>,
    /// Upper end of x.
    pub x_max: Option<f64>,
    /// x is on a logarithmic scale.
    #[serde(default)]
    pub x_log: bool,
    /// The metric along y; not for time.
    pub y: Option<OneOrMany>,
    /// The title of the y axis.
    #[serde(default)]
    pub y_label: String,
    /// Unit of y.
    #[serde(default)]
    pub y_unit: String,
    /// y is on a logarithmic scale.
    #[serde(default)]
    pub y_log: bool,
    /// Lower end of y.
    pub y_min: Option<f64>,
    /// Upper end of y.
    pub y_max: Option<f64>,
    /// The axis that makes curves.
    pub curve: Option<Spanned<String>>,
    /// The axis that makes panels.
    pub panel: Option<Spanned<String>>,
    /// For figures over time: the columns drawn.
    pub series: Option<OneOrMany>,
    /// Whiskers reach from the smallest to the largest run, instead of over the mean's 95 %
    /// interval.
    #[serde(default)]
    pub range: bool,
    /// For figures over time: means over this many seconds are drawn instead of samples.
    pub bin_s: Option<f64>,
    /// For figures over time: the mean of everything so far is drawn.
    #[serde(default)]
    pub running: bool,
    /// For figures over time: the integral so far is drawn, of a rate the amount.
    #[serde(default)]
    pub total: bool,
    /// The filter that selects points.
    #[serde(default, rename = "where")]
    pub filter: FilterSpec,
    /// A remark below it.
    pub note: Option<String>,
}

impl FigureSpec {
    pub(super) fn check(&self, source: &SourceFile, field: &str) -> Result<(), FileFault> {
        let missing = |what: &str| Err(source.fault(&self.id.span(), field, format!("has no `{what}`")));
        if (self.bin_s.is_some() || self.running || self.total) && self.kind != FigureKind::Time {
            let message = "has `bin_s`, `running` or `total`, which only time has a use for".to_owned();
            return Err(source.fault(&self.id.span(), field, message));
        }
        if self.bin_s.is_some_and(|bin| bin.is_nan() || bin <= 0.0) {
            return Err(source.fault(&self.id.span(), field, "has a `bin_s` that is not above 0".into()));
        }
        match self.kind {
            FigureKind::Time if self.series.is_none() => missing("series"),
            FigureKind::Time => Ok(()),
            _ if self.x.is_none() => missing("x"),
            _ if self.y.is_none() => missing("y"),
            _ => Ok(()),
        }
    }
}

/// One table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// `2`; names its files.
    pub id: Spanned<String>,
    /// The title, which says what the table shows.
    pub title: String,
    /// The place of the table in the study.
    pub place: String,
    /// The experiments that the values come from.
    pub experiment: Spanned<OneOrMany>,
    /// The axis whose values are its rows.
    pub rows: Spanned<String>,
    /// The filter that selects points.
    #[serde(default, rename = "where")]
    pub filter: FilterSpec,
    /// The columns of the table.
    #[serde(default)]
    pub columns: Vec<ColumnSpec>,
    /// A remark below it.
    pub note: Option<String>,
}

/// One column of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// The heading of the column.
    pub label: String,
    /// The unit of the values.
    #[serde(default)]
    pub unit: String,
    /// An expression in which `row` is the axis's value.
    pub measure: Spanned<String>,
    /// The values that the study prints, by row.
    #[serde(default)]
    pub printed: BTreeMap<String, f64>,
    /// Digits after the decimal point.
    pub digits: Option<usize>,
}

impl ColumnSpec {
    /// The heading with the unit.
    #[must_use]
    pub fn heading(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} [{}]", self.label, self.unit) }
    }
}

impl TableSpec {
    pub(super) fn check(&self, source: &SourceFile, field: &str) -> Result<(), FileFault> {
        for column in &self.columns {
            let field = format!("{field}.columns.{}.measure", column.label);
            crate::gallery::expr::parse(column.measure.get_ref(), &["row"])
                .map_err(|error| source.fault_in(&column.measure, &error, &field))?;
        }
        Ok(())
    }
}
