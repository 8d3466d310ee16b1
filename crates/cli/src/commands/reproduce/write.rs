//! Everything a reproduction leaves on disk.

use crate::failure::Failure;
use crate::output::say;
use goodqueue_figure::file::Fonts;
use goodqueue_figure::{Font, Theme};
use goodqueue_lab::results::record::Folder;
use goodqueue_studies::gallery::cost::ExperimentCost;
use goodqueue_studies::gallery::expr::Fault;
use goodqueue_studies::gallery::figure;
use goodqueue_studies::gallery::report::{self, Shown, ShownFigure};
use goodqueue_studies::gallery::results::PaperResults;
use goodqueue_studies::gallery::table;

/// Pixels of a PNG per pixel of the drawing.
const PIXELS: f32 = 2.0;

/// Writes results, figures, tables and scenarios of each paper, and the report of all.
pub fn write(
    all: Vec<PaperResults>,
    only: Option<&str>,
    costs: &[ExperimentCost],
    out: &Folder,
) -> Result<Vec<PaperResults>, Failure> {
    let fonts = Fonts::of_machine();
    if let Err(why) = &fonts {
        say(&format!("note: figures are written as SVG and not as PNG: {why}"));
    }
    let mut shown = Vec::new();
    for results in all {
        let folder = Folder::create(&out.path().join(&results.paper.id))?;
        folder.write("results.json", results.to_json().as_bytes())?;
        for measured in results.measured.iter() {
            folder.write(measured.experiment.scenario_name(), measured.experiment.plan.source_text().as_bytes())?;
        }
        let figures = figures(&results, only, fonts.as_ref().ok(), &folder)?;
        let tables = tables(&results, only, &folder)?;
        shown.push((results, Shown { figures, tables }));
    }
    out.write("report.html", report::html(&shown, costs).as_bytes())?;
    Ok(shown.into_iter().map(|(results, _)| results).collect())
}

fn figures(
    results: &PaperResults,
    only: Option<&str>,
    fonts: Option<&Fonts>,
    folder: &Folder,
) -> Result<Vec<ShownFigure>, Failure> {
    let mut shown = Vec::new();
    for spec in &results.paper.figures {
        let id = spec.id.get_ref();
        if only.is_some_and(|only| only != id) {
            continue;
        }
        let rows = results.rows.iter().map(|(row, _)| row);
        let drawing = figure::collect(&results.paper, rows, spec, &results.measured);
        let svg = drawing.as_ref().map(|drawing| drawing.to_svg(Theme::Page, Font::Sans)).map_err(Clone::clone);
        let mut has_png = false;
        if let (Ok(svg), Ok(drawing)) = (&svg, &drawing) {
            folder.write(&format!("fig-{id}.svg"), svg.as_bytes())?;
            if let Some(fonts) = fonts {
                match fonts.png(&drawing.to_svg(Theme::Print, Font::Sans), PIXELS) {
                    Ok(bytes) => {
                        folder.write(&format!("fig-{id}.png"), &bytes)?;
                        has_png = true;
                    }
                    Err(message) => say(&format!("warning: figure {id} of {} has no PNG: {message}", results.paper.id)),
                }
            }
        }
        shown.push(ShownFigure { spec: spec.clone(), svg, has_png });
    }
    Ok(shown)
}

type ShownTable = (String, Result<table::Table, Fault>);

fn tables(results: &PaperResults, only: Option<&str>, folder: &Folder) -> Result<Vec<ShownTable>, Failure> {
    let mut shown = Vec::new();
    for spec in &results.paper.tables {
        let id = spec.id.get_ref();
        if only.is_some_and(|only| only != id) {
            continue;
        }
        let filled = table::fill(&results.paper.id, spec, &results.measured);
        if let Ok(table) = &filled {
            folder.write(&format!("table-{id}.csv"), table.csv().as_bytes())?;
        }
        shown.push((format!("{}: {}", spec.place, spec.title), filled));
    }
    Ok(shown)
}
