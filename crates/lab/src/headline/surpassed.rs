//! Activities for which another queue is better than the one that is named.
//!
//! Activities decide in an order, so the named queue is as good as any for the first, but what
//! decides later may be better under a queue that an earlier figure has ruled out.

use super::candidate::{Candidate, Key};
use super::{Outcome, Ranking, capital, pairs, words_of};
use crate::experience::Activity;

/// An activity, and the queue that is best for it where that is not the named one.
pub(super) struct Surpassed<'a, 'b> {
    pub activity: Activity,
    by: &'b Candidate<'a>,
}

impl<'a> Ranking<'a> {
    /// The activities after the first that get significantly more under a queue that was ruled out
    /// than under the best.
    pub(super) fn surpassed<'b>(&self, outcome: &Outcome<'a, 'b>) -> Vec<Surpassed<'a, 'b>> {
        let Outcome { best, equals, inside, .. } = outcome;
        if pairs(best, inside) < 2 {
            return Vec::new();
        }
        let one = |activity| {
            let keys: Vec<&Key<'a>> = self.keys_of(activity).collect();
            let is_out = |one: &&Candidate<'a>| !equals.iter().any(|equal| equal.is(one));
            let mut left: Vec<&Candidate<'a>> =
                inside.iter().copied().filter(is_out).filter(|one| is_better(one, best, &keys)).collect();
            for key in &keys {
                let first = key.best(&left)?;
                left.retain(|one| one.is(first) || !one.is_worse(first, key));
            }
            let by = keys.last()?.best(&left)?;
            Some(Surpassed { activity, by })
        };
        self.interactive_activities().into_iter().skip(1).filter_map(one).collect()
    }

    fn keys_of(&self, activity: Activity) -> impl Iterator<Item = &Key<'a>> {
        self.interactive.iter().filter(move |key| key.activity() == Some(activity))
    }

    /// ` The ping is better under fq-codel: 0 % lost, RTT p95 64.8 ± 0.9 ms.`
    pub(super) fn say_surpassed(&self, surpassed: &[Surpassed<'a, '_>]) -> String {
        let say = |Surpassed { activity, by }: &Surpassed<'a, '_>| {
            let name = self.name_of(*activity);
            let verb = if name.ends_with('s') { "are" } else { "is" };
            let figures: Vec<String> = self.keys_of(*activity).map(|key| words_of(key, by)).collect();
            format!(" {} {verb} better under {}: {}.", capital(&name), by.name, figures.join(", "))
        };
        surpassed.iter().map(say).collect()
    }
}

/// Whether one queue is better than another by the first of these figures in which they differ
/// significantly.
fn is_better(one: &Candidate<'_>, other: &Candidate<'_>, keys: &[&Key<'_>]) -> bool {
    for key in keys {
        if other.is_worse(one, key) {
            return true;
        }
        if one.is_worse(other, key) {
            return false;
        }
    }
    false
}
