//! The answer on another host: the choice and what else was tried, at the same corners with the
//! same seeds, with senders that are not the simulator's.

use crate::results::statistics::Figure;
use crate::run::backend::{Backend, Simulator};
use crate::run::recommend::answer::Recommendation;
use crate::run::recommend::answer::checked::{Agreement, Better, Check, Doubt, Held};
use crate::run::recommend::candidates::Candidate;
use crate::run::recommend::choose::satisfying;
use crate::run::recommend::question::{Question, Refused};
use crate::run::recommend::race::{self, Block, MIN_ROUNDS, behind, standing};
use crate::run::recommend::search::Search;
use crate::run::recommend::tried::{Tried, over_settings};
use crate::verdict::rule::{Key, Sample, Standing};
use crate::verdict::words::{figure, heading, list};
use std::sync::atomic::AtomicBool;

/// Refuses a question whose scenarios `host` cannot run, before anything has run. Groups of the mix
/// that it cannot carry are left out as long as others are left.
///
/// # Errors
/// The key that it cannot honor, and why.
pub fn refuse(question: &Question, host: &dyn Backend) -> Result<(), Refused> {
    let stop = AtomicBool::new(false);
    Search::new(question, host, &stop).leaving_out_refused()?.refuse(&Candidate::NOTHING)
}

/// Runs the choice, its queues at the other shaped rates, the best of every other kind and the bare
/// line on `host`, and adds to `answer` what comes of it: in one setting of each mix, where the
/// buffer is deepest, since hosts take seconds for a run. What the host cannot carry of the mix is
/// left out there, and of the simulator's runs that the choice is compared with.
///
/// # Errors
/// When `host` cannot run a scenario, or it was stopped before the first round had ended.
pub fn check(
    question: &Question,
    answer: &mut Recommendation,
    host: &dyn Backend,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Result<(), Refused> {
    let mut search = Search::new(question, host, stop).leaving_out_refused()?;
    let mut all: Vec<Tried> = challenged(answer).into_iter().map(Tried::new).collect();
    all.iter().try_for_each(|one| search.refuse(&one.candidate))?;
    let settings = search.sketch();
    search.run(&mut all, &settings, MIN_ROUNDS, progress)?;
    let left_out = search.left_out.clone();
    let mut simulated = [Tried::new(answer.choice.candidate.clone())];
    if left_out.is_empty() {
        simulated[0].blocks = answer.choice.blocks.iter().filter(|block| settings.contains(&block.setting)).cloned().collect();
    } else {
        search.on(&Simulator).run(&mut simulated, &settings, MIN_ROUNDS, &mut |_| {})?;
    }
    progress(1.0);
    let [simulated] = simulated;
    answer.check = Some(checked(question, &answer.keys, host.name(), (&simulated, &all), left_out));
    Ok(())
}

/// Whom the check runs, the choice first and the bare line last.
fn challenged(answer: &Recommendation) -> Vec<Candidate> {
    let choice = &answer.choice.candidate;
    let mut all = vec![choice.clone()];
    let same_queues = |one: &&Tried| one.candidate.down == choice.down && one.candidate.up == choice.up;
    let shares = answer.tried.iter().filter(same_queues).map(|one| &one.candidate);
    all.extend(shares.filter(|one| *one != choice).cloned());
    let kinds = |one: &Candidate| (one.down.kind, one.up.kind);
    // Those that went furthest first; the sort is stable, so the list's order decides among equals.
    let mut furthest: Vec<&Tried> = answer.tried.iter().collect();
    furthest.sort_by_key(|one| std::cmp::Reverse(one.dropped.unwrap_or(u32::MAX)));
    for one in furthest.into_iter().filter(|one| one.candidate.is_shaped()) {
        if !all.iter().any(|known| kinds(known) == kinds(&one.candidate)) {
            all.push(one.candidate.clone());
        }
    }
    if *choice != Candidate::NOTHING {
        all.push(Candidate::NOTHING);
    }
    all
}

/// The check of a choice, the first of `all`, that is `simulated` with the same mix.
fn checked(
    question: &Question,
    keys: &[Key],
    host: &'static str,
    (simulated, all): (&Tried, &[Tried]),
    left_out: Vec<String>,
) -> Check {
    let choice = &all[0];
    let left = choice.blocks.first().map_or_else(Vec::new, |block| Key::all(&block.groups));
    let is_left = |key: &&Key| left.iter().any(|other| other.activity == key.activity && other.about.name == key.about.name);
    let keys: &[Key] = &keys.iter().filter(is_left).copied().collect::<Vec<_>>();
    let figures: Vec<Held> = keys.iter().map(|key| held(key, &simulated.blocks, &choice.blocks)).collect();
    let satisfies = satisfying(&question.policy, &all.iter().collect::<Vec<_>>());
    let rivals = all.iter().zip(&satisfies).skip(1).filter(|(_, satisfies)| **satisfies);
    let better: Vec<(&Key, Better)> = rivals.filter_map(|(one, _)| better(keys, one, choice)).collect();
    let mut check = Check {
        host,
        runs: all.iter().map(|one| one.blocks.len()).sum(),
        left_out,
        candidates: all.iter().map(|one| one.candidate.to_string()).collect(),
        figures,
        satisfies_policy: satisfies[0],
        sentences: Vec::new(),
        better: better.iter().map(|(_, one)| one.clone()).collect(),
    };
    check.sentences = sentences(&check, keys, &better);
    check
}

fn held(key: &Key, simulated: &[Block], checked: &[Block]) -> Held {
    let (own, theirs) = (race::figure(key, simulated), race::figure(key, checked));
    let same = |own: &Block| checked.iter().find(|one| (one.setting, one.round) == (own.setting, own.round));
    let difference = over_settings(simulated, |own| Some(value(key, same(own)?)? - value(key, own)?));
    let agreement = match (own.mean, theirs.mean) {
        (Some(mean), Some(there)) if (there - mean).abs() <= own.ci95.unwrap_or(0.0) => Agreement::Interval,
        (Some(mean), Some(there)) if (there - mean).abs() <= key.margin.around(mean) => Agreement::Margin,
        (None, None) => Agreement::Interval,
        (Some(_) | None, Some(_)) | (Some(_), None) => Agreement::Differs,
    };
    let (activity, metric) = (key.activity.name(), key.about.name);
    Held { activity, metric, simulated: own, checked: theirs, difference, agreement }
}

fn value(key: &Key, block: &Block) -> Option<f64> {
    key.value(&Sample { number: 0, groups: &block.groups, links: block.links.to_vec() })
}

/// The figure by which `one` is significantly better than the choice: the first in their order by
/// which the two differ significantly, with the first one before it by which it seems worse.
fn better<'a>(keys: &'a [Key], one: &Tried, choice: &Tried) -> Option<(&'a Key, Better)> {
    let mut but = None;
    for key in keys {
        if standing(key, &choice.blocks, &one.blocks) == Standing::Worse {
            let better = Better {
                label: one.candidate.to_string(),
                activity: key.activity.name(),
                metric: key.about.name,
                choice: race::figure(key, &choice.blocks),
                other: race::figure(key, &one.blocks),
                but,
            };
            return Some((key, better));
        }
        match standing(key, &one.blocks, &choice.blocks) {
            Standing::Worse => return None,
            Standing::Open if but.is_none() => {
                let behind = behind(key, &one.blocks, &choice.blocks);
                let margin = key.margin.around(race::figure(key, &choice.blocks).mean.unwrap_or(0.0));
                let is_worse = behind.mean.is_some_and(|mean| mean > margin);
                but = is_worse.then(|| Doubt { activity: key.activity.name(), metric: key.about.name, behind });
            }
            Standing::Open | Standing::AsGood => {}
        }
    }
    None
}

fn sentences(check: &Check, keys: &[Key], better: &[(&Key, Better)]) -> Vec<String> {
    let one = |(key, held): (&Key, &Held)| {
        let plain = |of: Figure| figure(key.about, Figure { ci95: None, ..of });
        let judged = match held.agreement {
            Agreement::Interval => "within the interval",
            Agreement::Margin => "too little to count",
            Agreement::Differs => "differs",
        };
        let (there, here) = (plain(held.checked), figure(key.about, held.simulated));
        format!("{} {} {there} instead of {here} ({judged})", held.activity, heading(key.about))
    };
    let figures: Vec<String> = keys.iter().zip(&check.figures).map(one).collect();
    let mut sentences = vec![format!("Checked on {} in {} runs: {}.", check.host, check.runs, list(&figures))];
    if !check.left_out.is_empty() {
        let names: Vec<String> = check.left_out.iter().map(|name| format!("`{name}`")).collect();
        sentences.push(format!(
            "{} {} not carried there, so both hosts ran the mix without {}.",
            list(&names),
            if names.len() == 1 { "is" } else { "are" },
            if names.len() == 1 { "it" } else { "them" }
        ));
    }
    if !check.satisfies_policy {
        sentences.push(format!("On {} the choice does not satisfy the policy.", check.host));
    }
    for (key, one) in better {
        let (head, other, own) = (heading(key.about), figure(key.about, one.other), figure(key.about, one.choice));
        let what = format!("{} {head} {other} instead of {own}", one.activity);
        let doubt = one.but.as_ref().and_then(|but| {
            let key = keys.iter().find(|key| key.activity.name() == but.activity && key.about.name == but.metric)?;
            Some(format!("{} {} seems worse by {}", but.activity, heading(key.about), figure(key.about, but.behind)))
        });
        sentences.push(match doubt {
            None => format!("There {} is significantly better: {what}.", one.label),
            Some(doubt) => format!("There {} gives {what}, but {doubt}, which the runs do not settle.", one.label),
        });
    }
    if better.iter().all(|(_, one)| one.but.is_some()) {
        let others = check.candidates.len() - 1;
        let doubt = if better.is_empty() { "" } else { " in all that matters" };
        sentences.push(format!("None of the {others} other candidates that ran there is significantly better{doubt}."));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::experience::{Activity, GroupExperience};
    use crate::run::backend::{Refusal, Task};
    use crate::run::recommend::access::Access;
    use crate::run::recommend::candidates::{Choice, Hardware};
    use crate::run::recommend::corners::{Line, Range};
    use crate::run::recommend::{Effort, Want, recommend};
    use crate::scenario::mix::Mix;
    use crate::scenario::plan::{Direction, Point};
    use crate::verdict::rule::LinkUse;
    use crate::verdict::{Policy, Unit};
    use goodqueue_base::units::{Duration, Rate};

    /// The simulator, which carries no calls here.
    struct Mute;

    impl Backend for Mute {
        fn name(&self) -> &'static str {
            "mute"
        }

        fn check(&self, point: &Point) -> Result<(), Refusal> {
            let call = point.plan.traffic.iter().find(|group| group.name == "call");
            call.map_or(Ok(()), |call| Err(Refusal::of_traffic(&call.name, "kind", "not here")))
        }

        fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> crate::run::backend::HostRun {
            assert!(task.point.plan.traffic.iter().all(|group| group.name != "call"));
            Simulator.run(task, progress)
        }
    }

    fn question() -> Question {
        let line = Line {
            down: Rate::mbit(2),
            up: Rate::mbit(1),
            varies: 0.0,
            rtt: Range::exactly(Duration::ms(20)),
            buffer: Range::exactly(Duration::ms(300)),
            flows: Some(Range::exactly(1)),
            control: Range { low: "cubic", high: "reno" },
            access: Access::default(),
        };
        Question {
            line,
            mixes: vec![Mix::named("call-and-ping").expect("a mix")],
            hardware: Hardware::OpenWrt,
            policy: Policy::parse("of_best=0.8").expect("a policy"),
            unit: Unit::Ms,
            effort: Effort::Quick,
            seed: 1,
            jobs: 2,
            cpu: None,
            want: Want::People,
        }
    }

    /// The simulator under another name, which refuses one congestion control.
    struct Other(&'static str);

    impl Backend for Other {
        fn name(&self) -> &'static str {
            "other"
        }

        fn check(&self, point: &Point) -> Result<(), Refusal> {
            let has = format!("{:?}", point.plan).contains(self.0);
            if has { Err(Refusal::of_traffic("bulk", "cc", "not here")) } else { Ok(()) }
        }

        fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> crate::run::backend::HostRun {
            Simulator.run(task, progress)
        }
    }

    #[test]
    fn the_same_simulator_confirms_its_answer() {
        let (question, stop) = (question(), AtomicBool::new(false));
        let mut answer = recommend(&question, &stop, &mut |_| {}, &mut |_| {}).expect("an answer");
        check(&question, &mut answer, &Other("no such text"), &stop, &mut |_| {}).expect("a check");
        let check = answer.check.expect("a check");
        assert_eq!((check.host, &check.candidates[0]), ("other", &answer.choice.label));
        assert_eq!(check.candidates.last().map(String::as_str), Some("nothing set up"));
        for kind in ["cake", "fq-codel"] {
            assert!(check.candidates.iter().any(|label| label.starts_with(kind)), "{:?}", check.candidates);
        }
        // A candidate with more goodput makes the ping wait.
        assert!(check.satisfies_policy && check.better.iter().all(|better| better.but.is_some()), "{:?}", check.better);
        for held in &check.figures {
            assert_eq!((held.agreement, held.difference.mean), (Agreement::Interval, Some(0.0)), "{held:?}");
        }
        assert!(check.sentences[0].starts_with("Checked on other in "), "{:?}", check.sentences);
    }

    #[test]
    fn a_host_that_cannot_run_a_corner_is_named_with_the_key() {
        let error = refuse(&question(), &Other("reno")).expect_err("it refuses reno");
        assert_eq!(error.to_string(), "other: traffic `bulk`: cc: not here");
        assert_eq!(refuse(&question(), &Other("vegas")), Ok(()));
    }

    #[test]
    fn groups_that_a_host_does_not_carry_are_left_out_of_both() {
        let line = Line { down: Rate::mbit(20), up: Rate::mbit(10), ..question().line };
        let (question, stop) = (Question { line, ..question() }, AtomicBool::new(false));
        let mut answer = recommend(&question, &stop, &mut |_| {}, &mut |_| {}).expect("an answer");
        assert!(answer.keys.iter().any(|key| key.activity == Activity::Call), "there is a call to leave out");
        assert_eq!(refuse(&question, &Mute), Ok(()));
        check(&question, &mut answer, &Mute, &stop, &mut |_| {}).expect("a check");
        let check = answer.check.expect("a check");
        assert_eq!(check.left_out, ["call"]);
        assert!(check.sentences[1].starts_with("`call` is not carried there, so both hosts"), "{:?}", check.sentences);
        assert!(check.figures.iter().all(|held| held.activity != "call" && held.difference.mean == Some(0.0)), "{check:?}");
    }

    #[test]
    fn one_that_is_better_by_the_first_figure_that_differs_is_named() {
        let (question, stop) = (question(), AtomicBool::new(false));
        let mut search = Search::new(&question, &Simulator, &stop);
        let settings: Vec<usize> = (0..search.settings.len()).collect();
        let good = Candidate::both(&Choice::plain("cake"), 0.9);
        let mut all = [Candidate::NOTHING, good].map(Tried::new);
        search.run(&mut all, &settings, 4, &mut |_| {}).expect("it runs");
        let keys = Key::all(&all[0].blocks[0].groups);
        let found = better(&keys, &all[1], &all[0]).expect("shaping helps").1;
        assert_eq!((found.label.as_str(), found.activity, found.but.is_none()), ("cake at 90 %", "call", true));
        assert!(better(&keys, &all[0], &all[1]).is_none());
    }

    /// Blocks of one run each, with this round-trip time of the ping and goodput of the bulk flows.
    fn tried(figures: &[(f64, f64)]) -> Tried {
        let group = |activity: Activity, rtt: Option<f64>, goodput| GroupExperience {
            group: activity.name().to_owned(),
            activity,
            values: activity
                .metrics()
                .iter()
                .map(|metric| if metric.about.name == "rtt_s.p95" { rtt } else { Some(0.0) })
                .collect(),
            heading: Direction::Down,
            is_l4s: false,
            base_rtt_s: 0.02,
            goodput_bit_s: Some(goodput),
        };
        let block = |(round, &(rtt, goodput)): (u32, &(f64, f64))| Block {
            setting: 0,
            round,
            groups: vec![group(Activity::Ping, Some(rtt), 1e3), group(Activity::Bulk, None, goodput)],
            links: [LinkUse { utilization: Some(1.0), ..LinkUse::default() }; 2],
        };
        let blocks = (0..).zip(figures).map(block).collect();
        Tried { candidate: Candidate::both(&Choice::plain("cake"), 0.95), blocks, dropped: None }
    }

    #[test]
    fn goodput_against_an_unsettled_longer_ping_is_a_disagreement() {
        let choice = tried(&[(0.05, 13e6), (0.05, 13e6), (0.05, 13e6), (0.05, 13e6)]);
        // As good under one control, far worse under the other: 35 ms more in the mean, 35 ± 65 ms.
        let other = tried(&[(0.05, 15e6), (0.12, 15e6), (0.05, 15e6), (0.12, 15e6)]);
        let keys = Key::all(&choice.blocks[0].groups);
        let (key, found) = better(&keys, &other, &choice).expect("more goodput");
        assert_eq!((key.activity, found.metric), (Activity::Bulk, "goodput_bit_s"));
        let but = found.but.expect("a doubt");
        assert_eq!((but.activity, but.metric), ("ping", "rtt_s.p95"));
        assert!((but.behind.mean.unwrap() - 0.035).abs() < 1e-9, "{but:?}");
        // With the same ping there is none, nor with one that seems shorter.
        let level = tried(&[(0.05, 15e6), (0.051, 15e6), (0.05, 15e6), (0.051, 15e6)]);
        assert!(better(&keys, &level, &choice).expect("more goodput").1.but.is_none());
        let slow = tried(&[(0.12, 13e6), (0.12, 13e6), (0.12, 13e6), (0.12, 13e6)]);
        let rtt = keys.iter().find(|key| key.about.name == but.metric).expect("a key");
        assert_eq!(standing(rtt, &other.blocks, &slow.blocks), Standing::Open);
        assert!(better(&keys, &other, &slow).expect("more goodput").1.but.is_none());
    }
}
