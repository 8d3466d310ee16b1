//! Figures for papers, of results in memory and on disk.

use crate::error::plot_error;
use crate::report::Report;
use crate::stored::StoredResult;
use goodqueue_figure::plot::{Format, Kind, PlotError, Request, Scale, Sheet, Source};
use pyo3::prelude::*;
use std::borrow::Cow;

/// A result that figures are drawn from.
#[derive(FromPyObject)]
pub enum Results {
    Ran(Py<Report>),
    Stored(Py<StoredResult>),
}

/// Settings of a figure; see `goodqueue.Result.plot`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    figure: String,
    format: String,
    width: String,
    height: Option<String>,
    font: String,
    font_size: String,
    title: Option<String>,
    link: Option<String>,
    group: Option<String>,
    metric: Vec<String>,
    only: Vec<String>,
    scale: Option<String>,
}

/// The bytes of a figure.
#[pyfunction]
pub fn draw(py: Python<'_>, results: Results, settings: Settings) -> PyResult<Cow<'static, [u8]>> {
    let made = match &results {
        Results::Ran(report) => {
            let report = report.get();
            py.detach(|| make(report, settings))
        }
        Results::Stored(stored) => {
            let stored = stored.get().stored();
            py.detach(|| make(stored, settings))
        }
    };
    made.map(Cow::Owned).map_err(|error| plot_error(py, &error))
}

fn make(source: &dyn Source, settings: Settings) -> Result<Vec<u8>, PlotError> {
    let request = Request {
        kind: Kind::named(&settings.figure)?,
        link: settings.link,
        group: settings.group,
        metric: settings.metric,
        only: settings.only,
        scale: settings.scale.as_deref().map(Scale::named).transpose()?,
        title: settings.title,
    };
    let sheet = Sheet::new(
        Format::named(&settings.format)?,
        Some(&settings.width),
        settings.height.as_deref(),
        Some(&settings.font),
        Some(&settings.font_size),
    )?;
    sheet.file(goodqueue_figure::plot::draw(source, &request)?)
}

/// Color on light ground, dash pattern in pixels and mark of queues, by their kinds.
#[pyfunction]
pub fn looks(kinds: Vec<String>) -> Vec<(&'static str, Vec<f64>, String)> {
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let one = |look: goodqueue_figure::Look| {
        (goodqueue_figure::palette::of(look.hue).light, look.dashes().collect(), format!("{:?}", look.mark).to_lowercase())
    };
    goodqueue_figure::plot::palette::looks(&kinds, &[]).into_iter().map(one).collect()
}
