//! The rows on standard output.

use goodqueue_gallery::evaluate::Evaluated;
use goodqueue_gallery::files::Row;
use goodqueue_gallery::results::PaperResults;
use goodqueue_gallery::words;
use std::fmt::Write;

/// All rows of all papers, and how many hold.
pub fn text(all: &[PaperResults]) -> String {
    let mut text = String::new();
    for results in all {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} ({}): {}", results.paper.title, results.paper.id, words::counted(&results.rows));
        let widest = results.rows.iter().map(|(row, _)| row.id.get_ref().chars().count()).max().unwrap_or(0);
        for (row, evaluated) in &results.rows {
            let _ = writeln!(text, "{}", line(row, evaluated, widest));
        }
    }
    text
}

/// A row on one line, its name in a column of this width.
fn line(row: &Row, evaluated: &Evaluated, widest: usize) -> String {
    let mut line = format!(
        "  {:<widest$} {:?} {:<14} {:<28} expected {:<24} {}",
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
