//! `report.html`: a self-contained page that shows a result, with nothing to install or fetch.
//!
//! The page itself is written in TypeScript in `crates/web` and built into a template, stored in
//! `assets/report.html` so that `cargo build` needs no Node (`make web` rebuilds it). This module
//! inserts the data of one result into the template: `data` decides what is embedded, `json`
//! encodes it, this file writes it.

mod data;
mod input;
mod json;
mod thin;

#[cfg(test)]
mod tests;

pub use crate::results::distributions::Cdf;
pub use input::{ReportInput, ReportPoint};

use crate::results::report::data::ReportData;
use crate::results::report::json::Script;
use std::io::{self, Write};

/// The page without its data.
pub const TEMPLATE: &str = include_str!("../../assets/report.html");
/// The place of the title in [`TEMPLATE`].
const TITLE_SLOT: &str = "{{goodqueue:title}}";
/// The place of the data in [`TEMPLATE`].
const DATA_SLOT: &str = "{{goodqueue:data}}";

/// The title and the data of a report, as they stand in the page.
#[derive(Clone, Debug)]
pub struct Contents {
    title: String,
    data: String,
}

impl Contents {
    /// Builds the contents from one result.
    #[must_use]
    pub fn new(input: &ReportInput<'_>) -> Self {
        let data = in_memory(|script| ReportData::new(input).write(script));
        Self { title: escape_text(input.title), data: String::from_utf8(data).expect("JSON is text") }
    }

    /// The page that `template` makes; `None` when it lacks a slot.
    #[must_use]
    pub fn fill(&self, template: &str) -> Option<String> {
        let [before_title, before_data, after_data] = around_slots(template)?;
        Some([before_title, &self.title, before_data, &self.data, after_data].concat())
    }
}

/// Writes the complete page to `out`, piece by piece.
///
/// # Errors
/// Those of `out`.
pub fn write_to(out: &mut dyn Write, input: &ReportInput<'_>) -> io::Result<()> {
    let mut script = Script::new(out);
    write_page(&mut script, input)?;
    script.finish()
}

/// The rule of CSS that brings the letters of the page, for other pages of the same look.
#[must_use]
pub fn font_face() -> &'static str {
    let rest = TEMPLATE.find("@font-face{").map_or("", |begin| &TEMPLATE[begin..]);
    rest.find('}').map_or("", |end| &rest[..=end])
}

fn write_page(script: &mut Script<'_>, input: &ReportInput<'_>) -> io::Result<()> {
    let [before_title, before_data, after_data] = around_slots(TEMPLATE).expect("a test checks that the template has its slots");
    script.text(before_title)?;
    script.text(&escape_text(input.title))?;
    script.text(before_data)?;
    ReportData::new(input).write(script)?;
    script.text(after_data)
}

/// Collects in memory what `write` writes.
fn in_memory(write: impl FnOnce(&mut Script<'_>) -> io::Result<()>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut script = Script::new(&mut text);
    let written = write(&mut script).and_then(|()| script.finish());
    written.expect("memory takes all, and plain values with string keys always serialize");
    text
}

/// The parts of a template before the title, between title and data, and after the data.
fn around_slots(template: &str) -> Option<[&str; 3]> {
    let (before_title, rest) = template.split_once(TITLE_SLOT)?;
    // The data stands near the end of the page.
    let (before_data, after_data) = rest.rsplit_once(DATA_SLOT)?;
    Some([before_title, before_data, after_data])
}

/// Text that can be placed between two HTML tags.
fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
