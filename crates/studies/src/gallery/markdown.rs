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
    text.push_str(&words::table_head(&["study", "A", "B", "C", "U", "all", "CPU time"]));
    for results in all {
        let cell = |grade| {
            let [holds, fails, other] = words::counts(&results.rows, grade);
            if holds + fails + other == 0 { "–".to_owned() } else { format!("{holds} / {fails} / {other}") }
        };
        let link = format!("[{}]({}/README.md)", results.paper.title, results.paper.id);
        let grades = words::GRADES.into_iter().map(Some).chain([None]).map(cell);
        let cpu = format!("{:.0} s", of_paper(costs, &results.paper.id));
        text.push_str(&words::table_row([link].into_iter().chain(grades).chain([cpu])));
    }
    for results in all {
        paper(&mut text, results, costs);
    }
    text
}

fn paper(text: &mut String, results: &PaperResults, costs: &[ExperimentCost]) {
    let _ = write!(text, "\n## {}\n\n{}.\n\n", results.paper.title, words::counted(&results.rows));
    text.push_str(&words::table_head(&["row", "grade", "place", "claim", "measured", "expected", "verdict"]));
    for (row, evaluated) in &results.rows {
        let verdict = match evaluated.verdict {
            Verdict::Fails => "**fails**".to_owned(),
            verdict => verdict.name().to_owned(),
        };
        text.push_str(&words::table_row([
            row.id.get_ref().clone(),
            format!("{:?}", row.grade),
            row.place.clone(),
            format!("{} ({})", row.claim, row.metric),
            words::measured(evaluated),
            words::expected(row),
            verdict,
        ]));
    }
    let failing: Vec<_> = results.rows.iter().filter(|(_, evaluated)| evaluated.verdict == Verdict::Fails).collect();
    if !failing.is_empty() {
        text.push_str("\nWhy rows fail:\n\n");
        for (row, evaluated) in failing {
            let _ = writeln!(text, "- {}: {}", row.id.get_ref(), words::reason(row, evaluated).replace('\n', " "));
        }
    }
    text.push('\n');
    text.push_str(&words::table_head(&["experiment", "points", "runs", "CPU time", "its longest point"]));
    for cost in costs.iter().filter(|cost| cost.paper == results.paper.id) {
        let longest = format!("{:.1} s: {}", cost.dominating_cpu_s, cost.dominating);
        let (points, runs, cpu) = (cost.points.to_string(), cost.runs.to_string(), format!("{:.1} s", cost.cpu_s));
        text.push_str(&words::table_row([&cost.id, &points, &runs, &cpu, &longest]));
    }
}
