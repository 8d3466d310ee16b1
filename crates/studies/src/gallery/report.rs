//! One page for all papers: what holds, every figure, every table, every row with its reason, and
//! how to run one point.

use crate::gallery::cost::{ExperimentCost, of_paper};
use crate::gallery::evaluate::{Evaluated, Verdict};
use crate::gallery::expr::Fault;
use crate::gallery::files::{FigureSpec, Grade, Row};
use crate::gallery::results::PaperResults;
use crate::gallery::samples::Measured;
use crate::gallery::table::{Cell, Table};
use crate::gallery::words;
use crate::page;
use goodqueue_figure::short;
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use maud::{Markup, PreEscaped, html};
use toml::Spanned;

/// The figures and tables in a paper's part of the page, in addition to its rows.
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
    /// The figure, as `paper.toml` defines it.
    pub spec: FigureSpec,
    /// The picture, or why there is none.
    pub svg: Result<String, Fault>,
    /// Whether there is a PNG next to the SVG.
    pub has_png: bool,
}

/// The page.
#[must_use]
pub fn html(all: &[(PaperResults, Shown)], costs: &[ExperimentCost]) -> String {
    let title = "The gallery: published studies reproduced";
    let content = html! {
        p.brand { "goodqueue" }
        h1 { (title) }
        (front(all, costs))
        @for (results, shown) in all { (paper(results, shown, costs)) }
    };
    page::page(title, &content)
}

fn front(all: &[(PaperResults, Shown)], costs: &[ExperimentCost]) -> Markup {
    let mode = all.first().map_or("quick", |(results, _)| results.mode.name());
    let heads = html! { @for head in ["study", "A", "B", "C", "U", "all", "CPU time"] { th { (head) } } };
    let rows = html! {
        @for (results, _) in all {
            tr {
                th { a href={ "#" (results.paper.id) } { (results.paper.title) } }
                @for grade in words::GRADES { (tally(results, Some(grade))) }
                (tally(results, None))
                td { (format!("{:.0} s", of_paper(costs, &results.paper.id))) }
            }
        }
    };
    html! {
        p.by {
            "goodqueue " (VERSION_AND_COMMIT) ", " (mode) " mode. Rows are statements of the studies. "
            span.good { "✓" } " counts those that hold, " span.bad { "✗" } " those that fail, – those that are only reported \
             or could not be compared. Grade A must hold, B should, C is reported, U is arithmetic or a property of the algorithm alone."
        }
        (page::table("front", &heads, &rows))
        // The style sheet does it, without a script.
        fieldset.filter {
            legend { "Statements shown" }
            @for (id, label) in [("all", "all"), ("holds", "that hold"), ("fails", "that fail"), ("other", "not comparable")] {
                label { input type="radio" name="verdict" id={ "show-" (id) } checked[id == "all"]; " " (label) }
            }
        }
    }
}

/// Counts of one cell; what is zero and no news is left out.
fn tally(results: &PaperResults, grade: Option<Grade>) -> Markup {
    let [holds, fails, other] = words::counts(&results.rows, grade);
    let parts = [("good", holds, "✓"), ("bad", fails, "✗"), ("dim", other, "–")];
    html! {
        td.dim[holds + fails + other == 0] {
            @for (class, count, sign) in parts.into_iter().filter(|(_, count, _)| *count > 0) {
                span class=(class) { (count) "\u{a0}" (sign) } " "
            }
        }
    }
}

fn paper(results: &PaperResults, shown: &Shown, costs: &[ExperimentCost]) -> Markup {
    let paper = &results.paper;
    html! {
        section id=(paper.id) {
            h2 { (paper.title) }
            p { (paper.summary) }
            p.by {
                @if let Some(source) = paper.cited() { "Source: " (source.words()) ". " }
                "Our reading of it: " code { "gallery/" (paper.id) "/README.md" } ". " (words::counted(&results.rows))
                ". Everything measured: " a href={ (paper.id) "/results.json" } { "results.json" } "."
            }
            (failing(results))
            div.figures { @for figure in &shown.figures { (draw(&paper.id, figure)) } }
            @for (title, table) in &shown.tables {
                @match table {
                    Ok(table) => (draw_table(&paper.id, table)),
                    Err(reason) => p.missing { (title) ": " (reason) },
                }
            }
            h3 { "Statements" }
            table.rows {
                thead {
                    tr {
                        @for head in ["row", "verdict", "grade", "statement", "measured", "expected", "place"] { th { (head) } }
                    }
                }
                tbody { @for (row, evaluated) in &results.rows { (one_row(&paper.id, row, evaluated)) } }
            }
            h3 { "Experiments" }
            @for measured in results.measured.iter() { (experiment(&paper.id, measured, costs)) }
        }
    }
}

fn failing(results: &PaperResults) -> Markup {
    let failing: Vec<_> = results.rows.iter().filter(|(_, evaluated)| evaluated.verdict == Verdict::Fails).collect();
    html! {
        @if !failing.is_empty() {
            h3 { "What does not hold, and why" }
            ul.fails {
                @for (row, evaluated) in failing {
                    li {
                        a href={ "#row-" (row.id.get_ref()) } { (row.id.get_ref()) }
                        " (" (format!("{:?}", row.grade)) ", " (row.place) ") " (row.claim) ": measured " (words::measured(evaluated))
                        ", expected " (words::expected(row)) ". " (words::reason(row, evaluated))
                    }
                }
            }
        }
    }
}

fn draw(paper: &str, figure: &ShownFigure) -> Markup {
    let ShownFigure { spec, svg, has_png } = figure;
    let id = spec.id.get_ref();
    html! {
        figure id={ (paper) "-fig-" (id) } {
            @match svg {
                Ok(svg) => (PreEscaped(svg)),
                Err(reason) => p.missing { "No picture: " (reason) },
            }
            figcaption {
                (spec.place) ": " (spec.title)
                @if svg.is_ok() {
                    " (" a href={ (paper) "/fig-" (id) ".svg" } { "SVG" }
                    @if *has_png { ", " a href={ (paper) "/fig-" (id) ".png" } { "PNG" } }
                    ")"
                }
                "; from " (links(paper, spec.experiment.get_ref())) "."
                @if let Some(note) = &spec.note { " " (note) }
            }
        }
    }
}

/// Returns links to the scenario file and the commands of each of these experiments.
fn links<'a>(paper: &str, experiments: impl IntoIterator<Item = &'a String>) -> Markup {
    html! {
        @for (number, id) in experiments.into_iter().enumerate() {
            @if number > 0 { ", " }
            a href={ "#" (paper) "-" (id) } { (id) }
        }
    }
}

fn draw_table(paper: &str, table: &Table) -> Markup {
    // Columns of which the study prints nothing have no place for it.
    let Table { spec, rows } = table;
    let printed: Vec<bool> =
        (0..spec.columns.len()).map(|at| rows.iter().any(|(_, cells)| cells[at].printed.is_some())).collect();
    let heads = html! {
        th { (spec.rows.get_ref()) }
        @for (column, has_printed) in spec.columns.iter().zip(&printed) {
            th { (column.heading()) }
            @if *has_printed { th.printed { "printed" } }
        }
    };
    let body = html! {
        @for (name, cells) in rows {
            tr {
                th { (name) }
                @for ((cell, column), has_printed) in cells.iter().zip(&spec.columns).zip(&printed) {
                    (draw_cell(cell, column.digits, *has_printed))
                }
            }
        }
    };
    html! {
        h3 id={ (paper) "-table-" (spec.id.get_ref()) } { (spec.place) ": " (spec.title) }
        (page::table("values", &heads, &body))
        @if let Some(note) = &spec.note { p.by { (note) } }
    }
}

fn draw_cell(cell: &Cell, digits: Option<usize>, has_printed: bool) -> Markup {
    let number = |value: f64| digits.map_or_else(|| short(value), |digits| format!("{value:.digits$}"));
    html! {
        td {
            @match &cell.measured {
                Ok(value) => {
                    (number(*value))
                    @if let Some(half) = cell.half { " " small { "± " (short(half)) } }
                }
                Err(reason) => span.missing title=(reason) { "–" },
            }
        }
        @if has_printed { td.printed { @if let Some(value) = cell.printed { (number(value)) } } }
    }
}

fn one_row(paper: &str, row: &Row, evaluated: &Evaluated) -> Markup {
    let class = match evaluated.verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::NotComparable => "other",
    };
    let id = row.id.get_ref();
    html! {
        tr id={ "row-" (id) } class=(class) {
            th { (id) }
            td { (evaluated.verdict.name()) }
            td data-head="grade" { (format!("{:?}", row.grade)) }
            td {
                (row.claim) small { (row.metric) }
                @if evaluated.clear == Some(false) { small { "The interval reaches across the bound." } }
                @if evaluated.verdict != Verdict::Holds { small { (words::reason(row, evaluated)) } }
                details {
                    summary { "how it is measured" }
                    pre { (row.measure.get_ref().trim()) }
                    (links(paper, row.experiments.iter().map(Spanned::get_ref)))
                }
            }
            td data-head="measured" { (together(&words::measured(evaluated))) }
            td data-head="expected" { (together(&words::expected(row))) }
            td data-head="place" { (row.place) }
        }
    }
}

/// Words of a value, in which a number stays on the line of its sign and its tolerance.
fn together(words: &str) -> String {
    let mut text = words.to_owned();
    for sign in ["±", "−", "+", "=", "<", ">"] {
        text = text.replace(&format!("{sign} "), &format!("{sign}\u{a0}"));
    }
    text.replace(" ±", "\u{a0}±").replace(" %", "\u{a0}%")
}

fn experiment(paper: &str, measured: &Measured, costs: &[ExperimentCost]) -> Markup {
    let one = &measured.experiment;
    let cost = costs.iter().find(|cost| cost.paper == paper && cost.id == one.id);
    html! {
        details.experiment id={ (paper) "-" (one.id) } {
            summary { b { (one.id) } " " (one.about) }
            p {
                a href={ (paper) "/" (one.scenario_name()) } { code { (one.file) } }
                ": " (measured.points.len()) " points of " (one.plan.replications()) " replications"
                @if let Some(cost) = cost { (format!(", {:.1} s of CPU time", cost.cpu_s)) }
                ". One point by itself, with everything it was run with, from the project's folder; change what you like:"
            }
            pre { @for point in 0..measured.points.len() { (one.command(point)) "\n" } }
        }
    }
}
