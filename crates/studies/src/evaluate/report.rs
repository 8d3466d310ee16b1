//! The evaluation as one page, complete in itself: scorecard, every family with its table and
//! figures, every command.

mod picture;

use crate::evaluate::evaluation::{Evaluation, FamilyResult, MeasuredValue, Standing};
use crate::evaluate::markdown::{heads, place, rule, seed, shown, tally};
use crate::gallery::report::{SCRIPT, STYLE};
use goodqueue_figure::{Font, Theme, escape, palette};
use std::fmt::Write as _;

/// The style of this page in addition to that of all reports.
const MORE_STYLE: &str = ".better { color: var(--good); } .worse { color: var(--bad); } .families :is(td, tbody th), .front th { white-space: nowrap; } \
                          .families tr.first > * { border-top: 1px solid var(--line-strong); } .test th { font-weight: 700; } \
                          .front code { white-space: nowrap; } nav { columns: 22rem; font-size: 0.9rem; margin-top: 1.2rem; } nav ul { margin: 0; }";

/// The page. `command` made it.
#[must_use]
pub fn html(evaluation: &Evaluation, command: &str) -> String {
    let judged: Vec<&str> = evaluation.subjects.iter().filter(|one| one.under_test).map(|one| one.name.as_str()).collect();
    let title = format!("{} by {}", judged.join(", "), evaluation.document);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n<style>{2}\n{1}\n{STYLE}\n{MORE_STYLE}</style></head><body>\n<main>\n\
         <h1>{0}</h1>\n",
        escape(&title),
        palette::variables(),
        goodqueue_lab::report::font_face()
    );
    front(&mut text, evaluation, command);
    for family in &evaluation.families {
        section(&mut text, evaluation, family);
    }
    back(&mut text, evaluation);
    let _ = write!(text, "</main>\n<div id=\"tip\" hidden></div>\n<script>{SCRIPT}</script>\n</body></html>\n");
    text
}

fn front(text: &mut String, evaluation: &Evaluation, command: &str) {
    let state = if evaluation.complete { "" } else { " <b>Not all runs finished: what is missing is shown as a dash.</b>" };
    let _ = writeln!(
        text,
        "<p class=\"by\">{} ({}), {} mode, by goodqueue {} ({}), sources {}: {} runs{}, {:.0} s of processor time.{state} Made by \
         <code>{}</code>; all values: <a href=\"evaluation.json\">evaluation.json</a>.</p>",
        evaluation.document,
        escape(&evaluation.suite.title),
        evaluation.mode,
        escape(&evaluation.version),
        escape(&evaluation.commit),
        evaluation.sources,
        evaluation.runs,
        seed(evaluation),
        evaluation.cpu_s,
        escape(command)
    );
    scorecard(text, evaluation);
    text.push_str("<nav>\n<ul>\n");
    for FamilyResult { family, .. } in &evaluation.families {
        let _ = writeln!(text, "<li>§{} <a href=\"#{}\">{}</a></li>", family.section, family.id, escape(&family.title));
    }
    text.push_str("</ul>\n</nav>\n");
}

fn scorecard(text: &mut String, evaluation: &Evaluation) {
    let Some(first) = evaluation.scorecard.first() else { return };
    let heads: String = first.aspects.keys().map(|aspect| format!("<th>{}</th>", aspect.name())).collect();
    let _ = write!(
        text,
        "<h2 id=\"scorecard\">Scorecard</h2>\n<p>{}</p>\n<div class=\"wide\"><table class=\"front\"><thead><tr><th>{}</th>{heads}\
         <th>settings</th><th>fingerprint</th></tr></thead><tbody>\n",
        escape(&rule(evaluation)),
        evaluation.suite.judges.name()
    );
    for (score, subject) in evaluation.scorecard.iter().zip(&evaluation.subjects) {
        let cell = |counts| match subject.is_baseline {
            true => "<td class=\"dim\">compared with</td>".to_owned(),
            false => format!("<td>{}</td>", tally(counts)),
        };
        let cells: String = score.aspects.values().map(|counts| cell(*counts)).collect();
        let _ = writeln!(
            text,
            "<tr{}><th>{}</th>{cells}<td><code>{}</code></td><td><code>{}</code></td></tr>",
            if subject.under_test { " class=\"test\"" } else { "" },
            escape(&score.subject),
            escape(&subject.settings),
            subject.fingerprint
        );
    }
    text.push_str("</tbody></table></div>\n");
}

fn section(text: &mut String, evaluation: &Evaluation, result: &FamilyResult) {
    let family = result.family;
    let _ = write!(
        text,
        "<section id=\"{}\"><h2>{}</h2>\n<p>{}</p>\n<p class=\"by\">{} §{}, {}; scenario: \
         <a href=\"scenarios/{0}.toml\"><code>scenarios/{0}.toml</code></a>.</p>\n<div class=\"figures\">\n",
        family.id,
        escape(&family.title),
        escape(&family.asks),
        evaluation.document,
        family.section,
        family.level.name()
    );
    for (caption, figure) in picture::figures(evaluation, result) {
        let svg = figure.to_svg(Theme::Page, Font::Sans);
        let _ = writeln!(text, "<figure>{svg}<figcaption>{}</figcaption></figure>", escape(&caption));
    }
    text.push_str("</div>\n");
    table(text, result);
    commands(text, result);
    text.push_str("</section>\n");
}

fn table(text: &mut String, result: &FamilyResult) {
    let (names, heads) = heads(result);
    let all: String = names
        .iter()
        .map(|name| format!("<th>{name}</th>"))
        .chain(heads.iter().map(|head| format!("<th>{}</th>", escape(head))))
        .collect();
    let _ = writeln!(text, "<div class=\"wide\"><table class=\"families\"><thead><tr>{all}</tr></thead><tbody>");
    for point in &result.points {
        for (number, line) in point.lines.iter().enumerate() {
            let places: String =
                place(result, point.placement, point.point).iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
            let class = if number == 0 { " class=\"first\"" } else { "" };
            let _ = write!(text, "<tr{class}>{places}<th>{}</th>", escape(&line.subject));
            match &line.not_applicable {
                Some(reason) => {
                    let _ =
                        write!(text, "<td class=\"missing\" colspan=\"{}\">does not apply: {}</td>", heads.len(), escape(reason));
                }
                None => {
                    for (measure, value) in result.measures.iter().zip(&line.values) {
                        let _ = write!(text, "<td>{}{}</td>", escape(&shown(measure, value)), mark(value));
                    }
                }
            }
            text.push_str("</tr>\n");
        }
    }
    text.push_str("</tbody></table></div>\n");
}

/// A sign where a value differs from the baseline's.
const fn mark(value: &MeasuredValue) -> &'static str {
    match value.against_baseline {
        Some(Standing::Better) => " <span class=\"better\" title=\"better\">▲</span>",
        Some(Standing::Worse) => " <span class=\"worse\" title=\"worse\">▼</span>",
        Some(Standing::Level) | None => "",
    }
}

fn commands(text: &mut String, result: &FamilyResult) {
    text.push_str("<details><summary>Every point by itself, with everything it was run with</summary>\n<pre>");
    for line in result.points.iter().flat_map(|point| &point.lines).filter(|line| !line.command.is_empty()) {
        let _ = writeln!(text, "{}", escape(&line.command));
        for failure in &line.failures {
            let _ = writeln!(text, "# failed: {}", escape(failure));
        }
    }
    text.push_str("</pre></details>\n");
}

fn back(text: &mut String, evaluation: &Evaluation) {
    text.push_str("<section><h2>Not run</h2>\n<table><thead><tr><th>section</th><th>what</th><th>why</th></tr></thead><tbody>\n");
    for [section, what, why] in &evaluation.suite.left_out {
        let _ = writeln!(text, "<tr><td>{section}</td><td>{}</td><td>{}</td></tr>", escape(what), escape(why));
    }
    text.push_str("</tbody></table></section>\n");
}
