//! The answer in sentences.

use crate::answer::{Recommendation, Tried};
use crate::corners::Line;
use crate::race::{Block, Key};
use goodqueue_lab::experience::Activity;
use goodqueue_lab::headline::words::{figure, heading, list};
use goodqueue_lab::metrics::Better;
use goodqueue_lab::statistics::Figure;
use goodqueue_units::Rate;

/// The sentences, in the order of what a reader needs.
pub fn sentences(answer: &Recommendation, keys: &[Key], best: &Tried, nothing: &Tried, line: &Line) -> Vec<String> {
    let mut sentences = vec![match rates(best, line) {
        Some(rates) => format!("Set up {}: {rates}.", best.candidate),
        None => "Set nothing up: no queue that was tried is better than the line as it is.".to_owned(),
    }];
    let get =
        |keys: &mut dyn Iterator<Item = &Key>, blocks: &[Block]| list(&keys.map(|key| said(key, blocks)).collect::<Vec<_>>());
    if answer.corners.len() > 1 {
        sentences.push(format!(
            "Figures are means over {} corners of what is not known, in brackets their range.",
            answer.corners.len()
        ));
    }
    sentences.push(format!("Under it: {}.", get(&mut keys.iter(), &best.blocks)));
    let interactive = || keys.iter().filter(|key| key.activity != Activity::Bulk);
    if interactive().next().is_some() && best.candidate.shaped.is_some() {
        sentences.push(format!("With nothing set up: {}.", get(&mut interactive(), &nothing.blocks)));
    }
    let labels = |labels: &mut dyn Iterator<Item = &String>| list(&labels.cloned().collect::<Vec<_>>());
    if !answer.alternatives.is_empty() {
        let names = labels(&mut answer.alternatives.iter().map(|one| &one.label));
        sentences.push(format!("Not significantly different for anybody on the line: {names}."));
    }
    if !answer.undetermined.is_empty() {
        let names = labels(&mut answer.undetermined.iter().map(|one| &one.setup.label));
        sentences
            .push(format!("Undetermined: the runs do not settle whether these are worse: {names}. More runs may (--thorough)."));
    }
    for worst in answer.regret.iter().filter(|worst| worst.significant) {
        sentences.push(format!(
            "At {}, {} does better: {} {} {} instead of {}.",
            worst.corner, worst.best_is, worst.activity, worst.words, worst.best_said, worst.choice_said
        ));
    }
    if let Some(next) = &answer.measure_next {
        sentences.push(format!(
            "One measurement would change the answer: {}. If it is {}, {}; if it is {}, {}.",
            next.measure, next.low, next.if_low, next.high, next.if_high
        ));
    } else if !line.unknown().is_empty() {
        sentences.push("No single further measurement would change the choice.".to_owned());
    }
    sentences.extend(answer.left_out.iter().map(|left| format!("{}.", capital(left))));
    sentences
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The shaped rates; `None` where nothing is shaped.
fn rates(best: &Tried, line: &Line) -> Option<String> {
    let shaped = |measured: Rate| best.candidate.shaped_rate(measured);
    Some(format!("shape to {} down and {} up", shaped(line.down)?, shaped(line.up)?))
}

/// What a key is called after its activity: `MOS`, `RTT p95`.
pub fn words(key: &Key) -> String {
    heading(key.about)
}

/// The mean, with its interval on a line that is known and with its range over the corners on any
/// other.
#[must_use]
pub fn value(key: &Key, blocks: &[Block]) -> String {
    let plain = |mean: f64| figure(key.about, Figure { mean: Some(mean), ci95: None, n: 1 });
    match (range(key, blocks), key.figure(blocks).mean) {
        (Some([low, high]), Some(mean)) => format!("{} ({} to {})", plain(mean), plain(low), plain(high)),
        _ => figure(key.about, key.figure(blocks)),
    }
}

/// The least and the most of the corners' means; `None` with one corner.
#[must_use]
pub fn range(key: &Key, blocks: &[Block]) -> Option<[f64; 2]> {
    let corners = blocks.iter().map(|block| block.corner).max().unwrap_or(0) + 1;
    let mean =
        |corner: usize| Figure::of(blocks.iter().filter(|block| block.corner == corner).map(|block| key.value(block))).mean;
    let means: Vec<f64> = (0..corners).filter_map(mean).collect();
    let of = |pick: fn(f64, f64) -> f64| means.iter().copied().reduce(pick);
    if corners < 2 {
        return None;
    }
    Some([of(f64::min)?, of(f64::max)?])
}

fn said(key: &Key, blocks: &[Block]) -> String {
    let (value, head) = (value(key, blocks), words(key));
    match (key.about.better, key.about.printed) {
        // `ping 0 % lost`
        (Better::Lower, Some(printed)) if printed.part.is_empty() => format!("{} {value} {head}", key.activity.name()),
        _ => format!("{} {head} {value}", key.activity.name()),
    }
}
