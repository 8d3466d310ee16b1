//! The options of netem, which emulates a line: its delay, losses and rate, in one form for all
//! outputs of `tc`.

use super::{Discipline, Setting, TcError};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Duration;

/// Words that begin an option; others belong to the one before (tc/q_netem.c).
const HEADS: &[&str] = &[
    "limit",
    "delay",
    "distribution",
    "loss",
    "duplicate",
    "corrupt",
    "reorder",
    "gap",
    "rate",
    "packetoverhead",
    "cellsize",
    "celloverhead",
    "slot",
    "ecn",
    "seed",
];

/// The names of the values behind the first one.
const MORE: &[(&str, &[&str])] = &[
    ("delay", &["jitter", "correlation"]),
    ("loss", &["correlation"]),
    ("duplicate", &["correlation"]),
    ("corrupt", &["correlation"]),
    ("reorder", &["correlation"]),
    ("rate", &["packetoverhead", "cellsize", "celloverhead"]),
];

/// Greatest delay and share of losses of a link.
const MAX_DELAY_US: f64 = 1e9;
const MAX_LOSS: f64 = 0.99;

/// The options with one value each: `delay 30ms 4ms 25%` of text, and the object of JSON with these
/// members, are `delay`, `delay jitter` and `delay correlation`.
pub(super) fn flatten(options: Vec<(String, Setting)>) -> Vec<(String, Setting)> {
    let mut flat: Vec<(String, Setting)> = Vec::new();
    for (key, setting) in options {
        let (word, member) = key.split_once(' ').unwrap_or((&key, ""));
        let head = match word {
            "latency" => "delay",
            "drop" | "random" | "loss-random" => "loss",
            word => word,
        };
        match setting {
            // Options of JSON that are not in force.
            Setting::Number(0.0) => {}
            Setting::Number(number) => {
                let name = if member.is_empty() || member == head { head.to_owned() } else { format!("{head} {member}") };
                flat.push((name, printed(if member.is_empty() { head } else { member }, number)));
            }
            setting if HEADS.contains(&head) => {
                // `loss random 1%` is `loss 1%`.
                if word == "random" && flat.last().is_some_and(|(last, setting)| last == "loss" && *setting == Setting::Flag) {
                    flat.pop();
                }
                flat.extend(values(head, setting));
            }
            setting => go_on(&mut flat, word, &setting),
        }
    }
    // The last of several holds.
    let mut last = std::collections::BTreeSet::new();
    let mut kept: Vec<_> = flat.into_iter().rev().filter(|(key, _)| last.insert(key.clone())).collect();
    kept.reverse();
    kept
}

/// Whether an option stays when others are changed: the kernel replaces delay, losses,
/// duplicates and limit, and keeps the rest (`netem_change` of net/sched/sch_netem.c).
pub(super) fn stays(key: &str) -> bool {
    let head = key.split(' ').next().unwrap_or_default();
    key.ends_with(" correlation") || !matches!(head, "delay" | "loss" | "duplicate" | "limit" | "gap")
}

/// A number of JSON as text has it: times are in seconds, shares of one.
fn printed(member: &str, number: f64) -> Setting {
    match member {
        "delay" | "jitter" | "min-delay" | "max-delay" => Setting::Text(format!("{number}s")),
        "limit" | "rate" | "packetoverhead" | "cellsize" | "celloverhead" | "packets" | "bytes" | "gap" | "seed" => {
            Setting::Number(number)
        }
        _ => Setting::Text(format!("{}%", (number * 1e8).round() / 1e6)),
    }
}

/// The values behind a word, each with its name.
fn values(head: &str, setting: Setting) -> Vec<(String, Setting)> {
    let Setting::Text(text) = &setting else { return vec![(head.to_owned(), setting)] };
    let names = MORE.iter().find(|(known, _)| *known == head).map_or(&[][..], |(_, names)| names);
    let words: Vec<&str> = text.splitn(names.len() + 1, ' ').collect();
    let name = |at: usize| if at == 0 { head.to_owned() } else { format!("{head} {}", names[at - 1]) };
    words.iter().enumerate().map(|(at, word)| (name(at), Setting::Text((*word).to_owned()))).collect()
}

/// Puts a word that begins no option behind the last one: `loss gemodel p 1% r 10%`.
fn go_on(flat: &mut Vec<(String, Setting)>, word: &str, setting: &Setting) {
    match flat.last_mut() {
        Some((key, last @ Setting::Flag)) => {
            *key = format!("{key} {word}");
            *last = setting.clone();
        }
        Some((_, last)) => *last = Setting::Text(format!("{} {word} {}", last.text(), setting.text()).trim().to_owned()),
        None => flat.push((word.to_owned(), setting.clone())),
    }
}

/// The line that netem emulates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emulated {
    /// The delay, of each netem on the way.
    pub delay: Duration,
    /// The share of packets that are lost.
    pub loss: f64,
    /// The netem that this is from; none without one.
    pub source: String,
}

impl Emulated {
    /// Adds a netem, and returns its options that a link does not have, in sentences.
    pub(super) fn add(&mut self, netem: &Discipline, is_last: bool) -> Result<Vec<String>, TcError> {
        let mut notes = Vec::new();
        for (key, setting) in &netem.options {
            let wrong = |allowed| {
                let (owner, value) = (excerpt(&netem.name()), excerpt(&setting.text()));
                netem.in_line(TcError::Range { owner, key: key.clone(), value, allowed })
            };
            match key.as_str() {
                "delay" => {
                    // Versions of tc differ in the unit of a bare number.
                    let has_unit = setting.text().ends_with('s') || setting.number() == Some(0.0);
                    let micros = setting.micros().filter(|micros| has_unit && (0.0..=MAX_DELAY_US).contains(micros));
                    self.delay += Duration::ns(
                        (micros.ok_or_else(|| wrong("0s to 1000s with its unit, such as 20ms"))? * 1e3).round() as u64,
                    );
                }
                "loss" => {
                    let share = setting.number().map(|percent| percent / 100.0);
                    let share = share.filter(|share| (0.0..=MAX_LOSS).contains(share)).ok_or_else(|| wrong("0% to 99%"))?;
                    let passed = (1.0 - self.loss) * (1.0 - share);
                    self.loss = ((1.0 - passed) * 1e9).round() / 1e9;
                }
                "limit" if is_last => {}
                // The shapers on the way have it.
                "rate" => {}
                _ => notes.push(netem.left_out(key, setting)),
            }
        }
        if is_last && self.delay > Duration::ZERO {
            notes.push("The limit of netem counts packets on their way, too: fewer wait.".to_owned());
        }
        self.source = netem.placed(&netem.name());
        Ok(notes)
    }
}
