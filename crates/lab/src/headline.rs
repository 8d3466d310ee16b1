//! The answer to a comparison of queues in a few sentences: which queue is best for the people on
//! the line, which ones are as good, and which do not satisfy the policy. Every page, table and
//! program shows these sentences as they are made here.
//!
//! Candidates are the queues that satisfy the [`Policy`]. Those that are significantly worse in
//! what the first interactive group gets are out, then those worse in the next figure, in the order
//! of [`Activity::ALL`]; what remains is equally good for everybody on the line, and the one that
//! comes closest to the best value of every figure is named. Without interactive groups the delay
//! of the link decides.
//!
//! A full line is worth little to people whose call is unusable on it. Where the best queue leaves
//! a call, a game or a ping unusable, the utilization that the policy asks for is lowered in steps
//! until the best one leaves all of them usable; the headline says so.

mod candidate;
mod policy;
mod relaxed;
mod settings;
mod surpassed;
pub mod words;

pub use policy::{POLICY_KEYS, Policy, PolicyError};

use crate::compare::Labels;
use crate::experience::{Activity, advantage};
use crate::plan::{Heading, Point};
use crate::runner::PointResult;
use crate::statistics::Figure;
use candidate::{Block, Candidate, Key, SOJOURN, refused};
use relaxed::Relaxed;
use serde::Serialize;
use surpassed::Surpassed;
use words::{figure, list, percent, time};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Headline {
    /// In words.
    pub text: String,
    /// Label of the best point, or the best queue over several settings; `None` where nothing is
    /// ranked or nothing satisfies the policy.
    pub best: Option<String>,
    /// Labels of those that are not significantly worse for anybody on the line.
    pub not_significantly_different: Vec<String>,
    /// The policy in words.
    pub policy: String,
    /// Labels of points that do not satisfy the policy.
    pub outside_policy: Vec<String>,
}

/// What is compared, all that the sentences are made from.
struct Ranking<'a> {
    candidates: Vec<Candidate<'a>>,
    policy: &'a Policy,
    /// The reported directions of the main link.
    links: Vec<&'a str>,
    interactive: Vec<Key<'a>>,
    waiting: Key<'a>,
    /// Activities that occur, in their order.
    activities: Vec<Activity>,
}

/// Those that do not satisfy the policy, with the reason.
type Outside<'a, 'b> = Vec<(&'b Candidate<'a>, String)>;

/// One setting's outcome.
struct Outcome<'a, 'b> {
    best: &'b Candidate<'a>,
    equals: Vec<&'b Candidate<'a>>,
    outside: Outside<'a, 'b>,
    /// All that were ranked.
    inside: Vec<&'b Candidate<'a>>,
}

impl Headline {
    /// Of these points and their results, which have the labels, at their main link.
    #[must_use]
    pub fn of(points: &[Point], results: &[PointResult], labels: &Labels, policy: &Policy) -> Self {
        let link = points.first().map_or("", |point| point.plan.main_link().name.as_str());
        Self::new(&points.iter().collect::<Vec<_>>(), results, labels, link, policy)
    }

    /// Of these points and their results, which have the labels, at `link` and its return
    /// direction.
    #[must_use]
    pub fn new(points: &[&Point], results: &[PointResult], labels: &Labels, link: &str, policy: &Policy) -> Self {
        let choices: Vec<Vec<(String, String)>> = labels.splits.iter().map(|split| split.choices.clone()).collect();
        let names = points.iter().find_map(|point| {
            let link = point.plan.links.iter().find(|known| known.name == link)?;
            Some([Heading::Down, Heading::Up].map(|heading| link.name_of(heading)))
        });
        let names = names.unwrap_or_else(|| [link.to_owned(), String::new()]);
        let reported = |name: &&String| {
            results.iter().flat_map(|point| &point.runs).any(|run| run.links.iter().any(|known| known.name == **name))
        };
        let links: Vec<&str> = names.iter().filter(reported).map(String::as_str).collect();
        let candidates: Vec<Candidate<'_>> = results
            .iter()
            .zip(&labels.names)
            .zip(labels.splits.iter().zip(&choices))
            .map(|((point, name), (split, choices))| Candidate {
                name,
                queue: split.queue.as_deref().unwrap_or(name),
                setting: &split.setting,
                choices,
                blocks: point.runs.iter().map(|run| Block { number: run.number, runs: vec![run] }).collect(),
            })
            .filter(|candidate| links.iter().any(|link| candidate.link(link, SOJOURN).mean.is_some()))
            .collect();
        let ranking = Ranking::new(candidates, links, policy);
        let said = ranking.say(link);
        let policy = if said.policy.is_empty() { policy.to_string() } else { said.policy.clone() };
        Self { policy, ..said }
    }

    /// Only words, where nothing is ranked.
    fn only(text: String) -> Self {
        Self { text, best: None, not_significantly_different: Vec::new(), policy: String::new(), outside_policy: Vec::new() }
    }
}

impl<'a> Ranking<'a> {
    fn new(candidates: Vec<Candidate<'a>>, links: Vec<&'a str>, policy: &'a Policy) -> Self {
        let interactive = Key::interactive(&candidates);
        let waiting = Key::waiting(&links);
        let groups = || candidates.iter().flat_map(Candidate::runs).flat_map(|run| &run.experience);
        let activities = Activity::ALL.into_iter().filter(|one| groups().any(|group| group.activity == *one)).collect();
        Self { candidates, policy, links, interactive, waiting, activities }
    }

    fn say(&self, link: &str) -> Headline {
        match self.candidates.as_slice() {
            [] => Headline::only(format!("No run finished in which a packet passed {link}, so there is nothing to compare.")),
            [one] => Headline::only(self.about_one(one, link)),
            all if all.iter().any(|one| one.choices.is_empty()) => Headline::only(self.range()),
            [first, rest @ ..] if rest.iter().all(|one| one.setting == first.setting) => {
                let all: Vec<&Candidate<'a>> = self.candidates.iter().collect();
                self.in_one_setting(&all)
            }
            _ => self.over_settings(),
        }
    }

    /// Ranks candidates of one setting; those outside the policy when none satisfies it.
    fn rank<'b>(&self, all: &[&'b Candidate<'a>], policy: &Policy) -> Result<Outcome<'a, 'b>, Outside<'a, 'b>> {
        let outside = |one: &&'b Candidate<'a>| Some((*one, refused(one, all, &self.links, policy)?));
        self.rank_inside(all, all.iter().filter_map(outside).collect())
    }

    /// Ranks candidates but for those outside the policy.
    fn rank_inside<'b>(&self, all: &[&'b Candidate<'a>], outside: Outside<'a, 'b>) -> Result<Outcome<'a, 'b>, Outside<'a, 'b>> {
        let is_inside = |one: &&&'b Candidate<'a>| !outside.iter().any(|(other, _)| one.is(other));
        let inside: Vec<&Candidate<'a>> = all.iter().filter(is_inside).copied().collect();
        let mut left = inside.clone();
        let last = self.interactive.is_empty().then_some(&self.waiting);
        for key in self.interactive.iter().chain(last) {
            let Some(best) = key.best(&left) else { return Err(outside) };
            left.retain(|one| one.is(best) || !one.is_worse(best, key));
        }
        let Some(best) = self.named(&left) else { return Err(outside) };
        let equals = match pairs(best, &inside) {
            // Without intervals no difference is significant.
            0 | 1 => inside.iter().copied().filter(|one| !one.is(best)).collect(),
            _ => left.into_iter().filter(|one| !one.is(best)).collect(),
        };
        Ok(Outcome { best, equals, outside, inside })
    }

    /// The one of equally good ones that is named: its distances to the best value of each
    /// interactive figure, in margins, have the least sum; of equal sums the one with the least
    /// delay of the link.
    fn named<'b>(&self, left: &[&'b Candidate<'a>]) -> Option<&'b Candidate<'a>> {
        let distance = |one: &Candidate<'_>, key: &Key<'_>| {
            let best = key.best(left)?.figure(key).mean?;
            let behind = advantage(key.about, best, one.figure(key).mean?);
            Some(behind / key.margin.around(best).max(f64::MIN_POSITIVE))
        };
        let sum = |one: &Candidate<'_>| self.interactive.iter().filter_map(|key| distance(one, key)).sum::<f64>();
        let least = left.iter().map(|one| sum(one)).min_by(f64::total_cmp)?;
        let nearest: Vec<&Candidate<'a>> = left.iter().copied().filter(|one| sum(one) <= least).collect();
        self.waiting.best(&nearest)
    }

    /// Queues under the same load.
    fn in_one_setting(&self, all: &[&Candidate<'a>]) -> Headline {
        let label = |one: &&Candidate<'_>| one.name.to_owned();
        let Relaxed { policy, outcome, note } = self.relaxed(|policy| self.rank(all, policy));
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(outside) => {
                let mut said = Headline::only(format!("No queue satisfies the policy ({policy}): {}.", list(&reasons(&outside))));
                said.outside_policy = outside.iter().map(|(one, _)| label(one)).collect();
                return said;
            }
        };
        let surpassed = self.surpassed(&outcome);
        let verdict = self.verdict(&outcome, all, &surpassed);
        let Outcome { best, equals, outside, .. } = outcome;
        let mut text = format!("{}{}{verdict}", self.praise(best, &surpassed), self.used(best));
        if let Some(note) = note {
            text.push_str(&format!(" {note}"));
        }
        text.push_str(&self.say_surpassed(&surpassed));
        if let Some(matter) = self.what_matters_less(best, all, &equals) {
            text.push_str(&format!(" {matter}"));
        }
        if !outside.is_empty() {
            text.push_str(&format!(" Outside the policy ({policy}): {}.", list(&reasons(&outside))));
        }
        if let Some(note) = self.whose_packets(all) {
            text.push_str(&format!(" {note}"));
        }
        Headline {
            text,
            best: Some(best.name.to_owned()),
            not_significantly_different: equals.iter().map(label).collect(),
            policy: policy.to_string(),
            outside_policy: outside.iter().map(|(one, _)| label(one)).collect(),
        }
    }

    /// How the others stand to the best, to the end of the sentence.
    fn verdict(&self, outcome: &Outcome<'_, '_>, all: &[&Candidate<'a>], surpassed: &[Surpassed<'a, '_>]) -> String {
        let Outcome { best, equals, inside, .. } = outcome;
        let (n, others) = (pairs(best, all), inside.len() - 1);
        let how = format!("(paired 95 % intervals, {n} replications)");
        if others == 0 {
            return ".".to_owned();
        }
        if n < 2 {
            return "; one replication gives no confidence interval, so no difference is significant.".to_owned();
        }
        if equals.is_empty() {
            let rest = if others == 1 { "the other is" } else { "every other is" };
            let in_what = if surpassed.is_empty() { "" } else { " in one of these figures" };
            return format!("; {rest} significantly worse{in_what} {how}.");
        }
        let names: Vec<String> = equals.iter().map(|one| one.name.to_owned()).collect();
        format!("; not significantly different: {} {how}.", list(&names))
    }

    /// What the best one is best in.
    fn praise(&self, best: &Candidate<'_>, surpassed: &[Surpassed<'a, '_>]) -> String {
        if self.interactive.is_empty() {
            return format!(
                "{} has the lowest queueing delay of {}: 95 % of them waited at most {}",
                best.name,
                self.packets(),
                figure(self.waiting.about, best.figure(&self.waiting))
            );
        }
        let is_claimed = |activity: &Activity| surpassed.iter().all(|one| one.activity != *activity);
        let names: Vec<String> =
            self.interactive_activities().into_iter().filter(is_claimed).map(|activity| self.name_of(activity)).collect();
        format!("{} is best for {}: {}", best.name, list(&names), self.experience(best))
    }

    /// Those that decide, in their order.
    fn interactive_activities(&self) -> Vec<Activity> {
        let mut activities: Vec<Activity> = self.interactive.iter().filter_map(Key::activity).collect();
        activities.dedup();
        activities
    }

    /// `the call`, `the pings`, `pages`.
    fn name_of(&self, activity: Activity) -> String {
        match activity {
            Activity::Page | Activity::Video | Activity::Transfer => activity.plural().to_owned(),
            _ if self.groups_of(activity) > 1 => format!("the {}", activity.plural()),
            _ => format!("the {}", activity.name()),
        }
    }

    fn groups_of(&self, activity: Activity) -> usize {
        let run = self.candidates.iter().flat_map(Candidate::runs).next();
        run.map_or(0, |run| run.experience.iter().filter(|group| group.activity == activity).count())
    }

    /// `call MOS 4.33 ± 0.01, ping RTT p95 22.9 ± 0.1 ms and 0 % lost`.
    fn experience(&self, one: &Candidate<'_>) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut last = None;
        for key in &self.interactive {
            let words = words_of(key, one);
            match key.activity() {
                Some(activity) if last != Some(activity) => parts.push(format!("{} {words}", activity.name())),
                _ => parts.push(words),
            }
            last = key.activity();
        }
        parts.join(", ")
    }

    /// Whose packets the delay of the link is of.
    fn packets(&self) -> &'static str {
        match self.activities.as_slice() {
            [Activity::Bulk] => "the bulk packets",
            _ => "all packets",
        }
    }

    /// The utilization of each direction.
    fn used(&self, one: &Candidate<'_>) -> String {
        let used = self.links.iter().filter_map(|link| Some((*link, one.link(link, "utilization").mean?)));
        let used: Vec<(&str, f64)> = used.collect();
        match used.as_slice() {
            [] => String::new(),
            [(_, used)] => format!(", at {} utilization", percent(*used)),
            several => {
                let each: Vec<String> = several.iter().map(|(link, used)| format!("{} of {link}", percent(*used))).collect();
                format!(", at utilizations of {}", list(&each))
            }
        }
    }

    /// A fair queue's link delay is that of its bulk flows: others do not wait behind them.
    fn whose_packets(&self, all: &[&Candidate<'_>]) -> Option<&'static str> {
        let is_fair = |one: &&Candidate<'_>| {
            let kinds = || one.choices.iter().flat_map(|(_, kind)| kind.split([':', ' ']));
            kinds().filter_map(goodqueue_aqm::sched::kind).any(|kind| kind.family == goodqueue_aqm::spec::Family::FlowQueueing)
        };
        (self.interactive.is_empty() && all.iter().any(is_fair)).then_some(
            "Nothing here is interactive: under fair queueing a call or a ping does not wait behind these packets, so add them \
             (--traffic) before choosing.",
        )
    }

    /// Which of several choices makes no difference, and which makes most.
    fn what_matters_less(&self, best: &Candidate<'a>, all: &[&Candidate<'a>], equals: &[&Candidate<'a>]) -> Option<String> {
        if best.choices.len() < 2 {
            return None;
        }
        let alike = |one: &&&Candidate<'_>, key: &str| {
            one.choices.iter().zip(best.choices).all(|(theirs, own)| theirs == own || own.0 == key) && !one.is(best)
        };
        let idle = |(key, _): &&(String, String)| {
            let mut others = all.iter().filter(|one| alike(one, key)).peekable();
            others.peek().is_some() && others.all(|one| equals.iter().any(|equal| equal.is(one)))
        };
        let keys: Vec<&str> = best.choices.iter().map(|(key, _)| key.as_str()).collect();
        let named = |choice: &(String, String)| dimension(&choice.0, &keys);
        let idle: Vec<String> = best.choices.iter().filter(idle).map(named).collect();
        if !idle.is_empty() {
            let (verb, there) =
                if idle.len() == 1 { ("matters", "no choice there is") } else { ("matter", "no choice of one of them is") };
            return Some(format!("{} {verb} less: {there} significantly different.", capital(&list(&idle))));
        }
        let keys = || self.interactive.iter().chain([&self.waiting]);
        let key = keys().find(|key| all.iter().any(|one| one.is_worse(best, key)))?;
        let worst = |choice: &(String, String)| {
            let others = all.iter().filter(|one| alike(one, &choice.0)).map(|one| one.figure(key));
            let held = best.figure(key).mean;
            let behind = |value: &Figure| match (held, value.mean) {
                (Some(held), Some(value)) => advantage(key.about, held, value),
                _ => f64::INFINITY,
            };
            let worst = others.max_by(|a, b| behind(a).total_cmp(&behind(b)))?;
            Some((named(choice), behind(&worst), figure(key.about, worst)))
        };
        let mut costs: Vec<(String, f64, String)> = best.choices.iter().filter_map(worst).collect();
        costs.sort_by(|a, b| b.1.total_cmp(&a.1));
        // Queues that are always the same in both directions have no other with one of them alone.
        let [most, .., least] = costs.as_slice() else { return None };
        let printed = key.about.printed.map_or(String::new(), |printed| format!(" {} {}", printed.head, printed.part));
        let what = format!("{}{printed}", key.activity().map_or("link", Activity::name));
        Some(format!(
            "What matters most is {}: its worst choice gives {} {}, that of {} {}.",
            most.0,
            what.trim_end(),
            most.2,
            least.0,
            least.2
        ))
    }

    fn about_one(&self, point: &Candidate<'_>, link: &str) -> String {
        let n = point.blocks.len();
        let certainty = if n == 1 {
            "; one replication gives no confidence interval".to_owned()
        } else {
            format!(" (means of {n} replications)")
        };
        let sojourn = time(point.link(link, SOJOURN).mean.unwrap_or_default());
        let used = point.link(link, "utilization").mean;
        let used = used.map_or_else(String::new, |used| format!(", and the link was {} used", percent(used)));
        let got = if self.interactive.is_empty() { String::new() } else { format!("; {}", self.experience(point)) };
        let whose = self.packets();
        format!("At {link}, 95 % of {whose} waited at most {sojourn}{used}{got}{certainty}.")
    }

    /// The range over points that differ in more than their queue: their loads differ, so none of
    /// them is better than another.
    fn range(&self) -> String {
        let all: Vec<&Candidate<'a>> = self.candidates.iter().collect();
        let key = self.interactive.first().unwrap_or(&self.waiting);
        let mean = |one: &&Candidate<'_>| one.figure(key).mean.unwrap_or_default();
        let least = all.iter().copied().min_by(|a, b| mean(a).total_cmp(&mean(b)));
        let most = all.iter().copied().max_by(|a, b| mean(a).total_cmp(&mean(b)));
        let (Some(least), Some(most)) = (least, most) else { return String::new() };
        let used: Vec<f64> =
            all.iter().filter_map(|one| self.links.first().and_then(|link| one.link(link, "utilization").mean)).collect();
        let low = used.iter().copied().fold(f64::INFINITY, f64::min);
        let high = used.iter().copied().fold(0.0, f64::max);
        let utilization =
            if used.is_empty() { String::new() } else { format!(", at utilizations from {} to {}", percent(low), percent(high)) };
        let what = match key.activity() {
            Some(activity) => format!("The {}'s {}", activity.name(), key.about.label),
            None => format!("The 95th percentile of queueing delay of {}", self.packets()),
        };
        let shown = |one: &Candidate<'_>| figure(key.about, Figure { ci95: None, ..one.figure(key) });
        format!("{what} goes from {} ({}) to {} ({}){utilization}.", shown(least), least.name, shown(most), most.name)
    }
}

/// `MOS 4.33 ± 0.01`, `RTT p95 22.9 ± 0.1 ms`, `0 % lost`.
fn words_of(key: &Key<'_>, one: &Candidate<'_>) -> String {
    let value = figure(key.about, one.figure(key));
    let printed = key.about.printed;
    let head = printed.map_or(key.about.label, |printed| printed.head);
    let part = printed.map(|printed| printed.part).filter(|part| !part.is_empty());
    match part {
        Some(part) => format!("{head} {part} {value}"),
        None if key.about.better == crate::metrics::Better::Lower => format!("{value} {head}"),
        None => format!("{head} {value}"),
    }
}

/// What a swept key of a queue is called: `the queue up`, `target`, `target up`; without the
/// direction where all are of one.
fn dimension(key: &str, keys: &[&str]) -> String {
    let is_up = |key: &str| key.contains(".queue_up");
    let last = key.rsplit('.').next().unwrap_or(key);
    let name = if matches!(last, "queue" | "queue_up") { "the queue" } else { last };
    let way = if is_up(key) { "up" } else { "down" };
    if keys.iter().all(|other| is_up(other) == is_up(key)) { name.to_owned() } else { format!("{name} {way}") }
}

fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// `name (why)` of each, as many as can be read.
fn reasons(outside: &[(&Candidate<'_>, String)]) -> Vec<String> {
    const MOST: usize = 4;
    let mut reasons: Vec<String> = outside.iter().map(|(one, why)| format!("{} ({why})", one.name)).collect();
    if reasons.len() > MOST + 1 {
        let others = reasons.len() - MOST;
        reasons.truncate(MOST);
        reasons.push(format!("{others} others"));
    }
    reasons
}

/// Replications that the best one shares with every other.
fn pairs(best: &Candidate<'_>, among: &[&Candidate<'_>]) -> usize {
    among.iter().map(|one| one.shared(best)).min().unwrap_or(0)
}

#[cfg(test)]
mod tests;
