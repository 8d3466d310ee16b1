//! `report.html`: a self-contained page that shows a result, with nothing to install or fetch.
//!
//! The page itself is written in TypeScript in `crates/web` and built into a template, stored in
//! `assets/report.html` so that `cargo build` needs no Node (`make web` rebuilds it). This module
//! inserts the data of one result into the template: `data` decides what is embedded, `json`
//! encodes it, this file writes it.

mod data;
mod json;
mod thin;

#[cfg(test)]
mod tests;

use crate::error::RecordError;
use crate::record::write_file_by;
use crate::report::data::ReportData;
use crate::report::json::Script;
use goodqueue_sim::{Series, SojournHistogram};
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;

/// The page without its data.
pub const TEMPLATE: &str = include_str!("../assets/report.html");
/// The place of the title in [`TEMPLATE`].
const TITLE_SLOT: &str = "{{goodqueue:title}}";
/// The place of the data in [`TEMPLATE`].
const DATA_SLOT: &str = "{{goodqueue:data}}";

/// The contents of a report.
#[derive(Clone, Debug)]
pub struct ReportInput<'a> {
    /// The heading, for instance the scenario's name.
    pub title: &'a str,
    /// The meaning of the result, in one or two sentences.
    pub sentence: &'a str,
    /// Caveats, shown above the results.
    pub warnings: &'a [String],
    /// The scenario as text, so that the run can be repeated.
    pub scenario_toml: &'a str,
    /// The command that made the result.
    pub command_line: Option<&'a str>,
    /// `summary.json`, schema `goodqueue.summary/1`, with its provenance.
    pub summary: &'a Value,
    /// More lines for the provenance table: (name, value), for instance ("processor", "…").
    pub provenance: &'a [(String, String)],
    /// The link shown first; one of the names in the summary.
    pub main_link: &'a str,
    /// Start and end of the measured part in seconds; what is before the start is drawn as warm-up.
    pub measured_s: Option<(f64, f64)>,
    /// One entry per point of the summary, in the same order.
    pub points: Vec<ReportPoint<'a>>,
}

/// Data of one point that the summary does not contain.
#[derive(Clone, Debug)]
pub struct ReportPoint<'a> {
    /// Name in legends and tables: short and unique.
    pub label: String,
    /// The kind of queue at the main link, followed by a colon and the algorithm it contains;
    /// decides the colour.
    pub kind: String,
    /// Distribution of the sojourn times at each observed link, over all replications.
    pub cdfs: Vec<Cdf>,
    /// Distribution of the round trips of each group of probes, over all replications.
    pub rtt_cdfs: Vec<Cdf>,
    /// Sampled series of the first replication; empty when nothing was sampled.
    pub series: &'a [Series],
}

/// A distribution of times: in the queue at one link, or round trips of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// The link's or the group's name.
    pub subject: String,
    /// (time in seconds, share of the packets in [0, 1] that took at most this long), both rising.
    pub points: Vec<(f64, f64)>,
}

impl Cdf {
    /// From the packets counted in `histogram`; no points when it is empty.
    #[must_use]
    pub fn new(subject: impl Into<String>, histogram: &SojournHistogram) -> Self {
        let total = histogram.len();
        let mut points = Vec::new();
        let mut below = 0;
        for step in histogram.iter_recorded() {
            below += step.count_since_last_iteration();
            points.push((step.value_iterated_to() as f64 * 1e-9, below as f64 / total as f64));
        }
        Self { subject: subject.into(), points }
    }
}

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

/// The complete page.
#[must_use]
pub fn render(input: &ReportInput<'_>) -> String {
    let page = in_memory(|script| write_page(script, input));
    String::from_utf8(page).expect("the template, the title and JSON are text")
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

/// Writes the page to `path`: first under a temporary name in the same folder, then renamed, so
/// that `path` never contains an incomplete page.
///
/// # Errors
/// When the file cannot be written or renamed; the temporary file is removed.
pub fn write(path: &Path, input: &ReportInput<'_>) -> Result<(), RecordError> {
    write_file_by(path, &mut |out| write_to(out, input))
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
    written.expect("memory takes all, and plain values with string keys always serialise");
    text
}

/// The parts of a template before the title, between title and data, and after the data.
fn around_slots(template: &str) -> Option<[&str; 3]> {
    let (before_title, rest) = template.split_once(TITLE_SLOT)?;
    let (before_data, after_data) = rest.split_once(DATA_SLOT)?;
    Some([before_title, before_data, after_data])
}

/// Text that can be placed between two HTML tags.
fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
