//! The range over points that differ in more than their queue.

use super::Comparison;
use super::rule::{Candidate, Key};
use super::sentences::said_better_by_another;
use super::words::{capital, figure, heading};
use crate::results::headline::Headline;
use crate::results::statistics::Figure;

impl Comparison<'_> {
    /// The range over points that differ in more than their queue: their loads differ, so none of
    /// them is better than another.
    pub(super) fn range(keys: &[Key], points: &[(&str, Candidate<'_>)]) -> Headline {
        let Some(key) = keys.iter().find(|key| !said_better_by_another(key)) else { return Headline::default() };
        let known: Vec<(&str, f64)> = points.iter().filter_map(|(name, one)| Some((*name, key.figure(one).mean?))).collect();
        let least = known.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = known.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(least), Some(most)) = (least, most) else { return Headline::default() };
        let shown = |value: f64| figure(key.about, Figure { mean: Some(value), ci95: None, n: 1 });
        Headline::only(format!(
            "No queue is swept, so no queue is judged.\n\n{} {} goes from {} ({}) to {} ({}).",
            capital(key.who()),
            heading(key.about),
            shown(least.1),
            least.0,
            shown(most.1),
            most.0
        ))
    }
}
