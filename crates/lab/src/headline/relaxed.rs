//! Less utilization where the best queue would leave a call, a game or a ping unusable.

use super::candidate::{Candidate, Key};
use super::policy::Policy;
use super::words::{figure, heading};
use super::{Outcome, Outside, Ranking};
use crate::metrics::Better;
use crate::statistics::Figure;

/// By how much the bound on utilization is lowered at a time, and how far. Our choice: a queue that
/// leaves half of what the line could carry unused is no answer.
const STEP: f64 = 0.05;
const LEAST: f64 = 0.5;

/// A ranking under the policy that was asked for or under a weaker one.
pub(super) struct Relaxed<'a, 'b> {
    /// The policy that was applied.
    pub policy: Policy,
    /// The ranking under it.
    pub outcome: Result<Outcome<'a, 'b>, Outside<'a, 'b>>,
    /// What was given up, or what remains unusable; `None` where the best queue leaves all usable.
    pub note: Option<String>,
}

impl<'a> Ranking<'a> {
    /// The ranking under the policy, or, where its best queue leaves something unusable, under the
    /// strictest one of less utilization whose best queue does not.
    pub(super) fn relaxed<'b>(&self, rank: impl Fn(&Policy) -> Result<Outcome<'a, 'b>, Outside<'a, 'b>>) -> Relaxed<'a, 'b> {
        let asked = *self.policy;
        let outcome = rank(&asked);
        let Ok(strict) = &outcome else { return Relaxed { policy: asked, outcome, note: None } };
        let Some((key, bound)) = self.unusable(strict.best) else { return Relaxed { policy: asked, outcome, note: None } };
        let weaker = (1..).map(|step| Policy { of_best: asked.of_best - f64::from(step) * STEP, ..asked });
        for policy in weaker.take_while(|policy| policy.of_best > LEAST - STEP / 2.0) {
            let Ok(found) = rank(&policy) else { continue };
            if self.unusable(found.best).is_none() {
                let note = format!(
                    "For this the policy asks for {:.0} % of the best utilization instead of {:.0} %: {} uses more of the line \
                     and leaves the {} unusable ({}; {}).",
                    policy.of_best * 100.0,
                    asked.of_best * 100.0,
                    strict.best.name,
                    name(key),
                    said(key, strict.best),
                    limit(key, bound),
                );
                return Relaxed { policy, outcome: Ok(found), note: Some(note) };
            }
        }
        let note = format!("The {} remains unusable ({}).", name(key), limit(key, bound));
        Relaxed { policy: asked, outcome, note: Some(note) }
    }

    /// The first figure by which a queue leaves something unusable, and its bound.
    fn unusable(&self, one: &Candidate<'_>) -> Option<(&Key<'a>, f64)> {
        self.interactive.iter().find_map(|key| Some((key, key.misses(one)?)))
    }
}

fn name(key: &Key<'_>) -> &'static str {
    key.activity().map_or("link", |activity| activity.name())
}

/// `MOS 1.34`.
fn said(key: &Key<'_>, one: &Candidate<'_>) -> String {
    format!("{} {}", heading(key.about), figure(key.about, Figure { ci95: None, ..one.figure(key) }))
}

/// `usable from 2.58`.
fn limit(key: &Key<'_>, bound: f64) -> String {
    let bound = figure(key.about, Figure { mean: Some(bound), ci95: None, n: 1 });
    match key.about.better {
        Better::Higher => format!("usable from {} {bound}", heading(key.about)),
        Better::Lower | Better::Neither => format!("usable up to {} {bound}", heading(key.about)),
    }
}
