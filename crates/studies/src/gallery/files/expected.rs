//! `expected.toml`: statements of the study as rows that can hold or fail.

use super::SourceFile;
use crate::gallery::error::FileFault;
use crate::gallery::expr::{self, Expr};
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// The strictness of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Grade {
    /// Must hold.
    A,
    /// Should hold.
    B,
    /// Is reported.
    C,
    /// Arithmetic or open-loop: must hold exactly.
    U,
}

/// The relation between the measured and the expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Relation {
    /// Equal within the tolerance.
    #[serde(rename = "=")]
    Equal,
    /// Less.
    #[serde(rename = "<")]
    Less,
    /// At most.
    #[serde(rename = "<=")]
    AtMost,
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// At least.
    #[serde(rename = ">=")]
    AtLeast,
    /// Within a range, both ends included.
    #[serde(rename = "in")]
    Within,
    /// A statement about how something rises or falls: true or false.
    #[serde(rename = "trend")]
    Trend,
    /// A statement about an order: true or false.
    #[serde(rename = "order")]
    Order,
    /// Any other statement: true or false.
    #[serde(rename = "bool")]
    Bool,
}

impl Relation {
    /// As it is written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Within => "in",
            Self::Trend => "trend",
            Self::Order => "order",
            Self::Bool => "bool",
        }
    }

    /// Whether it is a statement that is true or false.
    #[must_use]
    pub const fn is_statement(self) -> bool {
        matches!(self, Self::Trend | Self::Order | Self::Bool)
    }
}

/// Value that the study gives.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Expected {
    /// A statement.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A range.
    Range([f64; 2]),
}

/// The deviation from the expected value with which a row still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// In the unit of the value, on both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abs: Option<f64>,
    /// As a part of the expected value, on both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rel: Option<f64>,
    /// By this factor, up or down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// In the unit of the value, below only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// In the unit of the value, above only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
}

/// One statement.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `T-CP-01`.
    pub id: Spanned<String>,
    /// The place of the statement in the study.
    pub place: String,
    /// The strictness of the row.
    pub grade: Grade,
    /// The experiments it needs; none for arithmetic.
    #[serde(default)]
    pub experiments: Vec<Spanned<String>>,
    /// The statement, in our words.
    pub claim: String,
    /// The quantity that is measured, and its unit.
    pub metric: String,
    /// The text of the expression that measures it; `expr` is the same, parsed.
    pub measure: Spanned<String>,
    /// See `measure`.
    #[serde(skip)]
    pub expr: Expr,
    /// The relation between the measured and the expected value.
    pub relation: Relation,
    /// The expected value.
    pub expected: Spanned<Expected>,
    /// The allowed deviation.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// The value is only reported next to the printed one.
    #[serde(default, skip_serializing)]
    pub report_only: bool,
    /// Why it is known to fail: the mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The parameter choice that gives the printed value, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedFile {
    #[serde(rename = "goodqueue-gallery")]
    format: Spanned<u32>,
    /// Missing is not the same as empty: a paper without statements has an empty list.
    row: Option<Vec<Row>>,
}

pub(super) fn read(source: &SourceFile) -> Result<Vec<Row>, FileFault> {
    let file: ExpectedFile = source.parse()?;
    source.check_format(&file.format)?;
    let Some(mut rows) = file.row else {
        let message = "has no row: expected statements, or `row = []` where no study makes any".to_owned();
        return Err(FileFault::in_file(&source.name, message));
    };
    for row in &mut rows {
        row.expr = expr::parse(row.measure.get_ref(), &[])
            .map_err(|error| source.fault_in(&row.measure, &error, &format!("row.{}.measure", row.id.get_ref())))?;
    }
    Ok(rows)
}

impl Row {
    pub(super) fn check(&self, source: &SourceFile, field: &str) -> Result<(), FileFault> {
        let fits = match (self.relation, self.expected.get_ref()) {
            (relation, Expected::Truth(_)) => relation.is_statement(),
            (Relation::Within, Expected::Range([low, high])) => low <= high,
            (Relation::Within, Expected::Number(_)) | (_, Expected::Range(_)) => false,
            (relation, Expected::Number(_)) => !relation.is_statement(),
        };
        if !fits {
            let allowed = match self.relation {
                Relation::Within => "a range [low, high]",
                relation if relation.is_statement() => "true or false",
                _ => "a number",
            };
            let message = format!("does not go with relation `{}`: allowed {allowed}", self.relation.sign());
            return Err(source.fault(&self.expected.span(), &format!("{field}.expected"), message));
        }
        let ends: &[f64] = match self.expected.get_ref() {
            Expected::Truth(_) => &[],
            Expected::Number(number) => std::slice::from_ref(number),
            Expected::Range(range) => range,
        };
        if let Some(end) = ends.iter().find(|end| !end.is_finite()) {
            let message = format!("{end} is out of range: allowed finite numbers");
            return Err(source.fault(&self.expected.span(), &format!("{field}.expected"), message));
        }
        let Tolerance { abs, rel, factor, below, above } = self.tolerance;
        let negative = [abs, rel, below, above].into_iter().flatten().find(|value| !(*value >= 0.0 && value.is_finite()));
        if let Some(value) = negative.or(factor.filter(|value| !(*value >= 1.0 && value.is_finite()))) {
            let message = format!("{value} is out of range: allowed 0 or more, a factor of 1 or more");
            return Err(source.fault(&self.id.span(), &format!("{field}.tolerance"), message));
        }
        Ok(())
    }
}
