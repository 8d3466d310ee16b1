//! The findings of the checks.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Packets do not meet the queue management.
    Problem,
    /// The state may be intended.
    Note,
    /// The state is as it should be.
    Good,
}

impl Weight {
    /// Returns the name of the severity in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Note => "note",
            Self::Good => "good",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The subject of the check: `offloads`.
    pub check: &'static str,
    /// The severity of the finding.
    pub weight: Weight,
    /// The finding, in a sentence or two.
    pub text: String,
    /// Commands that mend it, one after the other.
    pub mend: Vec<String>,
}

pub(super) fn found(check: &'static str, weight: Weight, text: String, mend: Vec<String>) -> Option<Diagnosis> {
    Some(Diagnosis { check, weight, text, mend })
}
