//! Lines and words as SVG.

use std::fmt::Write;

/// Text as it may stand in XML.
#[must_use]
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A place on paper: left, right, top and bottom.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

pub(crate) fn line(text: &mut String, class: &str, from: (f64, f64), to: (f64, f64), more: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "<path class=\"{class}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"{more}/>", from.0, from.1, to.0, to.1);
}

pub(crate) fn words(text: &mut String, at: (f64, f64), anchor: &str, more: &str, what: &str) {
    let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\"{more}>{}</text>", at.0, at.1, escape(what));
}
