//! Baseline files: stored results as TOML, small enough to be kept next to a scenario and read in a
//! review.

use super::{Measured, description};
use crate::results::provenance::VERSION_AND_COMMIT;
use crate::scenario::input::open_named;
use crate::scenario::plan::Plan;
use crate::scenario::toml_text::quoted;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

/// Name and version of the format.
pub const SCHEMA: &str = "goodqueue.baseline/1";

/// Larger files are refused before they are read.
const MAX_FILE_SIZE: u64 = 16 << 20;

/// Stored results.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// Name of the scenario.
    pub scenario: String,
    /// Hash of its settings, overrides included.
    pub scenario_sha256: String,
    /// Root of all randomness.
    pub seed: u64,
    /// Replications of each point.
    pub replications: u32,
    /// The program that made it.
    pub made_by: String,
    /// The figures.
    pub results: Vec<Measured>,
}

/// A baseline that cannot be compared with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// A file that cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A file that is no baseline, or a damaged one.
    #[error("{0}")]
    Content(String),
    /// A baseline of another scenario, or of an earlier form of this one.
    #[error("{0}; --write stores new results")]
    Other(String),
    /// A baseline that lacks a chosen figure.
    #[error("has no figure `{0}`; --write stores new results")]
    Missing(String),
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    scenario: String,
    scenario_sha256: String,
    seed: u64,
    replications: u32,
    made_by: String,
    results: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    point: String,
    of: String,
    values: BTreeMap<String, Vec<f64>>,
}

impl Baseline {
    /// Creates a baseline from the figures of the points of a plan.
    #[must_use]
    pub fn new(plan: &Plan, measured: Vec<Measured>) -> Self {
        Self {
            scenario: plan.name().to_owned(),
            scenario_sha256: plan.sha256(),
            seed: plan.seed(),
            replications: plan.replications(),
            made_by: format!("goodqueue {VERSION_AND_COMMIT}"),
            results: measured,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no baseline.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => BaselineError::Unreadable("no such file; --write makes it".to_owned()),
            _ => BaselineError::Unreadable(format!("cannot be read: {error}")),
        };
        let file = open_named(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_FILE_SIZE {
            return Err(BaselineError::Content(format!("is too large for a baseline: allowed up to {MAX_FILE_SIZE} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| BaselineError::Content("is not UTF-8 text".to_owned()))?;
        Self::parse(&text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is no baseline.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let content = |message: String| BaselineError::Content(message);
        let schema = text.parse::<toml::Table>().ok().and_then(|table| Some(table.get("schema")?.as_str()?.to_owned()));
        if schema.as_ref().is_some_and(|schema| schema != SCHEMA) {
            let schema = schema.unwrap_or_default();
            return Err(content(format!("schema: `{schema}` is not known: allowed {SCHEMA}")));
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count()) + 1;
            content(format!("line {line}: is no baseline: {}", error.message().replace('\n', " ")))
        })?;
        debug_assert_eq!(file.schema, SCHEMA);
        let mut results = Vec::new();
        for Entry { point, of, values } in file.results {
            let place = format!("{of} at {point}");
            for (name, values) in values {
                let of = of.clone();
                let about = description(&of, &name)
                    .ok_or_else(|| BaselineError::Other(format!("{place}: this version has no figure `{name}`")))?;
                if values.len() != file.replications as usize {
                    let (has, wants) = (values.len(), file.replications);
                    return Err(content(format!("{place}, {name}: {has} values, but there are {wants} replications")));
                }
                let values = values.into_iter().map(|value| value.is_finite().then_some(value)).collect();
                results.push(Measured { point: point.clone(), of, about, values });
            }
        }
        let File { scenario, scenario_sha256, seed, replications, made_by, .. } = file;
        Ok(Self { scenario, scenario_sha256, seed, replications, made_by, results })
    }

    /// Whether it is of this scenario with these settings.
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, plan: &Plan) -> Result<(), BaselineError> {
        let other = |message: String| Err(BaselineError::Other(message));
        let (name, stored) = (plan.name(), &self.scenario);
        if self.scenario_sha256 == plan.sha256() {
            return Ok(());
        }
        if stored != name {
            return other(format!("is of the scenario `{stored}`, not of `{name}`"));
        }
        if self.seed != plan.seed() {
            return other(format!("is of `{name}` with seed {}, not {}", self.seed, plan.seed()));
        }
        if self.replications != plan.replications() {
            return other(format!("is of `{name}` with {} replications, not {}", self.replications, plan.replications()));
        }
        other(format!("`{name}` has other settings than when it was written"))
    }

    /// The file's text: the same bytes for the same values.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::from(
            "# Results that gq gate compares with: one value for each replication, SI units, nan where undefined.\n",
        );
        let Self { scenario, scenario_sha256, seed, replications, made_by, results } = self;
        let _ = writeln!(text, "schema = {}", quoted(SCHEMA));
        let _ = writeln!(text, "scenario = {}", quoted(scenario));
        let _ = writeln!(text, "scenario_sha256 = {}", quoted(scenario_sha256));
        let _ = writeln!(text, "seed = {seed}\nreplications = {replications}\nmade_by = {}", quoted(made_by));
        if results.is_empty() {
            text.push_str("results = []\n");
        }
        let mut place = None;
        for stored in results {
            if place != Some((&stored.point, &stored.of)) {
                place = Some((&stored.point, &stored.of));
                let (point, of) = (quoted(&stored.point), quoted(&stored.of));
                let _ = writeln!(text, "\n[[results]]\npoint = {point}\nof = {of}\n[results.values]");
            }
            let values: Vec<String> = stored.values.iter().map(|value| number(*value)).collect();
            let _ = writeln!(text, "{} = [{}]", quoted(stored.about.name), values.join(", "));
        }
        text
    }
}

/// The shortest number that reads as the same value.
fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "nan".to_owned(), |value| format!("{value:?}"))
}
