//! The answer in words.

use crate::results::statistics::Figure;
use crate::run::recommend::answer::Recommendation;
use crate::run::recommend::answer::advice::{advice, only_choice, remedy};
use crate::run::recommend::candidates::Hardware;
use crate::run::recommend::question::Question;
use crate::run::recommend::race::{self, Block};
use crate::run::recommend::tried::Tried;
use crate::verdict::rule::Key;
use crate::verdict::words::{capital, figure, heading, list_up_to};
use crate::verdict::{by_who, cannot_carry, effect};
use goodqueue_base::units::Rate;

/// More names make a line hard to read.
const MAX_NAMES: usize = 6;

/// Two sentences, a blank line, and details in a line each.
pub fn text(answer: &Recommendation, question: &Question, best: &Tried, nothing: &Tried) -> String {
    let keys = &answer.keys;
    let (before, after) = (nothing.contender(), best.contender());
    let mut first = match rates(best, question) {
        Some(rates) => rates,
        None => {
            let why = only_choice(question).unwrap_or_else(|| "nothing that was tried does noticeably better".to_owned());
            format!("Leave it as it is: {why}")
        }
    };
    if question.carries_no_call() {
        first = format!("This line carries no call; no queue can change that. For the rest: {first}");
    } else if let Some(cannot) = cannot_carry(keys, &after) {
        let remedy = remedy(question, &best.candidate);
        let least_bad = if best.candidate.is_shaped() { ", and the least bad is this:" } else { "." };
        first = format!("This line cannot {cannot}; {remedy}{least_bad} {first}");
    }
    let stopped = answer.stopped.then(|| format!("Stopped after {} runs; more may give another answer.", answer.runs));
    let mut details: Vec<String> = stopped.into_iter().collect();
    details.extend(advice(question, best, |keys| got(keys, &best.blocks)));
    details.push(format!("With it: {}.", got(keys, &best.blocks)));
    if best.candidate.is_shaped() {
        details.push(format!("With nothing set up: {}.", got(keys, &nothing.blocks)));
    }
    details.extend(question.unit.under_load([("with it", &after), ("with nothing set up", &before)].into_iter()));
    if answer.corners.len() > 1 {
        details.push(format!("Averages over {} cases; in parentheses the best to the worst of them.", answer.corners.len()));
    }
    let named = |names: Vec<String>| (!names.is_empty()).then(|| list_up_to(names, MAX_NAMES));
    let alternatives = named(answer.alternatives.iter().map(|one| one.label.clone()).collect());
    details.extend(alternatives.map(|names| format!("As good: {names}; choose whichever is easier to set.")));
    let open = named(answer.undetermined.iter().map(|one| one.setup.label.clone()).collect());
    details.extend(open.map(|names| format!("Perhaps as good: {names}; the difference is too small for us to tell.")));
    for worst in answer.regret.iter().filter(|worst| worst.significant && worst.activity != "bulk") {
        details.push(format!(
            "At {}, {} does better: {} {} {} instead of {}.",
            worst.corner, worst.best_is, worst.activity, worst.words, worst.best_said, worst.choice_said
        ));
    }
    details.extend(answer.measure_next.as_ref().map(|next| {
        format!("If {} is {}, choose {}; if it is {}, {}.", next.measure, next.low, next.if_low, next.high, next.if_high)
    }));
    details.extend(answer.left_out.iter().map(|left| format!("{}.", capital(left))));
    let once: Vec<Key> = keys.iter().map(|key| key.once()).collect();
    let effect = effect(&once, ("nothing set up", &before), ("it", &after));
    format!("{first}. {effect}\n\n{}", details.join("\n"))
}

/// The results that people get, figure by figure.
fn got(keys: &[Key], blocks: &[Block]) -> String {
    by_who(keys, |key| format!("{} {}", heading(key.about), value(key, blocks)))
}

/// The settings to apply, in the words of the device; `None` where nothing is shaped.
fn rates(best: &Tried, question: &Question) -> Option<String> {
    let candidate = &best.candidate;
    let rates = candidate.shaped_rates(&question.line);
    let is_openwrt = question.hardware == Hardware::OpenWrt;
    let said = |rate: Rate| if is_openwrt { format!("{} kbit/s", thousands(rate.as_bit_s() / 1000)) } else { rate.to_string() };
    let verb = |queue: &str| match is_openwrt {
        true => format!("Set SQM ({queue}) to"),
        false => format!("Set up {queue} and shape to"),
    };
    let both = || match candidate.down == candidate.up {
        true => candidate.down.typed(),
        false => format!("{} down and {} up", candidate.down.typed(), candidate.up.typed()),
    };
    let left = |way: &str| if is_openwrt { format!("0 {way}, which shapes nothing there") } else { format!("nothing {way}") };
    let mut text = match rates {
        [None, None] => return None,
        [Some(down), Some(up)] => {
            let up = if is_openwrt { thousands(up.as_bit_s() / 1000) } else { up.to_string() };
            format!("{} {} down and {up} up", verb(&both()), said(down))
        }
        [Some(down), None] => format!("{} {} down and {}", verb(&candidate.down.typed()), said(down), left("up")),
        [None, Some(up)] => format!("{} {} up and {}", verb(&candidate.up.typed()), said(up), left("down")),
    };
    if question.line.varies_much() {
        text.push_str(", which the line carries in its bad hours");
    }
    Some(text)
}

/// `45,000`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<String> = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into()).collect();
    groups.join(",")
}

/// The mean, with its interval on a line that is known and with its range over the corners on any
/// other.
#[must_use]
pub fn value(key: &Key, blocks: &[Block]) -> String {
    let plain = |mean: f64| figure(key.about, Figure { mean: Some(mean), ci95: None, n: 1 });
    match (range(key, blocks), race::figure(key, blocks).mean) {
        (Some([low, high]), Some(mean)) if plain(low) != plain(high) => {
            format!("{} ({} to {})", plain(mean), plain(low), plain(high))
        }
        _ => figure(key.about, race::figure(key, blocks)),
    }
}

/// The least and the most of the corners' means; `None` with one corner.
#[must_use]
pub fn range(key: &Key, blocks: &[Block]) -> Option<[f64; 2]> {
    let settings = blocks.iter().map(|block| block.setting).max().unwrap_or(0) + 1;
    let mean = |setting: usize| race::figure(key, blocks.iter().filter(|block| block.setting == setting)).mean;
    let means: Vec<f64> = (0..settings).filter_map(mean).collect();
    let of = |pick: fn(f64, f64) -> f64| means.iter().copied().reduce(pick);
    if means.len() < 2 {
        return None;
    }
    Some([of(f64::min)?, of(f64::max)?])
}
