//! The outcome in words: two sentences for everybody, then the figures.

use super::policy::{BUSY, Policy};
use super::rule::{Candidate, Key, MIN_REPLICATIONS, Outcome, Role, Standing, grades, pairs, rank};
use super::units::of_pings;
use super::words::{capital, figure, heading, list, list_up_to, percent, short};
use super::{Comparison, Shaped};
use crate::results::experience::{Activity, advantage};
use crate::results::grade::Grade;
use crate::results::headline::{Graded, Headline};
use crate::results::metrics::Better;

/// More names make a sentence hard to read.
const MAX_NAMES: usize = 3;
/// More queues than these are not listed with their latency.
const MAX_LISTED: usize = 8;
const LATE_RATIO: &str = "late_ratio";
/// The share of lost pings above which a 95th percentile of the answers misleads.
const MANY_LOST: f64 = 0.05;

/// A ranking, and which candidates it is of.
struct Judged {
    outcome: Outcome,
    /// Places of the ranked candidates among all.
    ranked: Vec<usize>,
}

/// Describes what people notice when a line changes from one queue to another, in one sentence, by
/// the means over settings.
#[must_use]
pub fn effect(keys: &[Key], before: (&str, &Candidate<'_>), after: (&str, &Candidate<'_>)) -> String {
    let candidates = vec![before.1.clone(), after.1.clone()];
    let Some(outcome) = rank(keys, &candidates) else { return String::new() };
    let grades = grades(keys, &candidates);
    let judged = Judged { outcome: Outcome { best: 1, grades, ..outcome }, ranked: vec![0, 1] };
    let comparison = Comparison {
        names: vec![before.0, after.0],
        choices: vec![&[], &[]],
        candidates,
        keys: keys.to_vec(),
        links: Vec::new(),
        unit: super::Unit::default(),
    };
    comparison.effect(&judged)
}

/// Names what is unusable under this queue by the means over settings, after "cannot": `carry a
/// call`.
#[must_use]
pub fn cannot_carry(keys: &[Key], one: &Candidate<'_>) -> Option<String> {
    let one = std::slice::from_ref(one);
    let outcome = Outcome { best: 0, as_good: Vec::new(), open: Vec::new(), grades: grades(keys, one) };
    let judged = Judged { outcome, ranked: vec![0] };
    let mut cannot: Vec<String> = judged.unusable(0).into_iter().map(cannot).collect();
    cannot.dedup();
    (!cannot.is_empty()).then(|| cannot.join(" or "))
}

/// Words about each figure, those of one activity behind its name.
pub fn by_who(keys: &[Key], say: impl Fn(&Key) -> String) -> String {
    let mut last = "";
    let mut said = |key: &Key| {
        let who = if last == key.who() { String::new() } else { format!("{} ", key.who()) };
        last = key.who();
        format!("{who}{}", say(key))
    };
    keys.iter().map(&mut said).collect::<Vec<_>>().join(", ")
}

impl<'a> Comparison<'a> {
    /// The verdict on several queues.
    pub(super) fn judge(&self, policy: &Policy) -> Headline {
        let excluded = self.excluded(policy);
        let ranked: Vec<usize> =
            (0..self.candidates.len()).filter(|one| !excluded.iter().any(|(other, _)| other == one)).collect();
        let candidates: Vec<Candidate<'a>> = ranked.iter().map(|one| self.candidates[*one].clone()).collect();
        let label = |one: usize| self.names[one].to_owned();
        let reasons: Vec<String> = excluded.iter().map(|(one, why)| format!("{} ({why})", self.names[*one])).collect();
        let outside = Headline {
            policy: policy.to_string(),
            outside_policy: excluded.iter().map(|(one, _)| label(*one)).collect(),
            ..Headline::default()
        };
        let Some(outcome) = rank(&self.keys, &candidates) else {
            return Headline { text: format!("No queue satisfies the policy ({policy}): {}.", list(&reasons)), ..outside };
        };
        let judged = Judged { outcome, ranked };
        let best = judged.best();
        let price = self.price(best);
        let mut details = vec![format!("Under {}: {}.", self.names[best], self.experience(best))];
        details.extend(self.certainty(&judged));
        details.extend((!price.is_empty()).then(|| price.clone()));
        details.extend(self.better_elsewhere(&judged));
        details.extend(self.over_settings(&judged));
        details.extend(self.what_matters(best, &judged));
        details.extend(
            (!reasons.is_empty()).then(|| format!("Not ranked, since the policy asks for {policy}: {}.", list(&reasons))),
        );
        let all = self.candidates.len();
        let shown = (0..all).filter(|one| all <= MAX_LISTED || *one == best || self.candidates[*one].role == Role::Nothing);
        details.extend(self.unit.under_load(shown.map(|one| (self.names[one], &self.candidates[one]))));
        details.extend(self.whose_packets());
        let unusable = judged.unusable(best);
        let not_significantly_different = judged.equals().map(label).collect();
        let grades = judged.ranked.iter().zip(&judged.outcome.grades);
        Headline {
            text: format!("{} {}\n\n{}", self.advice(&judged), self.effect(&judged), details.join("\n")),
            best: Some(label(best)),
            not_significantly_different,
            price,
            unusable,
            grades: grades.map(|(one, grades)| Graded { label: label(*one), grades: grades.clone() }).collect(),
            ..outside
        }
    }

    /// The advice on which queue to use.
    fn advice(&self, judged: &Judged) -> String {
        let best = judged.best();
        let name = self.names[best];
        let unusable = judged.unusable(best);
        let well = self.does_as_well(judged);
        if !unusable.is_empty() {
            let nobody = |who: &&str| judged.ranked.iter().all(|one| judged.unusable(*one).contains(who));
            let cannot: Vec<String> = unusable.iter().copied().filter(nobody).map(cannot).collect();
            return match cannot.is_empty() {
                true => format!("{name} is the least bad queue for this line overall{well}."),
                false => format!("No queue makes this line {}; {name} is the least bad overall{well}.", cannot.join(" or ")),
            };
        }
        match self.candidates[best].role {
            Role::Nothing if self.better_elsewhere(judged).is_empty() => {
                format!("Leave it as it is: no queue does noticeably better than {name} here.")
            }
            Role::Nothing => format!("Leave it as it is: no queue serves people better on the whole than {name} does here."),
            Role::SetUp => format!("Use {name}{well}."),
        }
    }

    /// ` (cake does as well; choose whichever is easier to set)`.
    fn does_as_well(&self, judged: &Judged) -> String {
        let names = self.named(judged, &judged.outcome.as_good);
        let verb = if names.len() == 1 { "does" } else { "do" };
        match names.is_empty() {
            true => String::new(),
            false => format!(" ({} {verb} as well; choose whichever is easier to set)", list_up_to(names, MAX_NAMES)),
        }
    }

    /// Names of these places of an outcome.
    fn named(&self, judged: &Judged, places: &[usize]) -> Vec<String> {
        places.iter().map(|one| self.names[judged.ranked[*one]].to_owned()).collect()
    }

    /// Describes what people notice, before and after.
    fn effect(&self, judged: &Judged) -> String {
        let best = judged.best();
        let Some(before) = self.reference(judged) else { return self.state(judged) };
        let (old, new) = (&self.candidates[before], &self.candidates[best]);
        let changes = |counts: &dyn Fn(&Key) -> bool| {
            let mut found: Vec<(usize, &str, (f64, String))> = Vec::new();
            for (place, key) in self.keys.iter().enumerate().filter(|(_, key)| counts(key)) {
                let Some(change) = self.change(judged, key, before, best) else { continue };
                match found.iter_mut().find(|(_, who, _)| *who == key.who()) {
                    // A time says more than the share that is late.
                    Some(held) if held.2.0 < change.0 || key.about.name == "rtt_s.p95" => *held = (place, key.who(), change),
                    Some(_) => {}
                    None => found.push((place, key.who(), change)),
                }
            }
            found.sort_by(|a, b| b.2.0.total_cmp(&a.2.0));
            found.truncate(2);
            found
        };
        let mut gains = changes(&|key| key.standing(old, new) == Standing::Worse);
        let losses = changes(&|key| key.costs(new, old));
        gains.sort_by_key(|(place, ..)| *place);
        // An activity that gains in what counts more does not lose.
        let losses: Vec<_> = losses.into_iter().filter(|(_, who, _)| !gains.iter().any(|(_, gains, _)| gains == who)).collect();
        let named = |who: &str| gains.iter().any(|(_, one, _)| *one == who);
        let is_clear = |one: &Candidate<'_>| {
            let mut calls = self.keys.iter().filter(|key| key.activity == Activity::Call).peekable();
            calls.peek().is_some() && calls.all(|key| key.own_grade(one) == Some(Grade::Good))
        };
        let stays = is_clear(old) && is_clear(new) && !named("call");
        let said = gains.iter().map(|(_, _, (_, words))| words.clone());
        let said: Vec<String> = said.chain(stays.then(|| "calls stay clear".to_owned())).collect();
        let losses: Vec<String> = losses.into_iter().map(|(_, _, (_, words))| words).collect();
        let is_open = judged.outcome.open.iter().any(|one| judged.ranked[*one] == before);
        match (gains.is_empty(), losses.is_empty()) {
            (true, _) if is_open => "The difference is too small for us to tell.".to_owned(),
            (true, true) => self.state(judged),
            (true, false) => format!("It has a price: compared with {}, {}.", self.names[before], list(&losses)),
            (false, true) => format!("Compared with {}, {}.", self.names[before], list(&said)),
            (false, false) => format!("Compared with {}, {}, but {}.", self.names[before], list(&said), list(&losses)),
        }
    }

    /// The queue that the named one is compared with: the line with nothing set up, or else the
    /// worst queue.
    fn reference(&self, judged: &Judged) -> Option<usize> {
        let best = judged.best();
        let others = || (0..self.candidates.len()).filter(|one| *one != best);
        if self.candidates[best].role == Role::Nothing {
            return None;
        }
        let nothing = others().find(|one| self.candidates[*one].role == Role::Nothing);
        let margins = |one: usize| {
            let key = self.keys.first()?;
            let margin = key.margin.around(key.figure(&self.candidates[best]).mean?).max(f64::MIN_POSITIVE);
            Some(key.behind(&self.candidates[one], &self.candidates[best]).mean? / margin)
        };
        let bad = |one: usize| (judged.worst_first(one), margins(one).unwrap_or(f64::INFINITY));
        let worst = || {
            others().max_by(|a, b| {
                let ((a, behind_a), (b, behind_b)) = (bad(*a), bad(*b));
                a.cmp(&b).then(behind_a.total_cmp(&behind_b))
            })
        };
        nothing.or_else(worst)
    }

    /// The change of a figure from one queue to another: how much it matters, and the words.
    fn change(&self, judged: &Judged, key: &Key, before: usize, after: usize) -> Option<(f64, String)> {
        let grade = |one: usize| judged.grade(one, key.who()).map(|grade| grade as i32);
        let grades = grade(before).zip(grade(after)).map_or(0, |(before, after)| (before - after).abs());
        let mean = |one: usize| key.figure(&self.candidates[one]).mean;
        let (old, new) = (mean(before), mean(after));
        let floor = key.margin.around(0.0).max(1e-9);
        let ratio = old.zip(new).map_or(1e3, |(old, new)| libm::log((old.abs() + floor) / (new.abs() + floor)).abs());
        let score = self.keys.iter().find(|key| key.activity == Activity::Call && key.about.name == "mos");
        let own_grade = |one: usize| score.and_then(|key| key.own_grade(&self.candidates[one]));
        let is_score_another = own_grade(before) != own_grade(after);
        let words = match (key.activity, judged.grade(before, "call"), judged.grade(after, "call")) {
            (Activity::Call, Some(Grade::Good), Some(Grade::Good)) => return None,
            (Activity::Call, Some(old), Some(new)) if old != new && is_score_another => {
                format!("calls are {} instead of {}", sound(new), sound(old))
            }
            (Activity::Call, ..) if key.about.name == "mos" => {
                let better = old.zip(new).is_none_or(|(old, new)| advantage(key.about, new, old) > 0.0);
                format!("calls sound {}", if better { "better" } else { "worse" })
            }
            _ if key.about.name != LATE_RATIO && (self.loses_pings(key, before) || self.loses_pings(key, after)) => {
                template(key).replace("pings", "answered pings").replace("{}", &instead(key, new, old))
            }
            _ => template(key).replace("{}", &instead(key, new, old)),
        };
        Some((10.0 * f64::from(grades) + ratio, words))
    }

    /// Whether so many pings are never answered that a percentile of the answers misleads.
    fn loses_pings(&self, key: &Key, one: usize) -> bool {
        key.activity == Activity::Ping && of_pings(&self.candidates[one], "loss_ratio").is_some_and(|lost| lost > MANY_LOST)
    }

    /// Describes what people get under the named queue.
    fn state(&self, judged: &Judged) -> String {
        let best = judged.best();
        let mut said: Vec<String> = Vec::new();
        let told = |key: &&Key| match (key.activity, key.about.name) {
            (Activity::Ping, name) => (name == LATE_RATIO) == self.loses_pings(key, best),
            _ => !said_better_by_another(key),
        };
        for key in self.keys.iter().filter(told) {
            let mean = key.figure(&self.candidates[best]).mean;
            match (key.activity, judged.grade(best, key.who())) {
                (Activity::Call, Some(grade)) => said.push(format!("calls are {}", sound(grade))),
                _ => said.push(template(key).replace("{}", &short(key.about, mean))),
            }
        }
        said.truncate(2);
        capital(&format!("{}.", list(&said)))
    }

    /// `call MOS 4.33 ± 0.01, ping 0 % late, RTT p95 22.9 ± 0.1 ms, downloads goodput 9.4 Mbit/s`.
    fn experience(&self, one: usize) -> String {
        by_who(&self.keys, |key| words_of(key, &self.candidates[one]))
    }

    /// Describes how sure the ranking is.
    fn certainty(&self, judged: &Judged) -> Option<String> {
        let best = judged.best();
        let n = self.candidates.iter().map(|one| pairs(&self.candidates[best], one).count()).min().unwrap_or(0);
        let equal = self.named(judged, &judged.outcome.as_good);
        if n < MIN_REPLICATIONS as usize {
            let runs = if n == 2 { "Two runs of each" } else { "One run of each" };
            let equal = if equal.is_empty() { String::new() } else { format!(" As good: {}.", list(&equal)) };
            return Some(format!("{runs}: a difference may be luck.{equal}"));
        }
        let how = format!("(paired 95 % intervals, {n} replications)");
        let stands = |key: &Key, one: usize, other: usize| key.standing(&self.candidates[one], &self.candidates[other]);
        let is_worse = |one: usize| {
            self.keys.iter().any(|key| stands(key, one, best) == Standing::Worse)
                && self.keys.iter().all(|key| stands(key, best, one) != Standing::Worse)
        };
        if (0..self.candidates.len()).filter(|one| *one != best).all(is_worse) {
            return Some(format!("Every other queue is significantly worse {how}."));
        }
        let open = self.named(judged, &judged.outcome.open);
        match (equal.is_empty(), open.is_empty()) {
            (true, true) => Some(format!("Every other queue is significantly worse in a figure that decides {how}.")),
            (false, true) => Some(format!("As good: {} {how}.", list(&equal))),
            (true, false) => Some(format!("Perhaps as good: {}; the difference is too small for us to tell {how}.", list(&open))),
            (false, false) => Some(format!("As good: {}; perhaps: {} {how}.", list(&equal), list(&open))),
        }
    }

    /// The price of the named queue: the part of the line that it leaves unused, and what downloads
    /// pay.
    fn price(&self, best: usize) -> String {
        let used = |one: usize, link: usize| self.candidates[one].figure(|sample| sample.links[link].utilization).mean;
        let greatest = |of: &dyn Fn(usize) -> Option<f64>| {
            let all = (0..self.candidates.len()).filter_map(|one| Some((one, of(one)?)));
            all.reduce(|a, b| if b.1 > a.1 { b } else { a })
        };
        let most = |link: usize| greatest(&|one| used(one, link)).filter(|(_, used)| *used >= BUSY);
        let of_link = |link: usize| {
            let (other, most) = most(link)?;
            let share = |used: f64| format!("{:.0} %", 100.0 * (1.0 - used.min(1.0)));
            let own = used(best, link)?;
            let whose = if self.links.len() > 1 { self.links[link] } else { "the line" };
            (most.min(1.0) - own > 0.01)
                .then(|| format!("{} of {whose} unused ({} {})", share(own), self.names[other], share(most)))
        };
        let unused: Vec<String> = (0..self.links.len()).filter_map(of_link).collect();
        let of_bulk = |key: &Key| {
            let mean = |one: usize| key.figure(&self.candidates[one]).mean;
            let (other, most) = greatest(&mean)?;
            (key.standing(&self.candidates[best], &self.candidates[other]) == Standing::Worse)
                .then(|| format!("{} get {} under {}", key.who(), instead(key, mean(best), Some(most)), self.names[other]))
        };
        let goodput = self.keys.iter().filter(|key| key.activity == Activity::Bulk && key.about.name == "goodput_bit_s");
        let is_busy = (0..self.links.len()).any(|link| most(link).is_some());
        let leaves = match unused.is_empty() {
            true => is_busy.then(|| "it uses as much of the line as any other queue".to_owned()),
            false => Some(format!("it leaves {}", list(&unused))),
        };
        let parts: Vec<String> = leaves.into_iter().chain(goodput.filter_map(of_bulk)).collect();
        if parts.is_empty() { String::new() } else { capital(&format!("{}.", parts.join("; "))) }
    }

    /// Activities that are significantly better under another queue.
    fn better_elsewhere(&self, judged: &Judged) -> Vec<String> {
        let best = judged.best();
        let better = |key: &Key| {
            let others = judged.ranked.iter().copied().filter(|one| *one != best);
            let ahead = others.filter(|one| key.standing(&self.candidates[best], &self.candidates[*one]) == Standing::Worse);
            let ahead: Vec<(usize, f64)> = ahead.filter_map(|one| Some((one, key.figure(&self.candidates[one]).mean?))).collect();
            let (top, _) = ahead.into_iter().reduce(|a, b| if advantage(key.about, b.1, a.1) > 0.0 { b } else { a })?;
            Some(format!("Better under {}: {} {}.", self.names[top], key.who(), words_of(key, &self.candidates[top])))
        };
        self.keys.iter().filter(|key| key.is_interactive()).filter_map(better).collect()
    }

    /// In how many settings the named queue is among the best.
    fn over_settings(&self, judged: &Judged) -> Option<String> {
        if self.settings() < 2 {
            return None;
        }
        let best = judged.best();
        let alone = |setting: usize| {
            let one = |place: &usize| self.candidates[*place].in_setting(setting);
            rank(&self.keys, &judged.ranked.iter().map(one).collect::<Vec<_>>())
        };
        let outcomes: Vec<Outcome> = (0..self.settings()).filter_map(alone).collect();
        let wins = |place: usize| {
            let own = judged.ranked.iter().position(|ranked| *ranked == place);
            outcomes.iter().filter(|outcome| own.is_some_and(|own| outcome.keeps(own))).count()
        };
        let own = wins(best);
        let rivals = judged.ranked.iter().filter(|one| **one != best && wins(**one) > own);
        let rivals: Vec<String> = rivals.map(|one| format!("{} in {}", self.names[*one], wins(*one))).collect();
        let rivals = if rivals.is_empty() { String::new() } else { format!(", {}", list(&rivals)) };
        let all = self.settings();
        Some(match own == all {
            true => format!("Figures are averages over {all} settings; it is among the best in each of them."),
            false => format!("Figures are averages over {all} settings; it is among the best in {own} of them{rivals}."),
        })
    }

    /// Names those of several choices that make no difference, or else the one that makes most.
    fn what_matters(&self, best: usize, judged: &Judged) -> Option<String> {
        let own = self.choices[best];
        if own.len() < 2 {
            return None;
        }
        let alike = |place: usize, key: &str| {
            place != best && self.choices[place].iter().zip(own).all(|(theirs, own)| theirs == own || own.0 == key)
        };
        let keys: Vec<&str> = own.iter().map(|(key, _)| key.as_str()).collect();
        let is_equal = |place: usize| judged.equals().any(|equal| equal == place);
        let others = |key: &str| judged.ranked.iter().copied().filter(|place| alike(*place, key)).collect::<Vec<_>>();
        let idle = own.iter().map(|(key, _)| key.as_str()).filter(|key| {
            let others = others(key);
            !others.is_empty() && others.into_iter().all(is_equal)
        });
        let idle: Vec<String> = idle.map(|key| dimension(key, &keys)).collect();
        if !idle.is_empty() {
            let verb = if idle.len() == 1 { "matters" } else { "matter" };
            return Some(format!("{} {verb} less: no choice of it is significantly different.", capital(&list(&idle))));
        }
        let behind = |one: usize, key: &Key| key.standing(&self.candidates[one], &self.candidates[best]) == Standing::Worse;
        let key = self.keys.iter().find(|key| (0..self.candidates.len()).any(|one| behind(one, key)))?;
        let cost = |choice: &str| {
            let behind = |one: &usize| key.behind(&self.candidates[*one], &self.candidates[best]).mean.unwrap_or(f64::INFINITY);
            let all = (0..self.candidates.len()).filter(|place| alike(*place, choice));
            let worst = all.max_by(|a, b| behind(a).total_cmp(&behind(b)))?;
            Some((dimension(choice, &keys), behind(&worst), figure(key.about, key.figure(&self.candidates[worst]))))
        };
        let mut costs: Vec<(String, f64, String)> = keys.iter().filter_map(|key| cost(key)).collect();
        costs.sort_by(|a, b| b.1.total_cmp(&a.1));
        // Queues that are always the same in both directions have no other with one of them alone.
        let [most, .., least] = costs.as_slice() else { return None };
        let what = format!("{} {}", key.who(), heading(key.about));
        Some(format!(
            "What matters most is {}: its worst choice gives {what} {}, that of {} {}.",
            most.0, most.2, least.0, least.2
        ))
    }

    /// A fair queue's link delay is that of its bulk flows: others do not wait behind them.
    fn whose_packets(&self) -> Option<String> {
        let is_fair = |name: &str| {
            let kinds = name.split([':', ' ']).filter_map(goodqueue_aqm::sched::kind);
            kinds.into_iter().any(|kind| kind.family == goodqueue_aqm::spec::Family::FlowQueueing)
        };
        let has_fair = || self.choices.iter().flat_map(|choices| choices.iter()).any(|(_, name)| is_fair(name));
        let is_interactive = self.keys.iter().any(Key::is_interactive);
        (!is_interactive && has_fair()).then(|| {
            "Nobody waits here: under fair queueing a call or a ping does not wait behind these packets, so add some before \
             choosing."
                .to_owned()
        })
    }

    /// Queues that miss the policy in some setting, with the reason.
    fn excluded(&self, policy: &Policy) -> Vec<(usize, String)> {
        let one_setting =
            |setting: usize| -> Vec<Candidate<'a>> { self.candidates.iter().map(|one| one.in_setting(setting)).collect() };
        let by_setting: Vec<Vec<Candidate<'a>>> = (0..self.settings()).map(one_setting).collect();
        let reason = |one: usize| by_setting.iter().find_map(|here| policy.refuses(&here[one], here, &self.links));
        (0..self.candidates.len()).filter_map(|one| Some((one, reason(one)?))).collect()
    }

    /// The headline for the only point: what people got there. `shaped` has the rates below that of
    /// each link to which classes shape it.
    pub(super) fn about_one(&self, shaped: &[Option<Shaped>]) -> Headline {
        let one = &self.candidates[0];
        let Some(outcome) = rank(&self.keys, &self.candidates) else { return Headline::default() };
        let judged = Judged { outcome, ranked: vec![0] };
        let used = |link: usize| {
            let used = one.figure(|sample| sample.links[link].utilization).mean?;
            let name = if self.links.len() > 1 { self.links[link] } else { "the line" };
            Some(match shaped.get(link).copied().flatten() {
                Some(Shaped { rate, part }) => format!("{} of the {rate} of the classes of {name}", percent(used / part)),
                None => format!("{} of {name}", percent(used)),
            })
        };
        let used: Vec<String> = (0..self.links.len()).filter_map(used).collect();
        let used = if used.is_empty() { String::new() } else { format!(" {} is used.", list(&used)) };
        let runs = one.replications();
        let runs = if runs == 1 { "One run.".to_owned() } else { format!("Means of {runs} replications.") };
        let mut details = vec![format!("{}.", capital(&self.experience(0)))];
        if self.keys.iter().any(Key::is_interactive) {
            let at = |(place, link): (usize, &&str)| {
                let wait = Some(one.wait_at(place)).filter(|wait| wait.n > 0)?;
                Some(format!("{} at {link}", figure(Key::wait().about, wait)))
            };
            let waits: Vec<String> = self.links.iter().enumerate().filter_map(at).collect();
            details.push(format!("95 % of the packets wait at most {}.", list(&waits)));
        }
        details.extend(self.unit.under_load([(self.names[0], &self.candidates[0])].into_iter()));
        details.push(runs);
        let grades = vec![Graded { label: self.names[0].to_owned(), grades: judged.outcome.grades[0].clone() }];
        let text = format!("{}{used}\n\n{}", self.state(&judged), details.join("\n"));
        Headline { text, unusable: judged.unusable(0), grades, ..Headline::default() }
    }
}

impl Judged {
    fn best(&self) -> usize {
        self.ranked[self.outcome.best]
    }

    fn equals(&self) -> impl Iterator<Item = usize> {
        let places = self.outcome.as_good.iter().chain(&self.outcome.open);
        let mut equals: Vec<usize> = places.map(|one| self.ranked[*one]).collect();
        equals.sort_unstable();
        equals.into_iter()
    }

    fn grades(&self, place: usize) -> &[(&'static str, Grade)] {
        let one = self.ranked.iter().position(|ranked| *ranked == place);
        one.map_or(&[], |one| self.outcome.grades[one].as_slice())
    }

    fn grade(&self, place: usize, who: &str) -> Option<Grade> {
        self.grades(place).iter().find(|(known, _)| *known == who).map(|(_, grade)| *grade)
    }

    fn unusable(&self, place: usize) -> Vec<&'static str> {
        self.grades(place).iter().filter(|(_, grade)| *grade == Grade::Unusable).map(|(who, _)| *who).collect()
    }

    fn worst_first(&self, place: usize) -> Vec<Grade> {
        let mut list: Vec<Grade> = self.grades(place).iter().map(|(_, grade)| *grade).collect();
        list.sort_by(|a, b| b.cmp(a));
        list
    }
}

/// The words of a sentence for a figure; the value stands at the braces.
fn template(key: &Key) -> String {
    let own = match (key.activity, key.about.name) {
        (Activity::Call, "bad_ratio") => "calls are bad {} of the time",
        (Activity::Call, _) => "calls have an opinion score of {}",
        (Activity::Game, "loss_ratio") => "games lose {} of their packets",
        (Activity::Game, _) => "moves in games nearly always arrive within {}",
        (Activity::Ping, LATE_RATIO) => "{} of pings come late or never",
        (Activity::Ping, _) => "pings nearly always return within {}",
        (Activity::Page, _) => "pages nearly always open within {}",
        (Activity::Video, "stalled_ratio") => "videos stand still {} of the time",
        (Activity::Video, _) => "videos get {}",
        (Activity::Transfer, _) => "transfers nearly always end within {}",
        (Activity::Bulk, "goodput_bit_s") => return format!("{} get {{}}", key.who()),
        (Activity::Bulk | Activity::Stream, _) => "packets nearly always wait at most {}",
    };
    if key.who() == "L4S ping" { own.replace("pings", "L4S pings") } else { own.to_owned() }
}

/// Whether another figure says more: of a ping that nearly always returns, the time says more than
/// the share that is late, and of a call its score says more than the share that is bad.
pub(super) fn said_better_by_another(key: &Key) -> bool {
    matches!(key.about.name, LATE_RATIO | "bad_ratio")
}

/// `21 ms instead of 219 ms`, with one unit where both have the same.
fn instead(key: &Key, new: Option<f64>, old: Option<f64>) -> String {
    let (new, old) = (short(key.about, new), short(key.about, old));
    match (new.rsplit_once(' '), old.rsplit_once(' ')) {
        (Some((value, unit)), Some((_, other))) if unit == other => format!("{value} instead of {old}"),
        _ => format!("{new} instead of {old}"),
    }
}

/// The sound of a call of this grade, in a word.
const fn sound(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "clear",
        Grade::Fair => "fair",
        Grade::Poor => "poor",
        Grade::Unusable => "unusable",
    }
}

/// Names what a line cannot do if the activity is unusable under every queue.
fn cannot(who: &str) -> String {
    match who {
        "ping" | "L4S ping" => "answer pings in time".to_owned(),
        "page" => "open pages in time".to_owned(),
        "video" => "play video without stalls".to_owned(),
        other => format!("carry a {other}"),
    }
}

/// `MOS 4.33 ± 0.01`, `RTT p95 22.9 ± 0.1 ms`, `0 % late`.
fn words_of(key: &Key, one: &Candidate<'_>) -> String {
    let value = figure(key.about, key.figure(one));
    let has_part = key.about.printed.is_some_and(|printed| !printed.part.is_empty());
    match (has_part, key.about.better) {
        (false, Better::Lower) => format!("{value} {}", heading(key.about)),
        _ => format!("{} {value}", heading(key.about)),
    }
}

/// The name of a swept key of a queue: `the queue up`, `target`, `target up`; without the direction
/// where all are of one.
fn dimension(key: &str, keys: &[&str]) -> String {
    let is_up = |key: &str| key.contains(".queue_up");
    let last = key.rsplit('.').next().unwrap_or(key);
    let name = if matches!(last, "queue" | "queue_up") { "the queue" } else { last };
    let way = if is_up(key) { "up" } else { "down" };
    if keys.iter().all(|other| is_up(other) == is_up(key)) { name.to_owned() } else { format!("{name} {way}") }
}
