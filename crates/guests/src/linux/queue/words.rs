//! A queue in the words of `tc`.

use goodqueue_aqm::spec::{KindSpec, LinkFacts, Value};
use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_base::units::Bytes;
use goodqueue_sim::QueueSpec;
use std::fmt::Write as _;

/// The settings of a queue discipline `goodqueue`: what follows its name. `None` for queues that
/// are none of the kinds.
pub fn settings(queue: &QueueSpec, link: &LinkFacts, seed: u64) -> Option<String> {
    let QueueSpec::Discipline { queue, ecn, limit } = queue else { return None };
    let mut text = format!("kind {}", queue.name());
    // Writing to a string cannot fail.
    let _ = match limit {
        Limit { bytes: Bytes::MAX, packets } => write!(text, " limit {}", packets.get()),
        Limit { bytes, .. } => write!(text, " limit {}B", bytes.get()),
    };
    text.push_str(if *ecn == EcnPolicy::Mark { " ecn" } else { " noecn" });
    if let Some(rate) = link.rate {
        let _ = write!(text, " link {}", packed(Value::Rate(rate)));
    }
    let delay = packed(Value::Duration(link.delay));
    let _ = write!(text, " delay {delay} link_overhead {}B seed {seed}", link.overhead.get());
    add(&mut text, "", queue.kind, &queue.params);
    let (mut level, mut before) = (queue.of.as_deref(), "of.".to_owned());
    while let Some(chosen) = level {
        add(&mut text, &before, chosen.kind, &chosen.params);
        (level, before) = (chosen.of.as_deref(), format!("of.{before}"));
    }
    Some(text)
}

fn add(text: &mut String, before: &str, kind: &KindSpec, params: &[(&'static str, Value)]) {
    // Another algorithm is named by the kind, and marking is one word for all.
    let own = |name: &str| kind.param(name).is_some_and(|param| !param.unit.is_another()) && name != "ecn";
    for (name, value) in params.iter().filter(|(name, _)| own(name)) {
        let _ = write!(text, " {before}{name} {}", packed(*value));
    }
}

/// A value without the space before its unit.
fn packed(value: Value) -> String {
    value.to_string().replace(' ', "")
}
