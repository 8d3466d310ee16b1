//! The search: candidates race in rounds, and a second race settles directions and settings.

use crate::results::record::NoRecorder;
use crate::run::backend::{Backend, Refusal, Simulator};
use crate::run::recommend::answer::{self, Found, Recommendation, Tried};
use crate::run::recommend::candidates::{Candidate, Choice, variants};
use crate::run::recommend::corners::Corner;
use crate::run::recommend::question::{Question, Refused};
use crate::run::recommend::race::{self, Block};
use crate::run::recommend::scenario::{self, LINE, Length, ROUTER};
use crate::run::runner::{self, Replication, RunOptions};
use crate::scenario::plan::{Plan, Point, Scenario, Traffic};
use crate::verdict::rule::{Key, LinkUse, Outcome};
use goodqueue_base::units::Duration;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most kinds that advance from the first race to the second.
const MAX_KINDS: usize = 3;

/// Answers a question. `progress` receives the finished part of the work, in [0, 1]; `stop` ends it
/// early with what is known then.
///
/// # Errors
/// When a scenario cannot be simulated, or it was stopped before the first round had ended.
pub fn recommend(question: &Question, stop: &AtomicBool, progress: &mut dyn FnMut(f64)) -> Result<Recommendation, Refused> {
    let search = Search::new(question, &Simulator, stop);
    let mut all = search.first_candidates();
    search.race(&mut all, &mut |part| progress(part * 0.7))?;
    let mut second = search.second_candidates(&all);
    search.race(&mut second, &mut |part| progress(0.7 + part * 0.3))?;
    let order = search.order(&second).ok_or(Refused::Stopped)?;
    progress(1.0);
    let keys = search.keys(&second);
    let first = &search.corners[0];
    let Question { line, mix, seed, .. } = question;
    let left_out = scenario::traffic(line, mix, first, search.length).left_out;
    let scenario = scenario::text(line, mix, &second[order.best].candidate, first, search.length, *seed);
    let bare = |one: &&Tried| one.candidate == Candidate::NOTHING;
    let nothing = second.iter().chain(&all).find(bare).ok_or(Refused::Stopped)?.clone();
    let is_left = |one: &Tried| second.iter().any(|other| other.candidate == one.candidate);
    let dropped = all.into_iter().filter(|one| !is_left(one)).collect();
    let left_out = left_out.iter().map(ToString::to_string).collect();
    let found = Found { nothing, dropped, order, keys, scenario, left_out, all: second };
    Ok(answer::answer(question, &search.corners, found))
}

/// Candidates at the corners of a question, run on one host.
pub(crate) struct Search<'a> {
    question: &'a Question,
    host: &'a dyn Backend,
    pub corners: Vec<Corner>,
    length: Length,
    stop: &'a AtomicBool,
    /// Groups of the mix that no scenario has, by name.
    pub left_out: Vec<String>,
}

impl<'a> Search<'a> {
    pub fn new(question: &'a Question, host: &'a dyn Backend, stop: &'a AtomicBool) -> Self {
        let (packets, longest) = question.effort.length();
        let length = Length::of(&question.line, packets, Duration::secs(longest));
        Self { question, host, corners: question.line.corners(), length, stop, left_out: Vec::new() }
    }

    /// The same search without the groups that the host cannot carry, as long as others are left.
    ///
    /// # Errors
    /// When a scenario cannot be simulated.
    pub fn leaving_out_refused(mut self) -> Result<Self, Refused> {
        for corner in &self.corners {
            let point = self.point(&Candidate::NOTHING, corner, 0)?;
            let refused: Vec<String> = not_carried(self.host, &point).map(str::to_owned).collect();
            if refused.len() < point.plan.traffic.len() {
                self.left_out.extend(refused);
            }
        }
        Ok(self)
    }

    /// The same search on another host.
    pub fn on(self, host: &'a dyn Backend) -> Self {
        Self { host, ..self }
    }

    /// Refuses what the host cannot run of a candidate at any corner.
    pub fn refuse(&self, candidate: &Candidate) -> Result<(), Refused> {
        self.corners.iter().try_for_each(|corner| {
            let point = self.point(candidate, corner, 0)?;
            self.host.check(&point).map_err(|refusal| Refused::Host(format!("{}: {refusal}", self.host.name())))
        })
    }

    /// Every kind with its usual settings at every share, the same in both directions, and the line
    /// as it is.
    fn first_candidates(&self) -> Vec<Tried> {
        let Question { hardware, effort, .. } = self.question;
        let kinds = hardware.kinds().iter().map(|kind| Choice::plain(kind));
        let shared = |queue: Choice| effort.shares().iter().map(move |share| Tried::new(Candidate::both(&queue, *share)));
        kinds.flat_map(shared).chain([Tried::new(Candidate::NOTHING)]).collect()
    }

    /// The candidates left from the first race, and around its best the other settings and mixed
    /// directions.
    fn second_candidates(&self, first: &[Tried]) -> Vec<Tried> {
        let mut second: Vec<Tried> = first.iter().filter(|one| one.dropped.is_none()).cloned().collect();
        let Some(order) = self.order(first) else { return second };
        let ranked = || [order.best].into_iter().chain(order.as_good.iter().copied()).chain(order.open.iter().copied());
        let set_up = || ranked().map(|place| &first[place].candidate).filter(|one| one.shaped.is_some());
        let Some(best) = set_up().next() else { return second };
        let mut kinds: Vec<&'static str> = Vec::new();
        for kind in set_up().map(|one| one.down.kind) {
            if !kinds.contains(&kind) && kinds.len() < MAX_KINDS {
                kinds.push(kind);
            }
        }
        let choices: Vec<Choice> = kinds.into_iter().flat_map(|kind| variants(kind, &self.question.line)).collect();
        for down in &choices {
            for up in &choices {
                let candidate = Candidate { down: down.clone(), up: up.clone(), ..best.clone() };
                if !first.iter().any(|known| known.candidate == candidate) {
                    second.push(Tried::new(candidate));
                }
            }
        }
        second
    }

    /// Runs rounds until one candidate is left or all rounds are over.
    fn race(&self, all: &mut [Tried], progress: &mut dyn FnMut(f64)) -> Result<(), Refused> {
        let rounds = self.question.effort.rounds(self.corners.len());
        for round in 0..rounds {
            let part = f64::from(round) / f64::from(rounds);
            self.round(all, round, &mut |of_round| progress(part + of_round / f64::from(rounds)))?;
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let Some(order) = self.order(all) else { continue };
            for (place, tried) in all.iter_mut().enumerate() {
                if tried.dropped.is_none() && !order.keeps(place) {
                    tried.dropped = Some(round + 1);
                }
            }
            if all.iter().filter(|tried| tried.dropped.is_none()).count() == 1 {
                break;
            }
        }
        progress(1.0);
        Ok(())
    }

    /// Adds the blocks of one seed to every candidate that is left and has none of it.
    pub fn round(&self, all: &mut [Tried], round: u32, progress: &mut dyn FnMut(f64)) -> Result<(), Refused> {
        let wanted: Vec<usize> = (0..all.len()).filter(|place| all[*place].wants(round, self.corners.len())).collect();
        let points: Vec<Point> = wanted
            .iter()
            .flat_map(|place| self.corners.iter().map(|corner| self.point(&all[*place].candidate, corner, round)))
            .collect::<Result<_, _>>()?;
        let options = RunOptions::unrecorded(self.question.jobs.max(1), 1);
        let report = runner::run_on(self.host, &points, &options, self.stop, progress, &mut NoRecorder);
        if let Some(failure) = report.failures.first() {
            return Err(Refused::Scenario(failure.message.clone()));
        }
        if !report.complete {
            return if round == 0 { Err(Refused::Stopped) } else { Ok(()) };
        }
        let mut results = report.points.into_iter();
        for place in wanted {
            for corner in 0..self.corners.len() {
                let run = results.next().and_then(|mut point| point.runs.pop());
                let Some(run) = run else { return Err(Refused::Scenario("a run gave no figures".to_owned())) };
                all[place].blocks.push(block(corner, run));
            }
        }
        Ok(())
    }

    fn point(&self, candidate: &Candidate, corner: &Corner, round: u32) -> Result<Point, Refused> {
        let Question { line, mix, seed, .. } = self.question;
        let text = scenario::text(line, mix, candidate, corner, self.length, seed.wrapping_add(u64::from(round)));
        let plan =
            Plan::parse("the scenario of a candidate", &text, Path::new("")).map_err(|error| Refused::Scenario(error.text()))?;
        let mut point = plan.point(0).map_err(|error| Refused::Scenario(error.text()))?;
        point.plan.traffic.retain(|group| !self.left_out.contains(&group.name));
        Ok(point)
    }

    fn keys(&self, all: &[Tried]) -> Vec<Key> {
        all.iter().find_map(|tried| tried.blocks.first()).map_or_else(Vec::new, |block| Key::all(&block.groups))
    }

    /// The order of those that are left and satisfy the policy; places in `all`. Where none
    /// satisfies it, all are ranked.
    fn order(&self, all: &[Tried]) -> Option<Outcome> {
        let left: Vec<usize> =
            (0..all.len()).filter(|place| all[*place].dropped.is_none() && !all[*place].blocks.is_empty()).collect();
        let satisfying: Vec<usize> = {
            let satisfies = answer::satisfying(&self.question.policy, &left.iter().map(|place| &all[*place]).collect::<Vec<_>>());
            left.iter().zip(satisfies).filter(|(_, satisfies)| *satisfies).map(|(place, _)| *place).collect()
        };
        let ranked = if satisfying.is_empty() { left } else { satisfying };
        let contenders: Vec<_> = ranked.iter().map(|place| (&all[*place].candidate, all[*place].blocks.as_slice())).collect();
        let order = race::order(&self.keys(all), &contenders)?;
        let place = |index: usize| ranked[index];
        Some(Outcome {
            best: place(order.best),
            as_good: order.as_good.into_iter().map(place).collect(),
            open: order.open.into_iter().map(place).collect(),
            grades: Vec::new(),
        })
    }
}

/// Groups whose kind a host refuses, by name.
fn not_carried<'a>(host: &dyn Backend, point: &'a Point) -> impl Iterator<Item = &'a str> {
    let is_carried = |group: &Traffic| {
        let plan = Scenario { traffic: vec![group.clone()], ..point.plan.clone() };
        let alone = Point { plan, ..point.clone() };
        host.check(&alone).err().is_none_or(|refusal| refusal.key != Refusal::of_traffic(&group.name, "kind", "").key)
    };
    point.plan.traffic.iter().filter(move |group| !is_carried(group)).map(|group| group.name.as_str())
}

/// The parts of a run that comparisons need.
fn block(corner: usize, run: Replication) -> Block {
    let value = |link: &str, metric: &str| run.links.iter().find(|known| known.name == link)?.value(metric);
    let ends = [String::new(), ".up".to_owned()];
    let links = ends.map(|end| LinkUse {
        utilization: value(&format!("{LINE}{end}"), "utilization"),
        wait_mean_s: value(&format!("{ROUTER}{end}"), "sojourn_s.mean"),
        wait_p95_s: value(&format!("{ROUTER}{end}"), "sojourn_s.p95"),
    });
    Block { corner, groups: run.experience, links }
}
