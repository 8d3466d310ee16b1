//! The evaluation as a page of Markdown: scorecard, then a table for each family.

use crate::evaluate::evaluation::{Counts, Evaluation, FamilyResult, Line, MeasuredValue, Standing};
use crate::evaluate::measure::Measure;
use crate::gallery::words::{table_head, table_row};
use goodqueue_figure::short;
use std::fmt::Write as _;

/// The page. `command` made it.
#[must_use]
pub fn markdown(evaluation: &Evaluation, command: &str) -> String {
    let mut text = format!(
        "# Scorecard of {}\n\nMade by `{command}` of goodqueue {} ({}), sources {}; {} runs{}. Do not edit.\n\n{}\n\n",
        evaluation.document,
        evaluation.version,
        evaluation.commit,
        evaluation.sources,
        evaluation.runs,
        terms(evaluation),
        rule(evaluation)
    );
    scorecard(&mut text, evaluation);
    text.push('\n');
    text.push_str(&table_head(&["subject", "settings", "fingerprint of its runs"]));
    for subject in &evaluation.subjects {
        let code = |text: &str| format!("`{text}`");
        text.push_str(&table_row([subject.name.clone(), code(&subject.settings), code(&subject.fingerprint)]));
    }
    for family in &evaluation.families {
        one(&mut text, evaluation, family);
    }
    text.push_str("\n## Not run\n\n");
    text.push_str(&table_head(&["section", "what", "why"]));
    text.extend(evaluation.suite.left_out.iter().map(table_row));
    text
}

/// Host, time and seed in words.
#[must_use]
pub fn terms(evaluation: &Evaluation) -> String {
    let host = match evaluation.host_notes.get("kernel") {
        Some(kernel) => format!(" on {} ({kernel})", evaluation.host),
        None => format!(", {:.0} s of processor time", evaluation.cpu_s),
    };
    format!("{host}, seed {}", evaluation.seed.unwrap_or(1))
}

/// Returns the rule by which the scorecard counts, in words.
#[must_use]
pub fn rule(evaluation: &Evaluation) -> String {
    let baseline = evaluation.subjects.iter().find(|one| one.is_baseline).map_or("", |one| one.name.as_str());
    format!(
        "Cells count comparisons with {baseline}, replication by replication: better / level / worse. Better and worse are \
         differences whose paired 95 % interval excludes zero and that are more than 2 % of {baseline}'s value. Counts weigh every figure \
         the same; the tables below say what each is worth."
    )
}

fn scorecard(text: &mut String, evaluation: &Evaluation) {
    let Some(first) = evaluation.scorecard.first() else { return };
    let heads: Vec<&str> =
        [evaluation.suite.judges.name()].into_iter().chain(first.aspects.keys().map(|aspect| aspect.name())).collect();
    text.push_str(&table_head(&heads));
    for (score, _) in evaluation.scorecard.iter().zip(&evaluation.subjects).filter(|(_, subject)| !subject.is_baseline) {
        text.push_str(&table_row([score.subject.clone()].into_iter().chain(score.aspects.values().map(|counts| tally(*counts)))));
    }
}

/// `3 / 1 / 0`, or a dash for no comparison.
#[must_use]
pub fn tally(counts: Counts) -> String {
    if counts == Counts::default() {
        return "–".to_owned();
    }
    format!("{} / {} / {}", counts.better, counts.level, counts.worse)
}

fn one(text: &mut String, evaluation: &Evaluation, result: &FamilyResult) {
    let family = result.family;
    let _ = write!(
        text,
        "\n## {}\n\n{} §{}, {}. {}\n\n",
        family.title,
        evaluation.document,
        family.section,
        family.level.name(),
        family.asks
    );
    let (names, heads) = heads(result);
    text.push_str(&table_head(&names.iter().map(|name| (*name).to_owned()).chain(heads).collect::<Vec<_>>()));
    for point in &result.points {
        for line in &point.lines {
            let place = place(result, point.placement, point.point);
            let cells = match &line.not_applicable {
                Some(reason) => vec![format!("does not apply: {reason}")],
                None => cells(result, line),
            };
            text.push_str(&table_row(place.into_iter().chain([line.subject.clone()]).chain(cells)));
        }
    }
}

/// Headings of a family's table: of the columns that name a line, and of the measures with their
/// units.
#[must_use]
pub fn heads(result: &FamilyResult) -> (Vec<&'static str>, Vec<String>) {
    let mut names = Vec::new();
    if result.points.iter().any(|point| !point.placement.is_empty()) {
        names.push("where");
    }
    if result.points.iter().any(|point| !point.point.is_empty()) {
        names.push("case");
    }
    names.push("subject");
    let head = |measure: &Measure| match measure.scale.unit {
        "" => measure.head.clone(),
        unit => format!("{}, {unit}", measure.head),
    };
    (names, result.measures.iter().map(head).collect())
}

/// Returns the words that name a point, one for each of the columns that [`heads`] has for them.
#[must_use]
pub fn place(result: &FamilyResult, placement: &str, point: &str) -> Vec<String> {
    let (names, _) = heads(result);
    let cell = |name: &&str| match *name {
        "where" => Some(placement.to_owned()),
        "case" => Some(point.to_owned()),
        _ => None,
    };
    names.iter().filter_map(cell).collect()
}

/// The values of a line, with a sign where they differ from the baseline's.
#[must_use]
pub fn cells(result: &FamilyResult, line: &Line) -> Vec<String> {
    result.measures.iter().zip(&line.values).map(|(measure, value)| format!("{}{}", shown(measure, value), sign(value))).collect()
}

/// `12.3 ± 0.4` in the measure's unit; a dash where nothing was measured.
#[must_use]
pub fn shown(measure: &Measure, value: &MeasuredValue) -> String {
    let scale = measure.scale;
    let Some(mean) = value.figure.mean else { return "–".to_owned() };
    let half = value.figure.ci95.map(|half| format!(" ± {}", short(half * scale.factor))).unwrap_or_default();
    format!("{}{half}", short(mean * scale.factor))
}

/// ` ▲` for better than the baseline, ` ▼` for worse.
#[must_use]
pub fn sign(value: &MeasuredValue) -> &'static str {
    match value.against_baseline {
        Some(Standing::Better) => " ▲",
        Some(Standing::Worse) => " ▼",
        Some(Standing::Level) | None => "",
    }
}
