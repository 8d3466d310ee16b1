//! Figures for papers from the results of `gq run`, `gq compare` and `gq sweep`.
//!
//! A [`Source`] has the results, a [`Request`] says what is drawn, [`draw`] gives a
//! [`Figure`] and [`Sheet`] the file. The same result and request give
//! the same bytes of SVG on every machine; PDF and PNG depend on the machine's fonts.

mod bars;
mod choice;
mod distinct;
mod distribution;
mod error;
pub mod palette;
mod setting;
mod sheet;
mod shown;
mod source;
mod sweep;
mod time;
mod trade_off;

pub use choice::{Kind, Request, Scale};
pub use sheet::{Format, Sheet};
pub use source::{Line, Source, Subject};

use crate::{Figure, Panel};
pub(crate) use distinct::distinct;
pub use error::PlotError;
pub(crate) use shown::Shown;

/// Draws the requested figure.
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
