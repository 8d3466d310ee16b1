//! The error of plots.

/// A figure that cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct PlotError {
    /// The setting that is wrong; `result` where it is none of them.
    pub field: &'static str,
    /// The fault: the value and what is allowed.
    pub message: String,
}

impl PlotError {
    pub(crate) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}
