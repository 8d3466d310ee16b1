//! The rows on standard output.

use goodqueue_studies::gallery::evaluate::Evaluated;
use goodqueue_studies::gallery::files::Row;
use goodqueue_studies::gallery::results::PaperResults;
use goodqueue_studies::gallery::words;
use std::fmt::Write;

/// All rows of all papers, and how many hold.
pub fn text(all: &[PaperResults]) -> String {
    let mut text = String::new();
    for results in all {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} ({}): {}", results.paper.title, results.paper.id, words::counted(&results.rows));
        let widest = |width: fn(&(Row, Evaluated)) -> usize| results.rows.iter().map(width).max().unwrap_or(0);
        let widths = [
            widest(|(row, _)| row.id.get_ref().chars().count()),
            widest(|(_, evaluated)| words::measured(evaluated).chars().count()),
            widest(|(row, _)| words::expected(row).chars().count()),
        ];
        for (row, evaluated) in &results.rows {
            let _ = writeln!(text, "{}", line(row, evaluated, widths));
        }
    }
    text
}

/// A row on one line, with widths of the columns of its name and of what is measured and expected.
fn line(row: &Row, evaluated: &Evaluated, [name, measured, expected]: [usize; 3]) -> String {
    let mut line = format!(
        "  {:<name$} {:?} {:<14} {:<measured$} expected {:<expected$} {}",
        row.id.get_ref(),
        row.grade,
        evaluated.verdict.name(),
        words::measured(evaluated),
        words::expected(row),
        row.claim
    );
    if let Some(reason) = evaluated.reason.as_deref().filter(|_| evaluated.value.is_none()) {
        let _ = write!(line, "\n            {reason}");
    }
    line
}
