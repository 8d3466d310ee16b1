//! What another host says of an answer.

use crate::statistics::Figure;
use serde::Serialize;

/// The whole check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Name of the host.
    pub host: &'static str,
    /// Runs that were made there.
    pub runs: usize,
    /// Candidates that ran there, the choice first.
    pub candidates: Vec<String>,
    /// What people get under the choice there, by each figure that decides.
    pub figures: Vec<Held>,
    /// Whether the choice satisfies the policy there.
    pub satisfies_policy: bool,
    /// Candidates that are significantly better there in some figure and in no earlier one
    /// significantly worse.
    pub better: Vec<Better>,
    /// The check in words.
    #[serde(skip)]
    pub sentences: Vec<String>,
}

/// A figure of the choice on both hosts.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// Whose figure it is.
    pub activity: &'static str,
    /// The figure.
    pub metric: &'static str,
    /// What the answer says.
    pub simulated: Figure,
    /// What the other host gives.
    pub checked: Figure,
    /// The second minus the first, corner by corner and seed by seed.
    pub difference: Figure,
    /// How they agree.
    pub agreement: Agreement,
}

/// How a figure on another host agrees with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// It lies in the answer's 95 % interval.
    Interval,
    /// It lies outside, but the difference is too small to count for anybody.
    Margin,
    /// It differs by more than that.
    Differs,
}

/// A candidate that is significantly better on the other host.
#[derive(Clone, Debug, Serialize)]
pub struct Better {
    /// Which one.
    pub label: String,
    /// Whose figure is better.
    pub activity: &'static str,
    /// The figure.
    pub metric: &'static str,
    /// The choice's mean there.
    pub choice: Figure,
    /// The other's mean there.
    pub other: Figure,
    /// An earlier figure in which it seems worse, but whose interval includes no difference; `None`
    /// where it is better without that doubt.
    pub but: Option<Doubt>,
}

/// A figure in which one candidate seems worse than another.
#[derive(Clone, Debug, Serialize)]
pub struct Doubt {
    /// Whose figure it is.
    pub activity: &'static str,
    /// The figure.
    pub metric: &'static str,
    /// How far it is behind, block by block.
    pub behind: Figure,
}
