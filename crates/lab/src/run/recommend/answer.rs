//! The answer: the choice, what people get under it, and how sure it is.

mod advice;
pub mod checked;
pub mod words;

use self::checked::Check;
use crate::results::experience::{Activity, advantage};
use crate::results::statistics::Figure;
use crate::run::recommend::access;
use crate::run::recommend::candidates::{Candidate, Choice};
use crate::run::recommend::choose::{Chosen, choose};
use crate::run::recommend::corners::{Factor, Line};
use crate::run::recommend::question::Question;
use crate::run::recommend::race::{Block, behind, figure, standing};
use crate::run::recommend::setting::Setting;
use crate::run::recommend::tried::{Tried, over_settings};
use crate::verdict::rule::{Key, Standing};
use crate::verdict::words as plain;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Name and version of the form of [`Recommendation`] as JSON.
pub const SCHEMA: &str = "goodqueue.recommendation/2";

/// A candidate in an answer.
#[derive(Clone, Debug, Serialize)]
pub struct Setup {
    /// The label of the candidate.
    pub label: String,
    /// The queue toward the user, as a scenario's.
    pub down: Value,
    /// The queue from the user, as a scenario's.
    pub up: Value,
    /// The shaped rate in per cent of the measured one; `None` where nothing is shaped.
    pub shape_percent: Option<f64>,
    /// The shaped rate toward the user in bit/s.
    pub rate_down_bit_s: Option<u64>,
    /// The shaped rate from the user in bit/s.
    pub rate_up_bit_s: Option<u64>,
    /// The figures that people get: activity, figure, mean with interval over corners and seeds.
    pub experience: Map<String, Value>,
    /// Utilization of the line in each direction.
    pub utilization: [Figure; 2],
    /// The candidate that was tried.
    #[serde(skip)]
    pub candidate: Candidate,
    /// The results at each corner with each seed.
    #[serde(skip)]
    pub blocks: Vec<Block>,
}

/// A figure by which candidates were compared.
#[derive(Clone, Debug, Serialize)]
pub struct Deciding {
    /// Whose figure it is.
    pub activity: &'static str,
    /// The figure.
    pub metric: &'static str,
    /// The name of the figure in sentences.
    pub words: String,
    /// The quantity that it measures: `time`, `rate`, `ratio`, `number`.
    pub quantity: &'static str,
}

/// The worst corner of the choice by one figure.
#[derive(Clone, Debug, Serialize)]
pub struct Regret {
    /// Whose figure it is.
    pub activity: &'static str,
    /// The figure.
    pub metric: &'static str,
    /// The corner in words.
    pub corner: String,
    /// The choice's mean there.
    pub choice: f64,
    /// The best candidate's mean there.
    pub best: f64,
    /// The best candidate there.
    pub best_is: String,
    /// Whether the difference is more than the margin with 95 % confidence.
    pub significant: bool,
    /// The figure as people read it.
    #[serde(skip)]
    pub words: String,
    /// The choice's mean as people read it.
    #[serde(skip)]
    pub choice_said: String,
    /// The best candidate's mean as people read it.
    #[serde(skip)]
    pub best_said: String,
}

/// A candidate that may be better or worse.
#[derive(Clone, Debug, Serialize)]
pub struct Open {
    /// The candidate with its figures.
    #[serde(flatten)]
    pub setup: Setup,
    /// The figure in which it seems worse.
    pub metric: String,
    /// By how much, with the interval that does not settle it.
    pub behind: Figure,
}

/// A measurement that would change the choice.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The factor that is not known.
    pub factor: Factor,
    /// The measurement to make.
    pub measure: &'static str,
    /// The low value of the factor.
    pub low: String,
    /// The high value of the factor.
    pub high: String,
    /// The choice if the quantity is at its low value.
    pub if_low: String,
    /// The choice if it is at its high value.
    pub if_high: String,
}

/// An answer.
#[derive(Clone, Debug, Serialize)]
pub struct Recommendation {
    /// Name and version of this form.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The answer in words.
    pub text: String,
    /// The candidate to set up.
    pub choice: Setup,
    /// The choice's shaped rate in per cent of the measured one.
    pub shape_percent: Option<f64>,
    /// The figures that people get under the choice.
    pub experience: Map<String, Value>,
    /// The figures by which candidates were compared, in their order.
    pub deciding: Vec<Deciding>,
    /// The line with nothing set up.
    pub without: Setup,
    /// Candidates that are as good for everybody on the line.
    pub alternatives: Vec<Setup>,
    /// Candidates of which the runs do not say whether they are worse.
    pub undetermined: Vec<Open>,
    /// The corners at which the choice does worst, by each figure that decides.
    pub regret: Vec<Regret>,
    /// The measurement that would change the choice; `None` if none would.
    pub measure_next: Option<Measurement>,
    /// The policy in words.
    pub policy: String,
    /// The question.
    pub line: Value,
    /// Groups of the mix that would take too much of the line, and by how much.
    pub left_out: Vec<String>,
    /// Mixes at corners of the line that were tried.
    pub corners: Vec<String>,
    /// Candidates that were tried.
    pub candidates: usize,
    /// Runs that were made.
    pub runs: usize,
    /// Whether it was stopped before the search had ended.
    pub stopped: bool,
    /// Root of all randomness.
    pub seed: u64,
    /// The line with the choice at its first corner, as a scenario file.
    pub scenario: String,
    /// The answer on another host; `None` unless it was asked for.
    pub check: Option<Check>,
    /// All candidates with what they gave, in the order of the search.
    #[serde(skip)]
    pub tried: Vec<Tried>,
    /// The figures that decided, in their order.
    #[serde(skip)]
    pub keys: Vec<Key>,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// Nothing set up, on the same line.
    pub nothing: Tried,
    /// All candidates, those that were dropped too.
    pub all: Vec<Tried>,
    /// The order of `all`.
    pub order: Chosen,
    /// The figures that decided.
    pub keys: Vec<Key>,
    /// The line with the choice, as a scenario file.
    pub scenario: String,
    /// Groups of the mixes that are left out, in words.
    pub left_out: Vec<String>,
    /// The settings that count.
    pub settings: &'a [usize],
    /// Runs that were made.
    pub runs: usize,
    /// Whether the search was stopped.
    pub is_stopped: bool,
}

/// Puts an answer together.
#[must_use]
pub(crate) fn answer(question: &Question, settings: &[Setting], found: Found<'_>) -> Recommendation {
    let Found { mut nothing, mut all, order, keys, scenario, left_out, settings: counted, runs, is_stopped } = found;
    for one in all.iter_mut().chain([&mut nothing]) {
        // Rounds that were stopped in the midst would weigh settings unequally.
        let rounds = one.rounds(counted);
        one.blocks.retain(|block| counted.contains(&block.setting) && block.round < rounds);
    }
    let best = &all[order.best];
    let choice = setup(question, best);
    let alternatives: Vec<Setup> = order.as_good.iter().map(|place| setup(question, &all[*place])).collect();
    let undetermined: Vec<Open> = order.open.iter().filter_map(|place| open(question, &keys, &all[*place], best)).collect();
    let left: Vec<&Tried> = all.iter().filter(|one| one.dropped.is_none()).collect();
    let regret = regret(&keys, settings, best, &left);
    let measure_next = measurement(question, &keys, settings, best, &left);
    let mut recommendation = Recommendation {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        text: String::new(),
        shape_percent: choice.shape_percent,
        experience: choice.experience.clone(),
        choice,
        deciding: keys.iter().map(deciding).collect(),
        without: setup(question, &nothing),
        alternatives,
        undetermined,
        regret,
        measure_next,
        policy: question.policy.to_string(),
        line: line(question),
        left_out,
        corners: counted.iter().map(|setting| settings[*setting].to_string()).collect(),
        candidates: all.len(),
        runs,
        stopped: is_stopped,
        seed: question.seed,
        scenario,
        check: None,
        tried: all.clone(),
        keys: keys.clone(),
    };
    recommendation.text = words::text(&recommendation, question, best, &nothing);
    recommendation
}

fn setup(question: &Question, tried: &Tried) -> Setup {
    let Candidate { down, up, .. } = &tried.candidate;
    let rates = tried.candidate.shaped_rates(&question.line).map(|rate| rate.map(goodqueue_base::units::Rate::as_bit_s));
    Setup {
        label: tried.candidate.to_string(),
        down: queue(down),
        up: queue(up),
        shape_percent: tried.candidate.percent(),
        rate_down_bit_s: rates[0],
        rate_up_bit_s: rates[1],
        experience: experience(&tried.blocks),
        utilization: [0, 1].map(|direction| tried.utilization(direction)),
        candidate: tried.candidate.clone(),
        blocks: tried.blocks.clone(),
    }
}

fn deciding(key: &Key) -> Deciding {
    let Key { activity, about, .. } = key;
    Deciding { activity: activity.name(), metric: about.name, words: plain::heading(about), quantity: about.quantity.name() }
}

fn queue(choice: &Choice) -> Value {
    let mut table = Map::from_iter([("kind".to_owned(), json!(choice.kind))]);
    for (name, value) in &choice.parameters {
        table.insert((*name).to_owned(), json!(value.to_string()));
    }
    Value::Object(table)
}

/// Every figure of every activity over the blocks; of several groups of one activity the worst.
fn experience(blocks: &[Block]) -> Map<String, Value> {
    let groups = || blocks.iter().flat_map(|block| &block.groups);
    let of = |activity: &Activity| groups().any(|group| group.activity == *activity);
    let figures = |activity: Activity| {
        let figure = |(place, metric): (usize, &crate::results::experience::ExperienceMetric)| {
            let value = |block: &Block| {
                let own = block.groups.iter().filter(|group| group.activity == activity);
                own.filter_map(|group| group.values[place]).min_by(|a, b| advantage(&metric.about, *a, *b).total_cmp(&0.0))
            };
            let figure = over_settings(blocks, value);
            figure.mean.map(|_| (metric.about.name.to_owned(), json!(figure)))
        };
        activity.metrics().iter().enumerate().filter_map(figure).collect::<Map<_, _>>()
    };
    Activity::ALL.into_iter().filter(of).map(|activity| (activity.name().to_owned(), Value::Object(figures(activity)))).collect()
}

/// The first figure by which a candidate seems worse than the best.
fn open(question: &Question, keys: &[Key], one: &Tried, best: &Tried) -> Option<Open> {
    let key = keys.iter().find(|key| standing(key, &one.blocks, &best.blocks) == Standing::Open)?;
    Some(Open {
        setup: setup(question, one),
        metric: format!("{} {}", key.activity.name(), plain::heading(key.about)),
        behind: behind(key, &one.blocks, &best.blocks),
    })
}

fn at(blocks: &[Block], setting: usize) -> Vec<&Block> {
    blocks.iter().filter(|block| block.setting == setting).collect()
}

/// For each figure that decides, the setting in which another candidate is better by most of its
/// margins; settings where none is better by a margin are left out.
fn regret(keys: &[Key], settings: &[Setting], best: &Tried, all: &[&Tried]) -> Vec<Regret> {
    let worst = |key: &Key| {
        let in_setting = |setting: usize| {
            let own = at(&best.blocks, setting);
            let margins = |one: &Tried| {
                let theirs = at(&one.blocks, setting);
                let margin = key.margin.around(figure(key, theirs.iter().copied()).mean?).max(f64::MIN_POSITIVE);
                Some(behind(key, own.iter().copied(), theirs).mean? / margin)
            };
            let leads = all.iter().filter_map(|one| Some((margins(one)?, setting, *one)));
            leads.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (margins, setting, who) = (0..settings.len()).filter_map(in_setting).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let [own, theirs] = [best, who].map(|one| at(&one.blocks, setting));
        let [choice, top] = [&own, &theirs].map(|blocks| figure(key, blocks.iter().copied()));
        (margins > 1.0).then_some(Regret {
            activity: key.activity.name(),
            metric: key.about.name,
            corner: settings[setting].to_string(),
            choice: choice.mean?,
            best: top.mean?,
            best_is: who.candidate.to_string(),
            significant: standing(key, own, theirs) == Standing::Worse,
            words: plain::heading(key.about),
            choice_said: plain::figure(key.about, choice),
            best_said: plain::figure(key.about, top),
        })
    };
    keys.iter().filter_map(worst).collect()
}

/// The unknown quantity whose value would change the choice by most: for each of its values the
/// candidates are ranked at the corners that have it.
fn measurement(question: &Question, keys: &[Key], settings: &[Setting], best: &Tried, all: &[&Tried]) -> Option<Measurement> {
    let line = &question.line;
    let gain = |factor: Factor| {
        let side = |high: bool| {
            let keep = |one: &Tried| -> Vec<Block> {
                one.blocks.iter().filter(|block| settings[block.setting].corner.is_high(factor) == high).cloned().collect()
            };
            let places: Vec<usize> =
                (0..settings.len()).filter(|place| settings[*place].corner.is_high(factor) == high).collect();
            let order = choose(question, keys, all, &places)?;
            let (own, theirs) = (keep(best), keep(all[order.best]));
            // Margins by which the best of this side leads the choice, in the first figure in which
            // it does.
            let lead = keys.iter().map(|key| {
                let behind = behind(key, &own, &theirs);
                let margin = key.margin.around(figure(key, &theirs).mean.unwrap_or(0.0));
                let clear = behind.mean.unwrap_or(0.0) - behind.ci95.unwrap_or(f64::INFINITY);
                if clear > 0.0 { clear / margin.max(f64::MIN_POSITIVE) } else { 0.0 }
            });
            Some((lead.fold(0.0, f64::max), all[order.best].candidate.to_string()))
        };
        let ((low, if_low), (high, if_high)) = (side(false)?, side(true)?);
        let gain = low.max(high);
        if gain <= 1.0 || if_low == if_high {
            return None;
        }
        let corners = || settings.iter().map(|setting| setting.corner);
        let value = |high: bool| corners().find(|corner| corner.is_high(factor) == high).map(|corner| corner.value(factor));
        let (low, high) = (value(false)?, value(true)?);
        Some((gain, Measurement { factor, measure: factor.measurement(), low, high, if_low, if_high }))
    };
    let gains = line.unknown().into_iter().filter_map(gain);
    gains.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, measurement)| measurement)
}

fn line(question: &Question) -> Value {
    let Line { down, up, varies, rtt, buffer, flows, control, access } = &question.line;
    json!({
        "down_bit_s": down.as_bit_s(),
        "up_bit_s": up.as_bit_s(),
        "varies": varies,
        "rtt_s": [rtt.low.as_secs_f64(), rtt.high.as_secs_f64()],
        "buffer_s": [buffer.low.as_secs_f64(), buffer.high.as_secs_f64()],
        "flows": flows.map(|flows| [flows.low, flows.high]),
        "control": [control.low, control.high],
        "mixes": question.mixes.iter().map(|mix| mix.name).collect::<Vec<_>>(),
        "hardware": question.hardware.name(),
        "kind": access.kind.map(|kind| kind.name),
        "framing": access::shown(access.framing),
        "hosts": access.hosts,
    })
}
