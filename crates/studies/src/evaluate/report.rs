//! The evaluation as one page: scorecard, every family with its table and figures, every command.

mod picture;

use crate::evaluate::evaluation::{Evaluation, FamilyResult, Line, MeasuredValue, Standing};
use crate::evaluate::markdown::{heads, place, rule, shown, tally, terms};
use crate::page;
use maud::{Markup, html};

/// The page. `command` made it.
#[must_use]
pub fn html(evaluation: &Evaluation, command: &str) -> String {
    let judged: Vec<&str> = evaluation.subjects.iter().filter(|one| one.under_test).map(|one| one.name.as_str()).collect();
    let title = format!("{} by {}", judged.join(", "), evaluation.document);
    let content = html! {
        h1 { (title) }
        (front(evaluation, command))
        (scorecard(evaluation))
        nav {
            ul {
                @for FamilyResult { family, .. } in &evaluation.families {
                    li { "§" (family.section) " " a href={ "#" (family.id) } { (family.title) } }
                }
            }
        }
        @for family in &evaluation.families { (section(evaluation, family)) }
        (not_run(evaluation))
    };
    page::page(&title, &content)
}

fn front(evaluation: &Evaluation, command: &str) -> Markup {
    html! {
        p.by {
            (evaluation.document) " (" (evaluation.suite.title) "), " (evaluation.mode) " mode, by goodqueue " (evaluation.version)
            " (" (evaluation.commit) "), sources " (evaluation.sources) ": " (evaluation.runs) " runs" (terms(evaluation)) "."
            @if !evaluation.complete { " " b { "Not all runs finished: missing values are shown as dashes." } }
            " Made by " code { (command) } "; all values: " a href="evaluation.json" { "evaluation.json" } "."
        }
    }
}

fn scorecard(evaluation: &Evaluation) -> Markup {
    let Some(first) = evaluation.scorecard.first() else { return Markup::default() };
    let heads = html! {
        th { (evaluation.suite.judges.name()) }
        @for aspect in first.aspects.keys() { th { (aspect.name()) } }
        th { "settings" } th { "fingerprint" }
    };
    let rows = html! {
        @for (score, subject) in evaluation.scorecard.iter().zip(&evaluation.subjects) {
            tr.test[subject.under_test] {
                th { (score.subject) }
                @for counts in score.aspects.values() {
                    @if subject.is_baseline { td.dim { "compared with" } } @else { td { (tally(*counts)) } }
                }
                td { code { (subject.settings) } }
                td { code { (subject.fingerprint) } }
            }
        }
    };
    html! {
        h2 #scorecard { "Scorecard" }
        p { (rule(evaluation)) }
        (page::table("front scorecard", &heads, &rows))
    }
}

fn section(evaluation: &Evaluation, result: &FamilyResult) -> Markup {
    let family = result.family;
    let scenario = format!("scenarios/{}.toml", family.id);
    html! {
        section id=(family.id) {
            h2 { (family.title) }
            p { (family.asks) }
            p.by {
                (evaluation.document) " §" (family.section) ", " (family.level.name()) "; scenario: "
                a href=(scenario) { code { (scenario) } } "."
            }
            div.figures {
                @for (caption, figure) in picture::figures(evaluation, result) {
                    figure { (page::drawing(&figure)) figcaption { (caption) } }
                }
            }
            (table(result))
            (commands(result))
        }
    }
}

fn table(result: &FamilyResult) -> Markup {
    let (names, heads) = heads(result);
    let width = heads.len();
    let heads = html! { @for name in names { th { (name) } } @for head in heads { th { (head) } } };
    let rows = html! {
        @for point in &result.points {
            @for (number, line) in point.lines.iter().enumerate() {
                tr.first[number == 0] {
                    @for cell in place(result, point.placement, point.point) { td { (cell) } }
                    th { (line.subject) }
                    (values(result, line, width))
                }
            }
        }
    };
    page::table("families", &heads, &rows)
}

fn values(result: &FamilyResult, line: &Line, width: usize) -> Markup {
    html! {
        @if let Some(reason) = &line.not_applicable {
            td.missing colspan=(width) { "does not apply: " (reason) }
        } @else {
            @for (measure, value) in result.measures.iter().zip(&line.values) { td { (shown(measure, value)) (mark(value)) } }
        }
    }
}

/// A sign where a value differs from the baseline's.
fn mark(value: &MeasuredValue) -> Markup {
    html! {
        @match value.against_baseline {
            Some(Standing::Better) => { " " span.better title="better" { "▲" } }
            Some(Standing::Worse) => { " " span.worse title="worse" { "▼" } }
            Some(Standing::Level) | None => {}
        }
    }
}

fn commands(result: &FamilyResult) -> Markup {
    let lines = result.points.iter().flat_map(|point| &point.lines).filter(|line| !line.command.is_empty());
    html! {
        details {
            summary { "Every point by itself, with everything it was run with" }
            pre {
                @for line in lines {
                    (line.command) "\n"
                    @for failure in &line.failures { "# failed: " (failure) "\n" }
                }
            }
        }
    }
}

fn not_run(evaluation: &Evaluation) -> Markup {
    html! {
        section {
            h2 { "Not run" }
            table {
                thead { tr { th { "section" } th { "what" } th { "why" } } }
                tbody { @for row in &evaluation.suite.left_out { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}
