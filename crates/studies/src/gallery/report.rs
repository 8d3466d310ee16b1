//! One page for all papers, complete in itself: what holds, every figure, every table, every row
//! with its reason, and how to run one point.

use crate::gallery::cost::{ExperimentCost, of_paper};
use crate::gallery::evaluate::{Evaluated, Verdict};
use crate::gallery::experiment::Experiment;
use crate::gallery::expr::Fault;
use crate::gallery::files::Row;
use crate::gallery::results::PaperResults;
use crate::gallery::samples::Measured;
use crate::gallery::table::Table;
use crate::gallery::words;
use goodqueue_figure::escape;
use goodqueue_figure::palette;
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use goodqueue_lab::results::report::font_face;
use std::fmt::Write;
use toml::Spanned;

/// The style of reports.
pub const STYLE: &str = include_str!("report/style.css");
/// The script that handles the pointer on figures of reports.
pub const SCRIPT: &str = include_str!("report/script.js");

/// The figures and tables in a paper's part of the page, beside its rows.
#[derive(Debug, Default)]
pub struct Shown {
    /// Figures: id, title, place, note, and SVG or why there is none.
    pub figures: Vec<ShownFigure>,
    /// Tables, or why there is none.
    pub tables: Vec<(String, Result<Table, Fault>)>,
}

/// One figure of the page.
#[derive(Debug)]
pub struct ShownFigure {
    /// The id of the figure.
    pub id: String,
    /// The title, which says what the figure shows.
    pub title: String,
    /// The place of the figure in the study.
    pub place: String,
    /// A remark.
    pub note: Option<String>,
    /// The experiments its values are from.
    pub experiments: Vec<String>,
    /// The picture, or why there is none.
    pub svg: Result<String, Fault>,
    /// A PNG lies beside the SVG.
    pub has_png: bool,
}

/// The page.
#[must_use]
pub fn html(all: &[(PaperResults, Shown)], costs: &[ExperimentCost]) -> String {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>The gallery: published studies reproduced</title>\n\
         <style>{}\n{}\n{STYLE}</style></head><body>\n<main>\n<p class=\"brand\">goodqueue</p>\n",
        font_face(),
        palette::variables()
    );
    front(&mut text, all, costs);
    for (results, shown) in all {
        paper(&mut text, results, shown, costs);
    }
    let _ = write!(text, "</main>\n<div id=\"tip\" hidden></div>\n<script>{SCRIPT}</script>\n</body></html>\n");
    text
}

fn front(text: &mut String, all: &[(PaperResults, Shown)], costs: &[ExperimentCost]) {
    let mode = all.first().map_or("quick", |(results, _)| results.mode.name());
    let _ = write!(
        text,
        "<h1>The gallery: published studies reproduced</h1>\n<p class=\"by\">goodqueue {}, {mode} mode. Rows are statements of the studies. \
         <span class=\"good\">✓</span> counts those that hold, <span class=\"bad\">✗</span> those that fail, – those that are only reported \
         or could not be compared. Grade A must hold, B should, C is reported, U is arithmetic or a property of the algorithm alone.</p>\n\
         <div class=\"wide\"><table class=\"front\"><thead><tr><th>study</th><th>A</th><th>B</th><th>C</th><th>U</th><th>all</th>\
         <th>CPU time</th></tr></thead><tbody>\n",
        escape(VERSION_AND_COMMIT)
    );
    for (results, _) in all {
        let cell = |grade| {
            let [holds, fails, other] = words::counts(&results.rows, grade);
            tally(holds, fails, other)
        };
        let cpu = of_paper(costs, &results.paper.id);
        let grades: String = words::GRADES.iter().map(|grade| cell(Some(*grade))).collect();
        let _ = writeln!(
            text,
            "<tr><th><a href=\"#{0}\">{1}</a></th>{grades}{2}<td>{cpu:.0} s</td></tr>",
            results.paper.id,
            escape(&results.paper.title),
            cell(None)
        );
    }
    text.push_str("</tbody></table></div>\n");
    text.push_str(FILTER);
}

/// Counts of one cell; what is zero and no news is left out.
fn tally(holds: usize, fails: usize, other: usize) -> String {
    let part = |class: &str, count: usize, sign: &str| match count {
        0 => String::new(),
        count => format!("<span class=\"{class}\">{count}&nbsp;{sign}</span>"),
    };
    let parts = [part("good", holds, "✓"), part("bad", fails, "✗"), part("dim", other, "–")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "<td class=\"dim\"></td>".to_owned() } else { format!("<td>{}</td>", parts.join(" ")) }
}

/// Choice of the statements that are shown; the style sheet does it, without a script.
const FILTER: &str = "<fieldset class=\"filter\"><legend>Statements shown</legend>\
    <label><input type=\"radio\" name=\"verdict\" id=\"show-all\" checked> all</label>\
    <label><input type=\"radio\" name=\"verdict\" id=\"show-holds\"> that hold</label>\
    <label><input type=\"radio\" name=\"verdict\" id=\"show-fails\"> that fail</label>\
    <label><input type=\"radio\" name=\"verdict\" id=\"show-other\"> not comparable</label></fieldset>\n";

fn paper(text: &mut String, results: &PaperResults, shown: &Shown, costs: &[ExperimentCost]) {
    let paper = &results.paper;
    let _ = write!(
        text,
        "<section id=\"{0}\"><h2>{1}</h2>\n<p>{2}</p>\n<p class=\"by\">{3}Our reading of it: <code>gallery/{0}/README.md</code>. {4}. \
         Everything measured: <a href=\"{0}/results.json\">results.json</a>.</p>\n",
        paper.id,
        escape(&paper.title),
        escape(&paper.summary),
        paper.citation.as_ref().map(|source| format!("Source: {}. ", escape(&source.words()))).unwrap_or_default(),
        words::counted(&results.rows)
    );
    failing(text, results);
    text.push_str("<div class=\"figures\">\n");
    shown.figures.iter().for_each(|figure| draw(text, &paper.id, figure));
    text.push_str("</div>\n");
    for (title, table) in &shown.tables {
        match table {
            Ok(table) => draw_table(text, &paper.id, table),
            Err(reason) => {
                let _ = writeln!(text, "<p class=\"missing\">{}: {}</p>", escape(title), escape(&reason.to_string()));
            }
        }
    }
    rows(text, results);
    experiments(text, results, costs);
    text.push_str("</section>\n");
}

fn failing(text: &mut String, results: &PaperResults) {
    let failing: Vec<_> = results.rows.iter().filter(|(_, evaluated)| evaluated.verdict == Verdict::Fails).collect();
    if failing.is_empty() {
        return;
    }
    text.push_str("<h3>What does not hold, and why</h3>\n<ul class=\"fails\">\n");
    for (row, evaluated) in failing {
        let _ = writeln!(
            text,
            "<li><a href=\"#row-{0}\">{0}</a> ({1:?}, {2}) {3}: measured {4}, expected {5}. {6}</li>",
            row.id.get_ref(),
            row.grade,
            escape(&row.place),
            escape(&row.claim),
            escape(&words::measured(evaluated)),
            escape(&words::expected(row)),
            escape(&words::reason(row, evaluated))
        );
    }
    text.push_str("</ul>\n");
}

fn draw(text: &mut String, paper: &str, figure: &ShownFigure) {
    let _ = writeln!(text, "<figure id=\"{paper}-fig-{}\">", figure.id);
    match &figure.svg {
        Ok(svg) => text.push_str(svg),
        Err(reason) => {
            let _ = writeln!(text, "<p class=\"missing\">No picture: {}</p>", escape(&reason.to_string()));
        }
    }
    let files = if figure.svg.is_ok() {
        let png = if figure.has_png { format!(", <a href=\"{paper}/fig-{0}.png\">PNG</a>", figure.id) } else { String::new() };
        format!(" (<a href=\"{paper}/fig-{0}.svg\">SVG</a>{png})", figure.id)
    } else {
        String::new()
    };
    let note = figure.note.as_ref().map(|note| format!(" {}", escape(note))).unwrap_or_default();
    let _ = writeln!(
        text,
        "<figcaption>{}: {}{files}; from {}.{note}</figcaption></figure>",
        escape(&figure.place),
        escape(&figure.title),
        links(paper, figure.experiments.iter())
    );
}

/// Returns links to the scenario file and the commands of each of these experiments.
fn links<'a>(paper: &str, experiments: impl Iterator<Item = &'a String>) -> String {
    experiments.map(|id| format!("<a href=\"#{paper}-{id}\">{id}</a>")).collect::<Vec<_>>().join(", ")
}

fn draw_table(text: &mut String, paper: &str, table: &Table) {
    let _ = write!(
        text,
        "<h3 id=\"{paper}-table-{}\">{}: {}</h3>\n<div class=\"wide\"><table class=\"values\"><thead><tr><th>{}</th>",
        table.id,
        escape(&table.place),
        escape(&table.title),
        escape(&table.axis)
    );
    // Columns of which the study prints nothing have no place for it.
    let printed: Vec<bool> =
        (0..table.columns.len()).map(|at| table.rows.iter().any(|(_, cells)| cells[at].printed.is_some())).collect();
    for (column, printed) in table.columns.iter().zip(&printed) {
        let beside = if *printed { "<th class=\"printed\">printed</th>" } else { "" };
        let _ = write!(text, "<th>{}</th>{beside}", escape(column));
    }
    text.push_str("</tr></thead><tbody>\n");
    for (name, cells) in &table.rows {
        let _ = write!(text, "<tr><th>{}</th>", escape(name));
        for (cell, has_printed) in cells.iter().zip(&printed) {
            let number =
                |value: f64| cell.digits.map_or_else(|| goodqueue_figure::short(value), |digits| format!("{value:.digits$}"));
            let half = cell.half.map(|half| format!(" <small>± {}</small>", goodqueue_figure::short(half))).unwrap_or_default();
            let measured = match &cell.measured {
                Ok(value) => format!("{}{half}", number(*value)),
                Err(reason) => format!("<span class=\"missing\" title=\"{}\">–</span>", escape(&reason.to_string())),
            };
            let beside = cell.printed.map(number).unwrap_or_default();
            let beside = if *has_printed { format!("<td class=\"printed\">{beside}</td>") } else { String::new() };
            let _ = write!(text, "<td>{measured}</td>{beside}");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    if let Some(note) = &table.note {
        let _ = writeln!(text, "<p class=\"by\">{}</p>", escape(note));
    }
}

fn rows(text: &mut String, results: &PaperResults) {
    text.push_str(
        "<h3>Statements</h3>\n<table class=\"rows\"><thead><tr><th>row</th><th>verdict</th><th>grade</th><th>statement</th><th>measured</th>\
         <th>expected</th><th>place</th></tr></thead><tbody>\n",
    );
    for (row, evaluated) in &results.rows {
        one_row(text, &results.paper.id, row, evaluated);
    }
    text.push_str("</tbody></table>\n");
}

fn one_row(text: &mut String, paper: &str, row: &Row, evaluated: &Evaluated) {
    let class = match evaluated.verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::NotComparable => "other",
    };
    let unclear = match evaluated.clear {
        Some(false) => "<small>The interval reaches across the bound.</small>",
        _ => "",
    };
    let reason = match evaluated.verdict {
        Verdict::Holds => String::new(),
        _ => format!("<small>{}</small>", escape(&words::reason(row, evaluated))),
    };
    let _ = writeln!(
        text,
        "<tr id=\"row-{0}\" class=\"{class}\"><th>{0}</th><td>{9}</td><td data-head=\"grade\">{1:?}</td><td>{3}<small>{4}</small>{unclear}{reason}\
         <details><summary>how it is measured</summary><pre>{5}</pre>{6}</details></td><td data-head=\"measured\">{7}</td>\
         <td data-head=\"expected\">{8}</td><td data-head=\"place\">{2}</td></tr>",
        row.id.get_ref(),
        row.grade,
        escape(&row.place),
        escape(&row.claim),
        escape(&row.metric),
        escape(row.measure.get_ref().trim()),
        links(paper, row.experiments.iter().map(Spanned::get_ref)),
        together(&words::measured(evaluated)),
        together(&words::expected(row)),
        evaluated.verdict.name()
    );
}

/// Words of a value, in which a number stays on the line of its sign and its tolerance.
fn together(words: &str) -> String {
    let mut text = escape(words);
    for sign in ["±", "−", "+", "=", "&lt;", "&gt;", "&lt;=", "&gt;="] {
        text = text.replace(&format!("{sign} "), &format!("{sign}\u{a0}"));
    }
    text.replace(" ±", "\u{a0}±").replace(" %", "\u{a0}%")
}

fn experiments(text: &mut String, results: &PaperResults, costs: &[ExperimentCost]) {
    text.push_str("<h3>Experiments</h3>\n");
    for measured in results.measured.iter() {
        let Experiment { id, about, file, plan, .. } = &measured.experiment;
        let cost = costs.iter().find(|cost| cost.paper == results.paper.id && cost.id == *id);
        let took = cost.map(|cost| format!(", {:.1} s of CPU time", cost.cpu_s)).unwrap_or_default();
        let _ = write!(
            text,
            "<details class=\"experiment\" id=\"{0}-{id}\"><summary><b>{id}</b> {1}</summary>\n<p><a href=\"{0}/{2}\"><code>{file}</code></a>: \
             {3} points of {4} replications{took}. One point by itself, with everything it was run with, from the project's folder; change what you like:</p>\n<pre>",
            results.paper.id,
            escape(about),
            escape(scenario_name(measured)),
            measured.points.len(),
            plan.replications()
        );
        for point in 0..measured.points.len() {
            let _ = writeln!(text, "{}", escape(&command(&measured.experiment, point)));
        }
        text.push_str("</pre></details>\n");
    }
}

/// The scenario's file name; a copy of it stands beside the results.
#[must_use]
pub fn scenario_name(measured: &Measured) -> &str {
    let file = &measured.experiment.file;
    file.rsplit('/').next().unwrap_or(file)
}

/// The command that runs one point by itself.
#[must_use]
pub fn command(experiment: &Experiment, point: usize) -> String {
    let quoted = |text: &str| {
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "=.-_/".contains(c));
        if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    let mut command = format!("gq run {}", quoted(&experiment.file));
    for (key, value) in experiment.settings_of(point) {
        let _ = write!(command, " --set {}", quoted(&format!("{key}={value}")));
    }
    command
}
