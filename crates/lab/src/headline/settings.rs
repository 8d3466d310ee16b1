//! Queues under several settings, such as numbers of flows: the combination that is best over all
//! of them, and in how many it is best alone.

use super::candidate::{Candidate, refused};
use super::policy::Policy;
use super::relaxed::Relaxed;
use super::words::{count, list};
use super::{Headline, Outcome, Outside, Ranking, reasons};

/// In how many settings a queue is best.
struct Wins<'a> {
    queue: &'a str,
    /// Settings in which its means are best.
    best: usize,
    /// Settings in which it is that or not significantly different.
    alike: usize,
}

impl<'a> Ranking<'a> {
    /// The queue that is best over all settings by the mean over them, replication by replication.
    /// One that does not satisfy the policy in some setting is not ranked. Where none does in all,
    /// or the settings have not all queues, it is counted in how many each is best.
    pub(super) fn over_settings(&self) -> Headline {
        let mut settings: Vec<&str> = Vec::new();
        for one in &self.candidates {
            if !settings.contains(&one.setting) {
                settings.push(one.setting);
            }
        }
        let here =
            |setting: &str| -> Vec<&Candidate<'a>> { self.candidates.iter().filter(|one| one.setting == setting).collect() };
        let groups: Vec<Vec<&Candidate<'a>>> = settings.iter().map(|setting| here(setting)).collect();
        let pooled = pooled(&groups);
        let all: Vec<&Candidate<'a>> = pooled.iter().collect();
        let Relaxed { policy, outcome, note } =
            self.relaxed(|policy| self.rank_inside(&all, self.outside_somewhere(&all, &groups, policy)));
        match outcome {
            Ok(outcome) if all.len() > 1 => {
                let mut said = self.best_over(outcome, &all, &groups, &policy);
                if let Some(note) = note {
                    said.text.push_str(&format!(" {note}"));
                }
                said
            }
            Ok(_) | Err(_) => self.counted(&groups),
        }
    }

    /// Those that do not satisfy the policy in some setting, with the reason and the first such
    /// setting.
    fn outside_somewhere<'b>(
        &self,
        all: &[&'b Candidate<'a>],
        groups: &[Vec<&Candidate<'a>>],
        policy: &Policy,
    ) -> Outside<'a, 'b> {
        let why = |queue: &Candidate<'a>| {
            groups.iter().find_map(|here| {
                let one = here.iter().find(|one| one.choices == queue.choices)?;
                let why = refused(one, here, &self.links, policy)?;
                Some(format!("{}: {why}", one.setting))
            })
        };
        all.iter().filter_map(|queue| Some((*queue, why(queue)?))).collect()
    }

    fn best_over(
        &self,
        outcome: Outcome<'a, '_>,
        all: &[&Candidate<'a>],
        groups: &[Vec<&Candidate<'a>>],
        policy: &Policy,
    ) -> Headline {
        let alone = self.alone(groups, policy);
        let surpassed = self.surpassed(&outcome);
        let verdict = self.verdict(&outcome, all, &surpassed);
        let Outcome { best, equals, outside, .. } = outcome;
        let total = groups.len();
        let praise = self.praise(best, &surpassed);
        let mut text = format!("Averaged over {}, {praise}{}{verdict}", count(total, "setting"), self.used(best));
        text.push_str(&self.say_surpassed(&surpassed));
        let own = alone.iter().find(|wins| wins.queue == best.name).map_or(0, |wins| wins.alike);
        text.push_str(&match own {
            own if own == total => " It is best or not significantly different from the best in each of them.".to_owned(),
            own => format!(
                " It is best or not significantly different from the best in {own} of them{}.",
                rival(&alone, best.name, own)
            ),
        });
        if let Some(matter) = self.what_matters_less(best, all, &equals) {
            text.push_str(&format!(" {matter}"));
        }
        if !outside.is_empty() {
            text.push_str(&format!(" Outside the policy ({policy}) in some setting: {}.", list(&reasons(&outside))));
        }
        if let Some(note) = self.whose_packets(all) {
            text.push_str(&format!(" {note}"));
        }
        let name = |one: &&Candidate<'_>| one.name.to_owned();
        Headline {
            text,
            best: Some(best.name.to_owned()),
            not_significantly_different: equals.iter().map(name).collect(),
            policy: policy.to_string(),
            outside_policy: self.points_outside(groups, policy),
        }
    }

    /// Labels of the points that do not satisfy the policy in their own setting.
    fn points_outside(&self, groups: &[Vec<&Candidate<'a>>], policy: &Policy) -> Vec<String> {
        let outside = |here: &Vec<&Candidate<'a>>| -> Vec<String> {
            let refused = here.iter().filter(|one| refused(one, here, &self.links, policy).is_some());
            refused.map(|one| one.name.to_owned()).collect()
        };
        groups.iter().flat_map(outside).collect()
    }

    /// In how many settings each queue is best, judged in each alone.
    fn alone(&self, groups: &[Vec<&Candidate<'a>>], policy: &Policy) -> Vec<Wins<'a>> {
        let mut all: Vec<Wins<'a>> = Vec::new();
        for here in groups {
            let Ok(outcome) = self.rank(here, policy) else { continue };
            let mut add = |one: &Candidate<'a>, best: usize| match all.iter_mut().find(|wins| wins.queue == one.queue) {
                Some(wins) => (wins.best, wins.alike) = (wins.best + best, wins.alike + 1),
                None => all.push(Wins { queue: one.queue, best, alike: 1 }),
            };
            add(outcome.best, 1);
            outcome.equals.iter().for_each(|one| add(one, 0));
        }
        all.sort_by_key(|wins| (std::cmp::Reverse(wins.alike), std::cmp::Reverse(wins.best)));
        all
    }

    /// The counts alone.
    fn counted(&self, groups: &[Vec<&Candidate<'a>>]) -> Headline {
        let alone = self.alone(groups, self.policy);
        let unsatisfied = groups.iter().filter(|here| self.rank(here, self.policy).is_err()).count();
        let outside = self.points_outside(groups, self.policy);
        let what = match self.interactive.is_empty() {
            true => format!("the queueing delay of {}", self.packets()),
            false => {
                let names: Vec<String> =
                    self.interactive_activities().into_iter().map(|activity| self.name_of(activity)).collect();
                format!("what {} got", list(&names))
            }
        };
        let parts: Vec<String> =
            alone.iter().map(|wins| format!("{} in {} (the best mean in {})", wins.queue, wins.alike, wins.best)).collect();
        let total = count(groups.len(), "setting");
        let mut text = match parts.is_empty() {
            true => format!("No queue satisfies the policy in any of {total}."),
            false => format!(
                "No queue can be called best over all of {total}. Best or not significantly different from the best, by {what}: {}.",
                list(&parts)
            ),
        };
        if unsatisfied > 0 && !parts.is_empty() {
            text.push_str(&format!(" No queue satisfies the policy in {}.", count(unsatisfied, "setting")));
        }
        if !outside.is_empty() {
            text.push_str(&format!(" Outside the policy ({}): {}.", self.policy, count(outside.len(), "point")));
        }
        Headline { text, best: None, not_significantly_different: Vec::new(), policy: String::new(), outside_policy: outside }
    }
}

/// Each queue that all settings have, over them.
fn pooled<'a>(groups: &[Vec<&Candidate<'a>>]) -> Vec<Candidate<'a>> {
    let everywhere = |one: &&Candidate<'a>| {
        let points: Option<Vec<&Candidate<'a>>> =
            groups.iter().map(|here| here.iter().find(|other| other.choices == one.choices).copied()).collect();
        Candidate::over(&points?).filter(|over| !over.blocks.is_empty())
    };
    groups.first().into_iter().flatten().filter_map(everywhere).collect()
}

/// What is best, or as good, in more settings than the one that is named.
fn rival(alone: &[Wins<'_>], best: &str, own: usize) -> String {
    let more: Vec<String> = alone
        .iter()
        .filter(|wins| wins.queue != best && wins.alike > own)
        .map(|wins| format!("{} in {}", wins.queue, wins.alike))
        .collect();
    if more.is_empty() { String::new() } else { format!(", {}", list(&more)) }
}
