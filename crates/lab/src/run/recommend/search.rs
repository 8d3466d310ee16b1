//! The search: a first impression, a race of kinds, and a race of the shaped rates of the best.

use crate::results::experience::Activity;
use crate::results::record::NoRecorder;
use crate::run::backend::{Backend, Refusal, Simulator};
use crate::run::recommend::answer::{self, Found, Recommendation};
use crate::run::recommend::candidates::Candidate;
use crate::run::recommend::choose::{Chosen, choose};
use crate::run::recommend::corners::{Corner, Factor};
use crate::run::recommend::question::{Question, Refused};
use crate::run::recommend::race::{Block, MIN_ROUNDS};
use crate::run::recommend::scenario::{self, LINE, Length, ROUTER};
use crate::run::recommend::setting::Setting;
use crate::run::recommend::tried::Tried;
use crate::run::runner::{self, Replication, RunOptions};
use crate::scenario::mix::Mix;
use crate::scenario::plan::{Plan, Point, Scenario, Traffic};
use crate::verdict::rule::{Key, LinkUse};
use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Kinds of the first impression.
const FIRST_KINDS: usize = 2;
/// Most kinds that advance from the race of kinds.
const MAX_KINDS: usize = 2;
/// The part of the budget that the race of kinds may take.
const KINDS_PART: f64 = 0.35;
/// Candidates that the last race is planned for: three rates, another kind, and the line as it is.
const PLANNED: usize = 5;

/// Answers a question. `progress` receives the finished part of the work, in [0, 1]; `first`
/// receives an answer from the first few runs, where more follow; `stop` ends it early with what is
/// known then.
///
/// # Errors
/// When a scenario cannot be simulated, or it was stopped before the first round had ended.
pub fn recommend(
    question: &Question,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    first: &mut dyn FnMut(&Recommendation),
) -> Result<Recommendation, Refused> {
    let mut search = Search::new(question, &Simulator, stop);
    let mut all = search.first_candidates();
    let sketch = search.sketch();
    search.run(&mut all, &sketch, 1, progress)?;
    first(&search.answer(&all, &sketch)?);
    if search.is_stopped() {
        return search.answer(&all, &sketch);
    }
    search.race_kinds(&mut all, &sketch, progress)?;
    let settings = search.affordable(&sketch);
    search.race_rates(&mut all, &settings, progress)?;
    progress(1.0);
    search.answer(&all, &settings).or_else(|_| search.answer(&all, &sketch))
}

/// Candidates in the settings of a question, run on one backend.
pub(crate) struct Search<'a> {
    question: &'a Question,
    backend: &'a dyn Backend,
    /// Every mix at every corner.
    pub settings: Vec<Setting>,
    stop: &'a AtomicBool,
    /// Groups of the mixes that no scenario has, by name.
    pub left_out: Vec<String>,
    /// Packets simulated so far, and in how many runs.
    packets: f64,
    runs: usize,
}

impl<'a> Search<'a> {
    pub fn new(question: &'a Question, backend: &'a dyn Backend, stop: &'a AtomicBool) -> Self {
        let corners = question.line.corners(question.effort.crossed());
        let setting = |mix: &'static Mix| {
            let length = Length::of(&question.line, mix, question.effort);
            corners.iter().map(move |corner| Setting { mix, corner: *corner, length })
        };
        let settings = question.mixes.iter().copied().flat_map(setting).collect();
        Self { question, backend, settings, stop, left_out: Vec::new(), packets: 0.0, runs: 0 }
    }

    /// The same search without the groups that the backend cannot carry, as long as others are
    /// left.
    ///
    /// # Errors
    /// When a scenario cannot be simulated.
    pub fn leaving_out_refused(mut self) -> Result<Self, Refused> {
        for setting in 0..self.settings.len() {
            let point = self.point(&Candidate::NOTHING, setting, 0)?;
            let refused: Vec<String> = not_carried(self.backend, &point).map(str::to_owned).collect();
            if refused.len() < point.plan.traffic.len() {
                self.left_out.extend(refused);
            }
        }
        Ok(self)
    }

    /// The same search on another backend.
    pub fn on(self, backend: &'a dyn Backend) -> Self {
        Self { backend, ..self }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Refuses what the backend cannot run of a candidate in any setting.
    pub fn refuse(&self, candidate: &Candidate) -> Result<(), Refused> {
        (0..self.settings.len()).try_for_each(|setting| {
            let point = self.point(candidate, setting, 0)?;
            self.backend.check(&point).map_err(|refusal| Refused::Host(format!("{}: {refusal}", self.backend.name())))
        })
    }

    /// The kinds of the hardware at the usual share, the usual one first.
    fn kinds(&self) -> Vec<Candidate> {
        self.question.candidates(self.question.first_share())
    }

    /// The line as it is, and the kinds that users reach for first.
    fn first_candidates(&self) -> Vec<Tried> {
        let usual = self.kinds().into_iter().take(FIRST_KINDS);
        [Candidate::NOTHING].into_iter().chain(usual).map(Tried::new).collect()
    }

    /// One setting of each mix, at the corner whose buffer is deepest: there queues differ most.
    pub fn sketch(&self) -> Vec<usize> {
        self.deepest(|_| true)
    }

    /// The setting of each mix with the deepest buffer among these corners.
    fn deepest(&self, is_meant: impl Fn(&Corner) -> bool) -> Vec<usize> {
        let places = 0..self.settings.len();
        let of = |mix: &&'static Mix| {
            let own = places.clone().filter(|place| self.settings[*place].mix.name == mix.name);
            own.filter(|place| is_meant(&self.settings[*place].corner))
                .max_by_key(|place| (self.settings[*place].corner.buffer, Reverse(*place)))
        };
        self.question.mixes.iter().filter_map(of).collect()
    }

    /// The settings for which the budget lasts: all, those of the sketch with both ends of the
    /// round-trip times, or those of the sketch.
    fn affordable(&self, sketch: &[usize]) -> Vec<usize> {
        let is_far = |corner: &Corner| corner.is_high(Factor::Rtt);
        let ends = [self.deepest(|corner| !is_far(corner)), self.deepest(is_far)].concat();
        let all = (0..self.settings.len()).collect();
        let lasts = |settings: &Vec<usize>| self.has_budget(settings.len() * PLANNED * MIN_ROUNDS as usize, 1.0);
        [all, ends].into_iter().find(lasts).unwrap_or_else(|| sketch.to_vec())
    }

    /// Whether so many more runs stay within this part of the budget.
    fn has_budget(&self, runs: usize, part: f64) -> bool {
        let each = self.packets / self.runs.max(1) as f64;
        self.packets + each * runs as f64 <= self.question.budget() * part
    }

    /// Adds the other kinds, and drops those that are worse in the settings of the sketch.
    fn race_kinds(&mut self, all: &mut Vec<Tried>, sketch: &[usize], progress: &mut dyn FnMut(f64)) -> Result<(), Refused> {
        for candidate in self.kinds().into_iter().skip(FIRST_KINDS) {
            let runs = (all.len() + 1) * sketch.len() * MIN_ROUNDS as usize;
            if self.has_budget(runs.saturating_sub(self.runs), KINDS_PART) {
                all.push(Tried::new(candidate));
            }
        }
        self.run(all, sketch, MIN_ROUNDS, progress)?;
        let Some(order) = self.order(all, sketch) else { return Ok(()) };
        let others = |place: &usize| all[*place].candidate != Candidate::NOTHING && Some(*place) != order.shaped;
        let advancing: Vec<usize> = order.kept.iter().copied().filter(others).take(MAX_KINDS - 1).collect();
        for (place, tried) in all.iter_mut().enumerate() {
            if tried.candidate != Candidate::NOTHING && Some(place) != order.shaped && !advancing.contains(&place) {
                tried.dropped = Some(MIN_ROUNDS);
            }
        }
        Ok(())
    }

    /// Races the kinds that are left in all settings, then the shares of the best with them, in
    /// rounds until the choice is settled or the budget is used.
    fn race_rates(&mut self, all: &mut Vec<Tried>, settings: &[usize], progress: &mut dyn FnMut(f64)) -> Result<(), Refused> {
        self.run(all, settings, MIN_ROUNDS, progress)?;
        let Some(base) = self.order(all, settings).and_then(|order| order.shaped) else { return Ok(()) };
        let base = all[base].candidate.clone();
        let at_shares = self.question.shares().into_iter().flat_map(|share| self.question.candidates(share));
        for candidate in at_shares.filter(|one| one.has_queues_of(&base)) {
            let is_new = !all.iter().any(|known| known.candidate == candidate);
            if is_new && self.has_budget(settings.len() * MIN_ROUNDS as usize, 1.0) {
                all.push(Tried::new(candidate));
            }
        }
        for rounds in MIN_ROUNDS..=self.question.effort.rounds() {
            let left = all.iter().filter(|one| one.dropped.is_none()).count();
            let lacking = if rounds == MIN_ROUNDS { 0 } else { left * settings.len() };
            if self.is_stopped() || left < 2 || !self.has_budget(lacking, 1.0) {
                break;
            }
            self.run(all, settings, rounds, progress)?;
            let Some(order) = self.order(all, settings) else { break };
            if order.is_settled {
                break;
            }
            for place in order.worse {
                all[place].dropped = (all[place].candidate != Candidate::NOTHING).then_some(rounds);
            }
        }
        Ok(())
    }

    /// Gives every candidate that is left so many rounds in these settings.
    pub fn run(
        &mut self,
        all: &mut [Tried],
        settings: &[usize],
        rounds: u32,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(), Refused> {
        let mut wanted: Vec<(usize, usize, u32)> = Vec::new();
        for round in 0..rounds {
            for (place, tried) in all.iter().enumerate().filter(|(_, tried)| tried.dropped.is_none()) {
                let lacking = settings.iter().filter(|setting| !tried.has(**setting, round));
                wanted.extend(lacking.map(|setting| (place, *setting, round)));
            }
        }
        let point = |(place, setting, round): &(usize, usize, u32)| self.point(&all[*place].candidate, *setting, *round);
        let points: Vec<Point> = wanted.iter().map(point).collect::<Result<_, _>>()?;
        let options = RunOptions::unrecorded(self.question.jobs.max(1), 1);
        let budget = self.question.budget();
        let (before, each) = (self.packets, self.packets / self.runs.max(1) as f64 * points.len() as f64);
        let mut of_all = |part: f64| progress(((before + each * part) / budget).min(0.99));
        let report = runner::run_on(self.backend, &points, &options, self.stop, &mut of_all, &mut NoRecorder);
        if let Some(failure) = report.failures.first() {
            return Err(Refused::Scenario(failure.message.clone()));
        }
        for ((place, setting, round), mut point) in wanted.into_iter().zip(report.points) {
            match point.runs.pop() {
                Some(run) => {
                    let packets = run.groups.iter().filter_map(|group| group.value("sent_packets")).sum::<f64>();
                    (self.packets, self.runs) = (self.packets + packets, self.runs + 1);
                    all[place].blocks.push(block(setting, round, run));
                }
                None if report.complete => return Err(Refused::Scenario("a run gave no figures".to_owned())),
                None => {}
            }
        }
        Ok(())
    }

    fn point(&self, candidate: &Candidate, place: usize, round: u32) -> Result<Point, Refused> {
        let Question { line, seed, .. } = self.question;
        // Runs of neighboring seeds are different ones, and so are those of the settings: what is
        // random averages out over them.
        let run = u64::from(round) * 1_000 + place as u64;
        let seed = seed.wrapping_mul(1_000_000).wrapping_add(run) & i64::MAX as u64;
        let setting = &self.settings[place];
        let text = scenario::text(line, setting.mix, candidate, &setting.corner, setting.length, seed);
        let plan =
            Plan::parse("the scenario of a candidate", &text, Path::new("")).map_err(|error| Refused::Scenario(error.text()))?;
        let mut point = plan.point(0).map_err(|error| Refused::Scenario(error.text()))?;
        point.plan.traffic.retain(|group| !self.left_out.contains(&group.name));
        Ok(point)
    }

    /// The figures that decide, those of any mix.
    fn keys(&self, all: &[Tried]) -> Vec<Key> {
        let whole = all.iter().max_by_key(|tried| tried.blocks.len());
        let first = whole.iter().flat_map(|tried| &tried.blocks).filter(|block| block.round == 0);
        let mut keys = self.question.keys(&first.flat_map(|block| block.groups.iter().cloned()).collect::<Vec<_>>());
        if self.question.carries_no_call() {
            keys.retain(|key| key.activity != Activity::Call);
        }
        keys.into_iter().map(Key::cautious).collect()
    }

    /// The choice among those that are left, in these settings.
    fn order(&self, all: &[Tried], settings: &[usize]) -> Option<Chosen> {
        choose(self.question, &self.keys(all), &all.iter().collect::<Vec<_>>(), settings)
    }

    /// The answer by these settings.
    fn answer(&self, all: &[Tried], settings: &[usize]) -> Result<Recommendation, Refused> {
        let has_run = |one: &Tried| one.candidate.is_shaped() && one.rounds(settings) > 0;
        if !self.question.has_no_candidates() && !all.iter().any(has_run) {
            return Err(Refused::Stopped);
        }
        let order = self.order(all, settings).ok_or(Refused::Stopped)?;
        let nothing = all.iter().find(|one| one.candidate == Candidate::NOTHING).ok_or(Refused::Stopped)?.clone();
        let Question { line, seed, mixes, .. } = self.question;
        let mut left_out: Vec<String> = Vec::new();
        for mix in mixes {
            let corner = &self.settings[0].corner;
            let notes = scenario::traffic(line, mix, corner, Length::of(line, mix, self.question.effort));
            left_out.extend(notes.notes().filter(|note| !left_out.contains(note)).collect::<Vec<_>>());
        }
        let first = &self.settings[settings.first().copied().unwrap_or(0)];
        let scenario = scenario::text(line, first.mix, &all[order.best].candidate, &first.corner, first.length, *seed);
        let keys = self.keys(all);
        let found = Found {
            nothing,
            order,
            keys,
            scenario,
            left_out,
            all: all.to_vec(),
            settings,
            runs: self.runs,
            is_stopped: self.is_stopped(),
        };
        Ok(answer::answer(self.question, &self.settings, found))
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
fn block(setting: usize, round: u32, run: Replication) -> Block {
    let value = |link: &str, metric: &str| run.links.iter().find(|known| known.name == link)?.value(metric);
    let ends = [String::new(), ".up".to_owned()];
    let links = ends.map(|end| LinkUse {
        utilization: value(&format!("{LINE}{end}"), "utilization"),
        wait_mean_s: value(&format!("{ROUTER}{end}"), "sojourn_s.mean"),
        wait_p95_s: value(&format!("{ROUTER}{end}"), "sojourn_s.p95"),
    });
    Block { setting, round, groups: run.experience, links }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::recommend::Asked;
    use std::collections::BTreeSet;

    #[test]
    fn candidates_have_the_same_seeds_and_settings_have_not() {
        let asked = Asked { down: "50mbit", up: "10mbit", rtt: "20ms..100ms", hardware: "openwrt", ..Asked::default() };
        let question = asked.question().expect("a question");
        let stop = AtomicBool::new(false);
        let search = Search::new(&question, &Simulator, &stop);
        let seeds = |candidate: &Candidate| {
            let runs = (0..search.settings.len()).flat_map(|place| (0..3).map(move |round| (place, round)));
            let seed = |(place, round)| search.point(candidate, place, round).expect("a point").plan.seed;
            runs.map(seed).collect::<Vec<u64>>()
        };
        let (nothing, usual) = (seeds(&Candidate::NOTHING), seeds(&search.kinds()[0]));
        assert_eq!(nothing, usual);
        assert!(nothing.len() >= 4 * 3, "{nothing:?}");
        assert_eq!(nothing.iter().collect::<BTreeSet<_>>().len(), nothing.len(), "{nothing:?}");
    }
}
