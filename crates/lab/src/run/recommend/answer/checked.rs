//! The check of an answer on another host.

use crate::results::statistics::Figure;
use serde::Serialize;

/// The whole check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Name of the host.
    pub host: &'static str,
    /// Runs that were made there.
    pub runs: usize,
    /// Groups of the mix that the host does not carry: its runs, and those of the simulator that
    /// they are compared with, are without them.
    pub left_out: Vec<String>,
    /// Candidates that ran there, the choice first.
    pub candidates: Vec<String>,
    /// The figures that people get under the choice there, each of those that decide.
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
    /// The figure in the answer.
    pub simulated: Figure,
    /// The figure on the other host.
    pub checked: Figure,
    /// The second minus the first, corner by corner and seed by seed.
    pub difference: Figure,
    /// The agreement of the two.
    pub agreement: Agreement,
}

/// The agreement of a figure on another host with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// A figure in the answer's 95 % interval.
    Interval,
    /// A figure outside, but with a difference that is too small to count for anybody.
    Margin,
    /// A figure that differs by more than that.
    Differs,
}

/// A candidate that is significantly better on the other host.
#[derive(Clone, Debug, Serialize)]
pub struct Better {
    /// The label of the candidate.
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
    /// The amount by which it is behind, block by block.
    pub behind: Figure,
}
