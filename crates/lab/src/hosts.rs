//! What runs scenarios.

use std::fmt;

/// A key of a scenario that a host cannot honour, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key by its name in scenarios, for instance `link.bottleneck.burst` or ``traffic `bulk`: size``.
    pub key: String,
    /// The reason, which follows the key in one line.
    pub why: String,
}

impl Refusal {
    /// Refuses a key of the link `link`.
    #[must_use]
    pub fn of_link(link: &str, key: &str, why: impl Into<String>) -> Self {
        Self { key: format!("link.{link}.{key}"), why: why.into() }
    }

    /// Refuses a key of the traffic group `group`.
    #[must_use]
    pub fn of_traffic(group: &str, key: &str, why: impl Into<String>) -> Self {
        Self { key: format!("traffic `{group}`: {key}"), why: why.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.why)
    }
}

impl std::error::Error for Refusal {}
