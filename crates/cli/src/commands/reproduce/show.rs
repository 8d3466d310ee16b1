//! The rows on standard output.

use goodqueue_gallery::evaluate::{Evaluated, Measure, Verdict};
use goodqueue_gallery::files::{Expected, Row, Tolerance};
use goodqueue_gallery::results::PaperResults;
use std::fmt::Write;

/// All rows of all papers, and how many hold.
pub fn text(all: &[PaperResults]) -> String {
    let mut text = String::new();
    for results in all {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} ({}): {}", results.paper.title, results.paper.id, counts(&results.rows));
        for (row, evaluated) in &results.rows {
            let _ = writeln!(text, "{}", line(row, evaluated));
        }
    }
    text
}

fn counts(rows: &[(Row, Evaluated)]) -> String {
    let of = |verdict| rows.iter().filter(|(_, evaluated)| evaluated.verdict == verdict).count();
    let (holds, fails, other) = (of(Verdict::Holds), of(Verdict::Fails), of(Verdict::NotComparable));
    format!("{holds} of {} rows hold, {fails} fail, {other} not comparable", rows.len())
}

fn line(row: &Row, evaluated: &Evaluated) -> String {
    let mut line = format!("  {:<9} {:?} {:<14} ", row.id.get_ref(), row.grade, evaluated.verdict.name());
    match (&evaluated.value, evaluated.worst) {
        (Some(_), Some(worst)) => line.push_str(&number(worst)),
        (Some(Measure::Number(value)), None) => line.push_str(&number(*value)),
        (Some(Measure::Truth(value)), _) => line.push_str(if *value { "true" } else { "false" }),
        (Some(Measure::Truths(values)), _) => {
            let _ = write!(line, "{} of {} true", values.iter().filter(|value| **value).count(), values.len());
        }
        _ => {}
    }
    if let Some(half) = evaluated.interval.and_then(|interval| interval.ci95) {
        let _ = write!(line, " +- {}", number(half));
    }
    if !row.relation.is_statement() {
        let _ = write!(line, ", expected {}", expected(row));
    }
    let _ = write!(line, "  {}", row.claim);
    if let Some(reason) = evaluated.reason.as_deref().filter(|_| evaluated.value.is_none()) {
        let _ = write!(line, "\n            {reason}");
    }
    line
}

fn expected(row: &Row) -> String {
    let value = match row.expected.get_ref() {
        Expected::Truth(value) => value.to_string(),
        Expected::Number(value) => number(*value),
        Expected::Range([low, high]) => format!("{} to {}", number(*low), number(*high)),
    };
    let sign = if matches!(row.expected.get_ref(), Expected::Range(_)) { "" } else { row.relation.sign() };
    let Tolerance { abs, rel, factor, below, above } = row.tolerance;
    let parts = [
        abs.map(|value| format!("+- {}", number(value))),
        rel.map(|value| format!("+- {} %", number(value * 100.0))),
        factor.map(|value| format!("factor {}", number(value))),
        below.map(|value| format!("- {}", number(value))),
        above.map(|value| format!("+ {}", number(value))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{sign} {value} {}", parts.join(" ")).trim().to_owned()
}

/// Four significant digits.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".to_owned(),
        _ if size >= 1e6 || size < 1e-3 => format!("{value:.3e}"),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
