//! Faults of files from elsewhere.

/// A file that cannot be imported, with the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub struct ImportError {
    /// The file.
    pub file: String,
    /// The fault, with the place in the file.
    pub message: String,
}
