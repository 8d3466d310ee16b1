//! The sample: which circuits are simulated in packets, at which part of the day, with which rate
//! over time, and for how many circuits and hours each stands.

use super::demand::{self, Process};
use super::fluid::{self, Change, Flowed, Home, Span, Tree};
use super::network::{Circuit, Plan, Ways};
use super::{Asked, Played, Question, Refused};
use crate::results::statistics::mean_and_interval;
use crate::scenario::compare::{Comparison, Signal};
use crate::scenario::mix::{self, Mix};
use crate::scenario::plan::{self, Direction, Point};
use goodqueue_base::units::{Duration, Rate, Rng};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A site is full where it is so in more than this part of the time; our choice.
const MAX_FULL_PART: f64 = 0.01;
/// Circuits times independent courses of each part of the day: whether a site of few circuits is
/// full depends on chance, and a course of few circuits costs little.
const COURSES_OF_ALL: usize = 20_000;
const MIN_COURSES: usize = 4;
const MAX_COURSES: usize = 40;
/// The fewest and the most where a site's rates are played: each plays another part of them.
const MIN_PLAYED: f64 = 3.0;
const MAX_PLAYED: f64 = 12.0;
/// The most of a FIFO without an algorithm: the length of Linux' own.
const MAX_FIFO: u64 = 1_000 * 1_514;
/// Sites beyond the fullest ones are taken together.
const MAX_SITES: usize = 8;
/// Fewest circuits simulated for each plan, and for each part of the day behind each full site.
const MIN_CIRCUITS: u32 = 4;
const MIN_BEHIND: u32 = 6;
/// Homes whose mean download is that of their plan.
const PROBED: u64 = 160;
/// Slower than this no circuit is simulated.
const MIN_RATE: f64 = 1e3;
/// The circuit in scenarios.
const LINK: &str = "circuit";

/// Where a case stands: at a plan's own rate all the time, or behind a full site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stratum {
    /// Circuits of a plan whose sites are never full.
    Free(Plan),
    /// Circuits behind a full site at a part of the day; those of all but the fullest together.
    Full { level: usize, site: Option<usize> },
}

/// A circuit that is simulated in packets.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its stratum.
    pub stratum: Stratum,
    /// Its plan.
    pub plan: Plan,
    /// The site that it is behind; none where it does not matter.
    pub site: Option<usize>,
    /// The circuits and hours of a day that it stands for.
    pub weight: f64,
    /// Its rates over time, as steps of seconds and bit/s.
    pub rates: Ways<Vec<(f64, f64)>>,
    /// For its random numbers.
    pub seed: u64,
}

/// The parts of the day as fluid.
#[derive(Clone, Debug)]
pub struct Days<'a> {
    /// The share of all that households of a plan do in their mix which happens at a time in the
    /// busy hour: so much that their mean download is that of all circuits.
    parts: BTreeMap<Plan, f64>,
    /// Whether even all of it makes less traffic than the busy hour was said to have.
    pub is_short: bool,
    /// For each part of the day and site, the share of time in which it is full.
    pub full: Vec<Vec<Ways<f64>>>,
    /// Half of the 95 % interval of those in the evening, over courses.
    pub uncertain: Vec<Ways<f64>>,
    /// Mean rate that sites carry, in bit/s.
    pub carried: Vec<Vec<Ways<f64>>>,
    /// Mean rate that the circuits behind each site want in the evening, in bit/s.
    pub wanted: Vec<Ways<f64>>,
    processes: BTreeMap<Plan, Vec<Process>>,
    tree: Ways<Tree>,
    courses: u64,
    stop: &'a AtomicBool,
}

impl<'a> Days<'a> {
    /// The fluid of all parts of the day.
    pub fn new(question: &Question, stop: &'a AtomicBool) -> Result<Self, Refused> {
        let mut processes = BTreeMap::new();
        for plan in question.network.plans() {
            let point = plain_point(question, plan)?;
            processes.insert(plan, demand::of_point(&point)?);
        }
        let network = &question.network;
        let capacity = |way| network.sites.iter().map(|site| site.rate.of(way).as_bit_s() as f64).collect();
        let parent: Vec<Option<usize>> = network.sites.iter().map(|site| site.parent).collect();
        let tree = |way| Tree { capacity: capacity(way), parent: parent.clone(), changes: Vec::new() };
        let courses = match &question.asked {
            Asked::Behind(played) => (played.seconds / span(question.mix).end).clamp(MIN_PLAYED, MAX_PLAYED) as u64,
            _ => (COURSES_OF_ALL / network.circuits.len().max(1)).clamp(MIN_COURSES, MAX_COURSES) as u64,
        };
        let mut days = Self {
            parts: BTreeMap::new(),
            is_short: false,
            full: Vec::new(),
            uncertain: Vec::new(),
            carried: Vec::new(),
            wanted: vec![Ways::default(); network.sites.len()],
            processes,
            tree: Ways { down: tree(Direction::Down), up: tree(Direction::Up) },
            courses,
            stop,
        };
        let mean = |(plan, mine): (&Plan, &Vec<Process>)| {
            let [down, up] = Direction::ALL.map(|way| Mean::of(*plan, mine, (way, stop), question));
            (*plan, Ways { down, up })
        };
        let means: BTreeMap<Plan, Ways<Mean>> = days.processes.iter().map(mean).collect();
        let busy_hour = question.busy_hour.as_bit_s() as f64;
        days.parts = means.iter().map(|(plan, means)| (*plan, means.down.part(busy_hour))).collect();
        days.is_short = days.parts.values().any(|part| *part >= 1.0);
        for circuit in &network.circuits {
            for site in network.path(circuit.site) {
                for way in Direction::ALL {
                    *days.wanted[site].of_mut(way) += means[&circuit.plan].of(way).at(days.parts[&circuit.plan]);
                }
            }
        }
        for level in 0..question.day().len() {
            let mut full: Vec<Ways<Vec<f64>>> = vec![Ways::default(); network.sites.len()];
            let mut carried = vec![Ways::default(); network.sites.len()];
            let played: Vec<u64> = (0..courses).filter(|_| !network.sites.is_empty()).collect();
            let flowed = days.each(question, &played, |course| {
                let background = days.course(question, level, *course);
                Direction::ALL.map(|way| days.flow(question, way, (&background, *course), &[]))
            })?;
            for (way, flowed) in flowed.iter().flat_map(|ways| Direction::ALL.into_iter().zip(ways)) {
                for (site, (part, rate)) in flowed.full.iter().zip(&flowed.carried).enumerate() {
                    full[site].of_mut(way).push(*part);
                    *carried[site].of_mut(way) += rate / courses as f64;
                }
            }
            let means = full.iter().map(|parts| parts.map(|parts| parts.iter().sum::<f64>() / courses as f64));
            days.full.push(means.collect());
            if level == 0 {
                let half = |parts: &Vec<f64>| mean_and_interval(parts, 0.95).and_then(|(_, half)| half).unwrap_or(1.0);
                days.uncertain = full.iter().map(|parts| parts.map(half)).collect();
            }
            days.carried.push(carried);
        }
        Ok(days)
    }

    /// The results of some work, as many at a time as the question allows.
    fn each<T: Sync, R: Send>(&self, question: &Question, work: &[T], of: impl Fn(&T) -> R + Sync) -> Result<Vec<R>, Refused> {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut done = Vec::new();
            while let (false, number) = (self.stop.load(Ordering::Relaxed), next.fetch_add(1, Ordering::Relaxed))
                && let Some(one) = work.get(number)
            {
                done.push((number, of(one)));
            }
            done
        };
        let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..question.jobs.clamp(1, work.len().max(1))).map(|_| scope.spawn(take)).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(Refused::Stopped);
        }
        done.sort_by_key(|(number, _)| *number);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// The background in one course of a part of the day: some of each circuit's processes, chosen
    /// at random, so that few households do much at once.
    fn course(&self, question: &Question, level: usize, course: u64) -> Vec<Background<'_>> {
        let mut rng = Rng::stream(question.seed, 1 + course + self.courses * level as u64);
        let load = question.day()[level].load;
        let of = |(circuit, one): (usize, &Circuit)| {
            let part = self.parts[&one.plan] * load;
            let processes = self.processes[&one.plan].iter().filter(|_| rng.fires(part)).collect();
            Background { circuit, processes, seed: rng.next_u64() }
        };
        question.network.circuits.iter().enumerate().map(of).collect()
    }

    /// The flow of a background in one direction.
    fn flow(&self, question: &Question, way: Direction, (all, course): (&[Background<'_>], u64), watched: &[usize]) -> Flowed {
        let mut homes = Vec::new();
        let mut places = vec![0; watched.len()];
        for one in all {
            let place = watched.iter().position(|circuit| *circuit == one.circuit);
            let circuit = &question.network.circuits[one.circuit];
            let mine = |process: &&&Process| process.way == way;
            let processes: Vec<&Process> = one.processes.iter().filter(mine).copied().collect();
            if place.is_none() && processes.is_empty() {
                continue;
            }
            if let Some(place) = place {
                places[place] = homes.len();
            }
            homes.push(home(processes, circuit, way, one.seed, self.tree.of(way)));
        }
        let span = span(question.mix);
        match &question.asked {
            Asked::Behind(played) => {
                let begin = (played.seconds - span.end).max(0.0) * course as f64 / (self.courses - 1).max(1) as f64;
                let changes = changes(played, way, begin);
                fluid::run(&Tree { changes, ..self.tree.of(way).clone() }, &homes, &places, span, self.stop)
            }
            _ => fluid::run(self.tree.of(way), &homes, &places, span, self.stop),
        }
    }

    /// The part of the time in which a site is full, in the worse direction.
    fn fullness(&self, level: usize, site: usize) -> f64 {
        self.full[level][site].down.max(self.full[level][site].up)
    }

    /// The part of the time in which the fullest site before a circuit is full, and that site.
    fn fullest(&self, question: &Question, level: usize, site: Option<usize>) -> (f64, Option<usize>) {
        let part = |site: usize| (self.fullness(level, site), Some(site));
        let worse = |a: (f64, Option<usize>), b: (f64, Option<usize>)| if b.0 > a.0 { b } else { a };
        question.network.path(site).map(part).fold((0.0, None), worse)
    }

    /// The part of a site's capacity that is wanted on average in the evening, in the worse
    /// direction, and that direction.
    #[must_use]
    pub fn load(&self, site: usize) -> (f64, Direction) {
        let part = |way: Direction| self.wanted[site].of(way) / self.tree.of(way).capacity[site];
        let [down, up] = Direction::ALL.map(part);
        if up > down { (up, Direction::Up) } else { (down, Direction::Down) }
    }

    /// The sites that are full in the evening, first those of which the largest part is wanted.
    #[must_use]
    pub fn full_sites(&self) -> Vec<usize> {
        let mut sites: Vec<usize> = (0..self.full[0].len()).filter(|site| self.fullness(0, *site) > MAX_FULL_PART).collect();
        sites.sort_by(|a, b| self.load(*b).0.total_cmp(&self.load(*a).0));
        sites
    }

    /// Those of them that are shown by name.
    #[must_use]
    pub fn named(&self) -> Vec<usize> {
        let mut sites = self.full_sites();
        sites.truncate(MAX_SITES);
        sites
    }

    /// The circuits and hours of each stratum.
    fn strata(&self, question: &Question, named: &[usize]) -> BTreeMap<Stratum, f64> {
        let mut strata = BTreeMap::new();
        for (level, day) in question.day().iter().enumerate() {
            for (_, circuit) in asked(question) {
                let weight = day.hours * day.load;
                *strata.entry(self.stratum(question, level, circuit.site, circuit.plan, named)).or_insert(0.0) += weight;
            }
        }
        strata
    }

    fn stratum(&self, question: &Question, level: usize, site: Option<usize>, plan: Plan, named: &[usize]) -> Stratum {
        // Played rates concern all behind their site, also where it is never full.
        if let Asked::Behind(played) = &question.asked {
            return Stratum::Full { level, site: Some(played.site) };
        }
        // Shaped to less than its plan, as behind a site that is full.
        let is_above = Direction::ALL.iter().any(|way| {
            let tree = self.tree.of(*way);
            tree.path(site).any(|site| tree.capacity[site] < plan.of(*way).as_bit_s() as f64)
        });
        match self.fullest(question, level, site) {
            (part, site) if part > MAX_FULL_PART || is_above => {
                Stratum::Full { level, site: site.filter(|site| named.contains(site)) }
            }
            _ => Stratum::Free(plan),
        }
    }

    /// Draws the circuits that are simulated in packets.
    pub fn cases(&self, question: &Question) -> Result<Vec<Case>, Refused> {
        let named = self.named();
        let strata = self.strata(question, &named);
        let all: f64 = strata.values().sum();
        let mut seeds = Rng::stream(question.seed, 0);
        let mut cases = Vec::new();
        let mut behind = Vec::new();
        for (stratum, weight) in strata {
            let wanted = |least: u32| ((f64::from(question.samples) * weight / all).round() as u32).max(least) as usize;
            let mut drawn: Vec<Case> = match stratum {
                Stratum::Free(plan) => {
                    let rates = Ways { down: constant(plan.down), up: constant(plan.up) };
                    let case = |_| Case { stratum, plan, site: None, weight: 0.0, rates: rates.clone(), seed: seeds.next_u64() };
                    (0..wanted(MIN_CIRCUITS)).map(case).collect()
                }
                Stratum::Full { level, .. } => {
                    self.behind(question, stratum, level, wanted(MIN_BEHIND), &named, (cases.len(), &mut behind))
                }
            };
            let share = weight / drawn.len().max(1) as f64;
            drawn.iter_mut().for_each(|case| case.weight = share);
            cases.extend(drawn);
        }
        self.leave(question, &behind, &mut cases)?;
        Ok(cases)
    }

    /// Circuits behind full sites, and in which course each is; `first` is the number of the first.
    fn behind(
        &self,
        question: &Question,
        stratum: Stratum,
        level: usize,
        wanted: usize,
        named: &[usize],
        (first, drawn): (usize, &mut Vec<Drawn>),
    ) -> Vec<Case> {
        let circuits = &question.network.circuits;
        let is_mine = |one: &Circuit| self.stratum(question, level, one.site, one.plan, named) == stratum;
        let mut mine: Vec<usize> = asked(question).filter(|(_, one)| is_mine(one)).map(|(place, _)| place).collect();
        let mut cases = Vec::new();
        let mut rng = Rng::stream(question.seed, 1000 + level as u64);
        for place in (1..mine.len()).rev() {
            mine.swap(place, rng.below(place as u64 + 1) as usize);
        }
        // Played rates have another part in each course.
        let courses = self.courses as usize;
        let least = if matches!(question.asked, Asked::Behind(_)) { courses } else { 1 };
        let count = wanted.max(least).min(mine.len() * courses);
        for (number, circuit) in mine.iter().cycle().copied().take(count).enumerate() {
            let Circuit { plan, site, .. } = circuits[circuit];
            drawn.push(Drawn { case: first + number, circuit, level, course: (number * courses / count) as u64 });
            let rates = Ways { down: Vec::new(), up: Vec::new() };
            cases.push(Case { stratum, plan, site, weight: 0.0, rates, seed: rng.next_u64() });
        }
        cases
    }

    /// Gives the circuits drawn behind full sites the rates that all others leave them.
    fn leave(&self, question: &Question, drawn: &[Drawn], cases: &mut [Case]) -> Result<(), Refused> {
        let mut played: BTreeMap<(usize, u64), Vec<&Drawn>> = BTreeMap::new();
        drawn.iter().for_each(|one| played.entry((one.level, one.course)).or_default().push(one));
        let played: Vec<((usize, u64), Vec<&Drawn>)> = played.into_iter().collect();
        let left = self.each(question, &played, |((level, course), mine)| {
            let background = self.course(question, *level, *course);
            let watched: Vec<usize> = mine.iter().map(|one| one.circuit).collect();
            Direction::ALL.map(|way| self.flow(question, way, (&background, *course), &watched).available)
        })?;
        for ((_, mine), ways) in played.iter().zip(left) {
            for (way, available) in Direction::ALL.into_iter().zip(ways) {
                for (one, steps) in mine.iter().zip(available) {
                    *cases[one.case].rates.of_mut(way) = steps;
                }
            }
        }
        Ok(())
    }
}

/// The circuits that a question is about, with their places.
fn asked(question: &Question) -> impl Iterator<Item = (usize, &Circuit)> {
    question.network.circuits.iter().enumerate().filter(|(place, _)| question.is_about(*place))
}

/// The rates of a site from a time on, as if that time were the first.
fn changes(played: &Played, way: Direction, begin: f64) -> Vec<Change> {
    let steps = played.rates.of(way);
    let first = steps.iter().rposition(|(at, _)| *at <= begin).unwrap_or(0);
    let change = |(at, capacity): &(f64, f64)| Change { at: (at - begin).max(0.0), site: played.site, capacity: *capacity };
    steps.iter().skip(first).map(change).collect()
}

/// A circuit drawn behind full sites.
struct Drawn {
    /// The place of its case.
    case: usize,
    circuit: usize,
    level: usize,
    course: u64,
}

/// A circuit as background.
struct Background<'a> {
    circuit: usize,
    processes: Vec<&'a Process>,
    seed: u64,
}

fn constant(rate: Rate) -> Vec<(f64, f64)> {
    vec![(0.0, rate.as_bit_s() as f64)]
}

fn home<'a>(processes: Vec<&'a Process>, circuit: &Circuit, way: Direction, seed: u64, tree: &Tree) -> Home<'a> {
    Home {
        site: circuit.site,
        plan: tree.path(circuit.site).map(|site| tree.capacity[site]).fold(circuit.plan.of(way).as_bit_s() as f64, f64::min),
        weight: circuit.least.of(way).as_bit_s().max(1) as f64,
        processes,
        seed,
    }
}

fn span(mix: &Mix) -> Span {
    let lengths = mix.quick_lengths();
    let warmup = lengths.warmup.as_secs_f64();
    Span { begun: warmup / 2.0, warmup, end: warmup + lengths.duration.as_secs_f64() }
}

/// Mean rates of a household that nothing but its plan limits, in bit/s.
struct Mean {
    /// While it does all of its mix.
    together: f64,
    /// The sum of what each part of the mix reaches alone: together they share the plan.
    alone: f64,
}

impl Mean {
    fn of(plan: Plan, processes: &[Process], (way, stop): (Direction, &AtomicBool), question: &Question) -> Self {
        let tree = Tree { capacity: Vec::new(), parent: Vec::new(), changes: Vec::new() };
        let mut rng = Rng::stream(question.seed, u64::MAX);
        let circuit = Circuit { id: String::new(), site: None, plan, least: plan };
        let mut mean = |households: &[Vec<&Process>]| {
            let all = (0..PROBED).flat_map(|_| households);
            let homes: Vec<Home<'_>> = all.map(|mine| home(mine.clone(), &circuit, way, rng.next_u64(), &tree)).collect();
            // The time of a course, in which transfers that begin at once are more than later.
            fluid::run(&tree, &homes, &[], span(question.mix), stop).total / PROBED as f64
        };
        let mine: Vec<&Process> = processes.iter().filter(|process| process.way == way).collect();
        let each: Vec<Vec<&Process>> = mine.iter().map(|one| vec![*one]).collect();
        Self { alone: mean(&each), together: mean(&[mine]) }
    }

    /// The mean rate of households that do each part of the mix with this probability: a parabola
    /// with the right slope at none and the right value at all.
    fn at(&self, part: f64) -> f64 {
        part * (self.alone - (self.alone - self.together).max(0.0) * part)
    }

    /// The probability at which the mean rate is this one, at most 1.
    fn part(&self, rate: f64) -> f64 {
        let lost = (self.alone - self.together).max(0.0);
        if rate >= self.together {
            return 1.0;
        }
        // The smaller root, in the form that holds without a loss as well.
        (2.0 * rate / (self.alone + libm::sqrt(self.alone * self.alone - 4.0 * lost * rate).max(0.0))).min(1.0)
    }
}

/// The scenario of a plan without other circuits, for its traffic.
fn plain_point(question: &Question, plan: Plan) -> Result<Point, Refused> {
    let rates = Ways { down: constant(plan.down), up: constant(plan.up) };
    let case = Case { stratum: Stratum::Free(plan), plan, site: None, weight: 1.0, rates, seed: 1 };
    point(question, &case, "\"tail-drop\"")
}

/// The points of all cases: for each queue all of them.
pub fn points(question: &Question, cases: &[Case]) -> Result<Vec<Point>, Refused> {
    let mut points = Vec::with_capacity(question.queues.len() * cases.len());
    for queue in &question.queues {
        let table = Comparison::queue_table(queue, Signal::Drop)?;
        for case in cases {
            points.push(point(question, case, &table)?);
        }
    }
    Ok(points)
}

fn point(question: &Question, case: &Case, queue: &str) -> Result<Point, Refused> {
    let text = scenario(question, case, queue);
    Ok(plan::Plan::parse("scenario of a circuit", &text, Path::new(""))?.point(0)?)
}

/// Text of the scenario of a case.
fn scenario(question: &Question, case: &Case, queue: &str) -> String {
    let plan = case.plan;
    let mix = Mix::suited(question.mix.name, Some(plan.down), Some(plan.up)).unwrap_or(question.mix);
    let lengths = question.mix.quick_lengths();
    let back = Duration::ns(question.rtt.as_nanos() / 2);
    let there = question.rtt.saturating_sub(back);
    let inside = Rate::bit_s(plan.down.max(plan.up).as_bit_s().saturating_mul(10)).max(Rate::gbit(1));
    let most = if queue.contains("tail-drop") { MAX_FIFO } else { u64::MAX };
    let buffer = |rate: Rate| ((rate.as_bit_s() as f64 * question.buffer.as_secs_f64() / 8.0) as u64).clamp(3000, most);
    let mut text = String::from("# Made by gq compare --circuits.\ngoodqueue = 1\n");
    let _ = writeln!(text, "name = \"circuit of {plan}\"\nwarmup = \"{}\"\nduration = \"{}\"", lengths.warmup, lengths.duration);
    let _ = writeln!(text, "seed = {}\n\n[access]\nrate = \"{inside}\"\ndelay = \"0 s\"\n", case.seed >> 11);
    let _ = writeln!(text, "[link.{LINK}]\nrate = {}\nrate_up = {}", rate_text(&case.rates.down), rate_text(&case.rates.up));
    let _ = writeln!(text, "delay = \"{there}\"\ndelay_up = \"{back}\"");
    let _ = writeln!(text, "buffer = \"{} B\"\nbuffer_up = \"{} B\"", buffer(plan.down), buffer(plan.up));
    let _ = writeln!(text, "queue = {queue}\nqueue_up = {queue}\n");
    let start = format!("\"uniform 0 s .. {}\"", Duration::ns(lengths.warmup.as_nanos() / 2));
    let controls = [("cubic".to_owned(), "\"cubic\"".to_owned())];
    let traffic = mix.on(&mix::Line {
        down: Some(plan.down),
        up: Some(plan.up),
        flows: None,
        flows_up: None,
        controls: &controls,
        tcp: "",
        start: &start,
        path: &[],
    });
    text.push_str(&traffic.toml);
    text
}

fn rate_text(steps: &[(f64, f64)]) -> String {
    let rate = |rate: f64| Rate::bit_s(rate.max(MIN_RATE) as u64);
    if let [(_, only)] = steps {
        return format!("\"{}\"", rate(*only));
    }
    let step =
        |(at, bit_s): &(f64, f64)| format!("[\"{} ms\", \"{} bit/s\"]", (at * 1e3).round() as u64, rate(*bit_s).as_bit_s());
    let steps: Vec<String> = steps.iter().map(step).collect();
    format!("{{ steps = [{}] }}", steps.join(", "))
}
