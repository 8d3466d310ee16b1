//! `RESULTS.md`: every row of every paper, for reading where the repository is read.

use crate::gallery::cost::{ExperimentCost, of_paper};
use crate::gallery::evaluate::Verdict;
use crate::gallery::results::PaperResults;
use crate::gallery::words;
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use std::fmt::Write;

/// The page. `when` is the day it was made.
#[must_use]
pub fn markdown(all: &[PaperResults], costs: &[ExperimentCost], when: &str) -> String {
    let mode = all.first().map_or("quick", |results| results.mode.name());
    let mut text = format!(
        "# Results of the gallery\n\nThis page lists every statement of the reproduced studies, with our value and a verdict.\n\nMade by `gq reproduce all{}` of goodqueue {VERSION_AND_COMMIT} on {when}, in {mode} mode. Do not edit: \
         the command with `--markdown gallery/RESULTS.md` writes it again.\n\n",
        if mode == "full" { " --full" } else { "" }
    );
    text.push_str("Cells are rows that hold / fail / are only reported or could not be compared.\n\n");
    text.push_str("| study | A | B | C | U | all | CPU time |\n|---|---|---|---|---|---|---|\n");
    for results in all {
        let cell = |grade| {
            let [holds, fails, other] = words::counts(&results.rows, grade);
            if holds + fails + other == 0 { "–".to_owned() } else { format!("{holds} / {fails} / {other}") }
        };
        let cpu = of_paper(costs, &results.paper.id);
        let grades: Vec<String> = words::GRADES.iter().map(|grade| cell(Some(*grade))).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| [{}]({}/README.md) | {} | {} | {cpu:.0} s |",
            results.paper.title,
            results.paper.id,
            grades.join(" | "),
            cell(None)
        );
    }
    for results in all {
        paper(&mut text, results, costs);
    }
    text
}

fn paper(text: &mut String, results: &PaperResults, costs: &[ExperimentCost]) {
    let _ = write!(text, "\n## {}\n\n{}.\n\n", results.paper.title, words::counted(&results.rows));
    text.push_str("| row | grade | place | claim | measured | expected | verdict |\n|---|---|---|---|---|---|---|\n");
    for (row, evaluated) in &results.rows {
        let verdict = match evaluated.verdict {
            Verdict::Fails => "**fails**".to_owned(),
            verdict => verdict.name().to_owned(),
        };
        let cells = [
            row.id.get_ref().clone(),
            format!("{:?}", row.grade),
            row.place.clone(),
            format!("{} ({})", row.claim, row.metric),
            words::measured(evaluated),
            words::expected(row),
            verdict,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let failing: Vec<_> = results.rows.iter().filter(|(_, evaluated)| evaluated.verdict == Verdict::Fails).collect();
    if !failing.is_empty() {
        text.push_str("\nWhy rows fail:\n\n");
        for (row, evaluated) in failing {
            let _ = writeln!(text, "- {}: {}", row.id.get_ref(), words::reason(row, evaluated).replace('\n', " "));
        }
    }
    text.push_str("\n| experiment | points | runs | CPU time | its longest point |\n|---|---|---|---|---|\n");
    for cost in costs.iter().filter(|cost| cost.paper == results.paper.id) {
        let dominating = cost.dominating.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} s | {:.1} s: {dominating} |",
            cost.id, cost.points, cost.runs, cost.cpu_s, cost.dominating_cpu_s
        );
    }
}
