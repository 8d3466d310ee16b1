//! `paper.toml`: experiments, figures and tables.

use super::figures::{FigureSpec, OneOrMany, TableSpec};
use super::{Row, SourceFile, expected};
use crate::gallery::error::{FileFault, GalleryError};
use crate::gallery::experiment::AxisValue;
use crate::gallery::sources::Source;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// One study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    #[serde(rename = "goodqueue-gallery")]
    format: Spanned<u32>,
    /// The name of the folder: `cp-aqm`.
    #[serde(skip)]
    pub id: String,
    /// The folder of the study.
    #[serde(skip)]
    pub folder: PathBuf,
    /// `paper.toml` itself.
    #[serde(skip)]
    pub source: SourceFile,
    /// `expected.toml` itself.
    #[serde(skip)]
    pub expected_source: SourceFile,
    /// The study's title.
    pub title: String,
    /// The key of the entry of `SOURCES.bib`; empty for findings of our own.
    pub citation: Spanned<String>,
    /// The subject of the study, in our words.
    #[serde(default)]
    pub summary: String,
    /// The experiments.
    #[serde(default, rename = "experiment")]
    pub experiments: Vec<ExperimentSpec>,
    /// The figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigureSpec>,
    /// The tables.
    #[serde(default, rename = "table")]
    pub tables: Vec<TableSpec>,
    /// Axes and their values in words, for figures.
    #[serde(default)]
    pub labels: BTreeMap<Spanned<String>, String>,
    /// The statements.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// One experiment: a scenario file, names for its axes, and how it is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// `cp-1`.
    pub id: Spanned<String>,
    /// The scenario, relative to the paper's folder.
    pub file: Spanned<String>,
    /// One line.
    #[serde(default)]
    pub about: String,
    /// Short names of swept keys.
    #[serde(default)]
    pub axes: BTreeMap<String, Spanned<String>>,
    /// The changes made by quick mode.
    #[serde(default)]
    pub quick: ModeSpec,
    /// The changes made by full mode.
    #[serde(default)]
    pub full: ModeSpec,
    /// Sampled series of all replications are kept.
    #[serde(default)]
    pub series: bool,
    /// Time between samples.
    pub sample: Option<Spanned<String>>,
}

/// Changes of a scenario, as `--set` would make them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeSpec {
    /// Independent repetitions.
    pub replications: Option<u32>,
    /// The measured part.
    pub duration: Option<String>,
    /// Anything else, by dotted key.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
}

impl ModeSpec {
    /// As keys and values of `--set`.
    #[must_use]
    pub fn overrides(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        pairs.extend(self.replications.map(|count| ("replications".to_owned(), count.to_string())));
        pairs.extend(self.duration.iter().map(|duration| ("duration".to_owned(), duration.clone())));
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        pairs.extend(self.set.iter().map(|(key, value)| (key.clone(), text(value))));
        pairs
    }
}

pub(super) fn read(folder: &Path, id: &str) -> Result<Paper, GalleryError> {
    let source = SourceFile::read(&folder.join("paper.toml"))?;
    let mut paper: Paper = source.parse()?;
    source.check_format(&paper.format)?;
    paper.expected_source = SourceFile::read(&folder.join("expected.toml"))?;
    paper.rows = expected::read(&paper.expected_source)?;
    (paper.id, paper.folder, paper.source) = (id.to_owned(), folder.to_owned(), source);
    check(&paper)?;
    Ok(paper)
}

fn check(paper: &Paper) -> Result<(), FileFault> {
    let source = &paper.source;
    if !paper.citation.get_ref().is_empty() && paper.cited().is_none() {
        let message = format!("`{}` is no entry of SOURCES.bib", paper.citation.get_ref());
        return Err(source.fault(&paper.citation.span(), "citation", message));
    }
    unique(source, "experiment", paper.experiments.iter().map(|experiment| &experiment.id))?;
    unique(source, "figure", paper.figures.iter().map(|figure| &figure.id))?;
    unique(source, "table", paper.tables.iter().map(|table| &table.id))?;
    unique(&paper.expected_source, "row", paper.rows.iter().map(|row| &row.id))?;
    for figure in &paper.figures {
        let field = format!("figure.{}", figure.id.get_ref());
        figure.check(source, &field)?;
        all_known(paper, source, &format!("{field}.experiment"), &figure.experiment)?;
    }
    for table in &paper.tables {
        let field = format!("table.{}", table.id.get_ref());
        table.check(source, &field)?;
        all_known(paper, source, &format!("{field}.experiment"), &table.experiment)?;
    }
    for row in &paper.rows {
        let field = format!("row.{}", row.id.get_ref());
        row.check(&paper.expected_source, &field)?;
        let experiments = format!("{field}.experiments");
        let known = |id: &Spanned<String>| known(paper, &paper.expected_source, &experiments, id.get_ref(), &id.span());
        row.experiments.iter().try_for_each(known)?;
    }
    Ok(())
}

fn unique<'a>(source: &SourceFile, what: &str, ids: impl Iterator<Item = &'a Spanned<String>>) -> Result<(), FileFault> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id.get_ref()) {
            return Err(source.fault(&id.span(), &format!("{what}.id"), format!("`{}` is there twice", id.get_ref())));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.get_ref().is_empty() || !id.get_ref().chars().all(allowed) {
            let message = format!("`{}` cannot name a file: allowed letters, digits, `-`, `_`, `.`", id.get_ref());
            return Err(source.fault(&id.span(), &format!("{what}.id"), message));
        }
    }
    Ok(())
}

fn all_known(paper: &Paper, source: &SourceFile, field: &str, ids: &Spanned<OneOrMany>) -> Result<(), FileFault> {
    ids.get_ref().iter().try_for_each(|id| known(paper, source, field, id, &ids.span()))
}

fn known(paper: &Paper, source: &SourceFile, field: &str, id: &str, span: &Range<usize>) -> Result<(), FileFault> {
    if paper.experiment(id).is_some() {
        return Ok(());
    }
    let ids: Vec<&str> = paper.experiments.iter().map(|experiment| experiment.id.get_ref().as_str()).collect();
    Err(source.fault(span, field, format!("`{id}` is no experiment of paper.toml: allowed {}", ids.join(", "))))
}

impl Paper {
    /// A value of an axis in words, where the paper has them.
    #[must_use]
    pub fn label<'a>(&'a self, value: &'a str) -> &'a str {
        self.labels.iter().find(|(known, _)| known.get_ref() == value).map_or(value, |(_, words)| words)
    }

    /// The name of a curve or a panel: its value, with the axis before a bare number.
    #[must_use]
    pub fn name_of(&self, axis: &str, value: &AxisValue) -> String {
        match value.text.parse::<f64>() {
            Ok(_) => format!("{} = {}", self.label(axis), value.text),
            Err(_) => self.label(&value.text).to_owned(),
        }
    }

    /// The entry of `SOURCES.bib` that the paper cites; none for findings of our own.
    #[must_use]
    pub fn cited(&self) -> Option<Source> {
        Source::find(self.citation.get_ref())
    }

    /// The place of an experiment among the paper's.
    #[must_use]
    pub fn experiment(&self, id: &str) -> Option<&ExperimentSpec> {
        self.experiments.iter().find(|experiment| experiment.id.get_ref() == id)
    }
}
