//! Numbers, bounds and counts of rows as people read them: shared by the terminal, the report and
//! the page of results. Tables in Markdown.

use crate::gallery::evaluate::{Evaluated, Measure, Verdict};
use crate::gallery::files::{Expected, Grade, Row, Tolerance};
use goodqueue_figure::short;

/// A row of a table in Markdown.
#[must_use]
pub fn table_row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let cell = |cell: S| cell.as_ref().replace('|', "\\|").replace('\n', " ");
    format!("| {} |\n", cells.into_iter().map(cell).collect::<Vec<_>>().join(" | "))
}

/// The headings of a table in Markdown.
#[must_use]
pub fn table_head<S: AsRef<str>>(heads: &[S]) -> String {
    format!("{}|{}\n", table_row(heads), "---|".repeat(heads.len()))
}

/// Returns the measured value, with its interval.
#[must_use]
pub fn measured(evaluated: &Evaluated) -> String {
    let value = match (&evaluated.value, evaluated.worst) {
        (Some(_), Some(worst)) => short(worst),
        (Some(Measure::Number(value)), None) => short(*value),
        (Some(Measure::Truth(value)), _) => value.to_string(),
        (Some(Measure::Truths(values)), _) => {
            format!("{} of {} true", values.iter().filter(|value| **value).count(), values.len())
        }
        _ => return "–".to_owned(),
    };
    let half = evaluated.interval.and_then(|interval| interval.ci95).map(|half| format!(" ± {}", short(half)));
    let several = match &evaluated.value {
        Some(Measure::Numbers(numbers)) if numbers.len() > 1 => format!(" (worst of {})", numbers.len()),
        _ => String::new(),
    };
    format!("{value}{}{several}", half.unwrap_or_default())
}

/// Returns the expected value, with the tolerance.
#[must_use]
pub fn expected(row: &Row) -> String {
    let value = match row.expected.get_ref() {
        Expected::Truth(value) => return value.to_string(),
        Expected::Number(value) => format!("{} {}", row.relation.sign(), short(*value)),
        Expected::Range([low, high]) => format!("{} to {}", short(*low), short(*high)),
    };
    let Tolerance { abs, rel, factor, below, above } = row.tolerance;
    let parts = [
        abs.map(|value| format!("± {}", short(value))),
        rel.map(|value| format!("± {} %", short(value * 100.0))),
        factor.map(|value| format!("within a factor of {}", short(value))),
        below.map(|value| format!("− {}", short(value))),
        above.map(|value| format!("+ {}", short(value))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{value} {}", parts.join(" ")).trim().to_owned()
}

/// Returns the numbers of rows that hold, fail, and are not comparable, of one grade or of all.
#[must_use]
pub fn counts(rows: &[(Row, Evaluated)], grade: Option<Grade>) -> [usize; 3] {
    let of = |verdict| {
        let fits =
            |(row, evaluated): &&(Row, Evaluated)| evaluated.verdict == verdict && grade.is_none_or(|grade| row.grade == grade);
        rows.iter().filter(fits).count()
    };
    [of(Verdict::Holds), of(Verdict::Fails), of(Verdict::NotComparable)]
}

/// The counts as a sentence.
#[must_use]
pub fn counted(rows: &[(Row, Evaluated)]) -> String {
    let [holds, fails, other] = counts(rows, None);
    format!("{holds} of {} rows hold, {fails} fail, {other} not comparable", rows.len())
}

/// All grades, in the order of reports.
pub const GRADES: [Grade; 4] = [Grade::A, Grade::B, Grade::C, Grade::U];

/// Why a row is not known to hold: its own reason, the mechanism, or that nobody has found one.
#[must_use]
pub fn reason(row: &Row, evaluated: &Evaluated) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(evaluated.reason.clone());
    parts.extend(row.why.clone());
    if parts.is_empty() && evaluated.verdict == Verdict::Fails {
        parts.push("no mechanism has been found yet".to_owned());
    }
    parts.extend(row.variant.as_ref().map(|variant| format!("Variant: {variant}")));
    parts.join(". ").replace("..", ".")
}
