//! The error of worlds that cannot be built.

/// A specification that cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{subject}: {message}")]
pub struct WorldError {
    /// The faulty part: a link's name, or a flow as `group[index]`.
    pub subject: String,
    /// The fault.
    pub message: String,
}

pub(super) fn fault<T>(subject: impl Into<String>, message: impl Into<String>) -> Result<T, WorldError> {
    Err(WorldError { subject: subject.into(), message: message.into() })
}
