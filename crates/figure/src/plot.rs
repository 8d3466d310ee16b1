//! Figures for papers from the results of `gq run`, `gq compare` and `gq sweep`.
//!
//! A [`Source`] has the results, a [`Request`] says what is drawn, [`draw`] gives a
//! [`Figure`] and [`Sheet`] the file. The same result and request give
//! the same bytes of SVG on every machine; PDF and PNG depend on the machine's fonts.

mod bars;
mod choice;
mod distribution;
pub mod palette;
mod setting;
mod sheet;
mod source;
mod sweep;
mod time;
mod trade_off;

pub use choice::{Kind, Request, Scale};
pub use sheet::{Format, Length, Sheet};
pub use source::{Line, Source, Subject};

use crate::{Curve, Figure, Panel};

/// A figure that cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct PlotError {
    /// The setting that is wrong; `result` where it is none of them.
    pub field: &'static str,
    /// The fault: the value and what is allowed.
    pub message: String,
}

impl PlotError {
    pub(crate) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

/// Draws what is asked for.
///
/// # Errors
/// When the result does not have it.
pub fn draw(source: &dyn Source, request: &Request) -> Result<Figure, PlotError> {
    let shown = choice::shown(source, request)?;
    let (panel, curves) = match request.kind {
        Kind::TradeOff => trade_off::draw(source, request, &shown),
        Kind::Cdf => distribution::draw(source, request, &shown),
        Kind::Time => time::draw(source, request, &shown),
        Kind::Bars => bars::draw(source, request, &shown),
        Kind::Sweep => sweep::draw(source, request, &shown),
    }?;
    let title = request.title.clone().unwrap_or_default();
    Ok(Figure {
        id: request.kind.name().to_owned(),
        title: match (title.as_str(), panel.x.label.as_str()) {
            ("", "") => panel.y.label.clone(),
            ("", across) => format!("{} against {across}", panel.y.label),
            (title, _) => title.to_owned(),
        },
        size: crate::Size { width: 0.0, columns: 1 },
        panels: vec![Panel { title, ..panel }],
        curves,
    })
}

/// A point of the result with its look.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The place of the point in the result.
    pub(crate) place: usize,
    pub(crate) curve: Curve,
}

/// A coordinate system without series; its height is that of a figure of width 1.
pub(crate) fn empty_panel() -> Panel {
    use crate::Axis;
    Panel {
        title: String::new(),
        height: 0.0,
        x: Axis::default(),
        y: Axis::default(),
        shaded: Vec::new(),
        series: Vec::new(),
        references: Vec::new(),
    }
}
