//! The contents of a report, as the caller gives them.

use crate::results::distributions::Cdf;
use goodqueue_sim::Series;
use serde_json::Value;

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
    /// decides the color.
    pub kind: String,
    /// Distribution of the sojourn times at each observed link, over all replications.
    pub cdfs: Vec<Cdf>,
    /// Distribution of the round trips of each group of probes, over all replications.
    pub rtt_cdfs: Vec<Cdf>,
    /// Sampled series of the first replication; empty when nothing was sampled.
    pub series: &'a [Series],
}
