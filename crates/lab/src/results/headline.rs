//! The verdict of a result as data; [`crate::verdict`] reaches it.

use crate::results::grade::Grade;
use serde::Serialize;

/// The verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Headline {
    /// In words: at most two sentences, a blank line, and details in a line each.
    pub text: String,
    /// Label of the queue that is named; `None` where nothing is ranked or a policy excludes all.
    pub best: Option<String>,
    /// Labels of those that are not significantly worse.
    pub not_significantly_different: Vec<String>,
    /// The price of the named queue in utilization and goodput, in words.
    pub price: String,
    /// Activities that are unusable under the named queue.
    pub unusable: Vec<&'static str>,
    /// The grade of each activity under each queue, over settings the worst.
    pub grades: Vec<Graded>,
    /// The policy in words; empty without one.
    pub policy: String,
    /// Labels of the queues that the policy excludes.
    pub outside_policy: Vec<String>,
}

/// The grades under one queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Graded {
    /// The queue.
    pub label: String,
    /// Activities and their grades.
    #[serde(serialize_with = "as_map")]
    pub grades: Vec<(&'static str, Grade)>,
}

fn as_map<S: serde::Serializer>(grades: &[(&'static str, Grade)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(grades.iter().copied())
}
