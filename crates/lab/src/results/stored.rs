//! Results of `gq run`, `gq compare` and `gq sweep` read back from their folder.

mod tables;
#[cfg(test)]
mod tests;

pub use crate::results::error::StoredError;
pub use tables::{StoredDistribution, StoredLine};

use crate::results::labels::Labels;
use crate::results::summary::{self, PointSummary};
use crate::scenario::input::remember_named;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The largest `summary.json` that is read, in bytes: a hundred times that of a sweep of a thousand
/// points.
const MAX_BYTES: u64 = 1 << 30;

/// A result on disk. Its figures are in memory; series and distributions are read when they are
/// asked for.
#[derive(Clone, Debug)]
pub struct Stored {
    folder: PathBuf,
    text: String,
    summary: summary::Read,
    labels: Labels,
}

impl Stored {
    /// Reads the summary of the result in `folder`.
    ///
    /// # Errors
    /// When it is no folder of a result, or its summary cannot be read.
    pub fn load(folder: &Path) -> Result<Self, StoredError> {
        let path = folder.join("summary.json");
        let fault = |path: &Path, message: String| StoredError { path: path.to_owned(), message };
        let facts = fs::metadata(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => fault(folder, why_none(folder)),
            _ => fault(&path, format!("cannot be read: {error}")),
        })?;
        if facts.len() > MAX_BYTES {
            return Err(fault(&path, format!("has {} bytes: at most {MAX_BYTES} are read", facts.len())));
        }
        remember_named(folder);
        let text = fs::read_to_string(&path).map_err(|error| fault(&path, format!("cannot be read: {error}")))?;
        let summary = summary::read(&text).map_err(|message| fault(&path, format!("is no summary of a result: {message}")))?;
        let sets: Vec<_> = summary.points.iter().map(|point| point.set.as_slice()).collect();
        let queue = summary.points.first().map(|point| point.queue.as_str()).filter(|queue| !queue.is_empty());
        let labels = Labels::new(&sets, queue.unwrap_or(&summary.scenario));
        Ok(Self { folder: folder.to_owned(), text, summary, labels })
    }

    /// The text of `summary.json`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The host of the runs.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.summary.host
    }

    /// Whether every run finished.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.summary.complete
    }

    /// The points in their order.
    #[must_use]
    pub fn points(&self) -> &[PointSummary] {
        &self.summary.points
    }

    /// The names of the points.
    #[must_use]
    pub const fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Distributions of times; none where the result has kept none.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn distributions(&self) -> Result<Vec<StoredDistribution>, StoredError> {
        tables::distributions(&self.folder)
    }

    /// The series of this name of the subjects that `is_wanted` accepts; none where nothing was
    /// recorded.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn lines(&self, name: &str, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<StoredLine>, StoredError> {
        tables::lines(&self.folder, name, is_wanted)
    }

    /// The subjects and names of all series.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn sampled(&self) -> Result<Vec<(String, String)>, StoredError> {
        tables::sampled(&self.folder)
    }
}

fn why_none(folder: &Path) -> String {
    if !folder.exists() {
        "there is no such folder".to_owned()
    } else if !folder.is_dir() {
        "is not a folder".to_owned()
    } else if folder.join("sweep.json").exists() {
        "holds a sweep that has not finished: the same gq sweep resumes it".to_owned()
    } else {
        "is no folder of results: it has no summary.json".to_owned()
    }
}
