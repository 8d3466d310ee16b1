//! Failures of running and recording. A fault in a scenario is a
//! [`crate::scenario::plan::PlanError`].

use std::io;
use std::path::PathBuf;

/// A result that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder cannot be used at all; found out before anything runs.
    #[error("{path}: cannot hold results: {source}")]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process writes to the folder; found out before anything runs.
    #[error("{path}: is being written to by {holder}: wait for its end, or use another folder")]
    Held {
        /// The folder.
        path: PathBuf,
        /// The other process, for a person.
        holder: String,
    },
    /// A file that was asked for cannot be written; found out before anything runs.
    #[error("{path}: cannot be written: {source}")]
    Target {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A result that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct StoredError {
    /// The folder, or the file in it.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

/// A run that did not deliver figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}, replication {replication}: {message}")]
pub struct RunFailure {
    /// The point, for a person.
    pub place: String,
    /// The replication of the point, from zero.
    pub replication: u32,
    /// A description of the failure.
    pub message: String,
}
