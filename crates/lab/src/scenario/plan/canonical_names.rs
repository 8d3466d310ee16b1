//! Swept values as results show them: queues and controls by their kinds' own names, whichever name
//! the file has.

use super::known::Known;
use super::link::{Link, LinkDirection};
use super::scenario::Scenario;
use goodqueue_aqm::algo::tail_drop::Counting;
use goodqueue_aqm::{Limit, sched};
use goodqueue_tcp::cc;
use serde_json::Value;

/// Gives queues and controls in `set`, the swept keys and values of `plan`, their own names.
pub(super) fn canonicalize(set: &mut [(String, Value)], plan: &Scenario, known: &Known) {
    for (key, value) in set {
        let parts: Vec<&str> = key.split('.').collect();
        match parts.as_slice() {
            ["link", link, way @ ("queue" | "queue_up")] => name_queue(value, limit_of(plan, link, way), known),
            ["link", .., "queue" | "queue_up", "kind" | "of"] | ["link", .., "of", "kind" | "of"] => {
                name_queue(value, None, known)
            }
            ["traffic", _, "cc"] | ["traffic", _, "cc", "kind"] => name_control(value),
            _ => {}
        }
    }
}

fn limit_of(plan: &Scenario, link: &str, way: &str) -> Option<Limit> {
    let Link { down, up, .. } = plan.links.iter().find(|known| known.name == link)?;
    let LinkDirection { queue, .. } = if way == "queue" { down } else { up };
    queue.as_ref().map(|queue| queue.limit)
}

/// A queue whose name said what its limit counts shows the limit instead.
fn name_queue(value: &mut Value, limit: Option<Limit>, known: &Known) {
    match value {
        Value::String(name) if known.own(name).is_none() => {
            let Some(spec) = sched::kind(name) else { return };
            let counted = Counting::of(name).and_then(|counting| shown(counting, limit?));
            *value = match counted {
                Some(limit) => serde_json::json!({ "kind": spec.kind, "limit": limit }),
                None => spec.kind.into(),
            };
        }
        Value::Object(fields) => {
            let name = fields.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            if known.own(&name).is_some() {
                return;
            }
            if let Some(spec) = sched::kind(&name) {
                fields.insert("kind".to_owned(), spec.kind.into());
            }
            if let Some(limit) = Counting::of(&name).and_then(|counting| shown(counting, limit?)) {
                fields.insert("limit".to_owned(), limit.into());
            }
            if let Some(of) = fields.get_mut("of") {
                name_queue(of, None, known);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}

fn shown(counting: Counting, limit: Limit) -> Option<String> {
    match counting {
        Counting::Packets => (limit.packets != Limit::NONE.packets).then(|| format!("{} packets", limit.packets.get())),
        Counting::Bytes => (limit.bytes != Limit::NONE.bytes).then(|| format!("{} B", limit.bytes.get())),
    }
}

fn name_control(value: &mut Value) {
    match value {
        Value::String(name) => {
            if let Some(spec) = cc::kinds().iter().find(|spec| spec.is_called(name)) {
                *value = spec.kind.into();
            }
        }
        Value::Object(fields) => {
            if let Some(kind) = fields.get_mut("kind") {
                name_control(kind);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}
