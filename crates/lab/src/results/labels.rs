//! Short names for the points of a sweep.

use crate::scenario::plan::{Point, Queue};
use serde_json::Value;

/// Swept keys and their values at one point.
type Set = [(String, Value)];

/// Names for points: short, and distinct wherever the points differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// One name per point.
    pub names: Vec<String>,
    /// The kind of queue at the main link of each point, where the sweep sets it.
    pub splits: Vec<Split>,
}

/// The name of a point in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The queue, when queues are swept; of both directions where both are.
    pub queue: Option<String>,
    /// The key that sets each queue, or a parameter of it, and what it is called.
    pub choices: Vec<(String, String)>,
    /// All other swept values; empty if there are none.
    pub setting: String,
}

impl Labels {
    /// Names for these points; one without swept values is called by its queue.
    #[must_use]
    pub fn of_points(points: &[Point]) -> Self {
        let sets: Vec<&Set> = points.iter().map(|point| point.set.as_slice()).collect();
        let alone = points.first().map_or_else(String::new, |Point { plan, .. }| {
            plan.main_link().down.queue.as_ref().map_or_else(|| plan.name.clone(), Queue::name)
        });
        Self::new(&sets, &alone)
    }

    /// Names for these points; `alone` is the name of a point without swept values.
    #[must_use]
    pub fn new(sets: &[&Set], alone: &str) -> Self {
        let splits: Vec<Split> = sets.iter().map(|set| split(set, sets)).collect();
        let names = splits
            .iter()
            .map(|split| match (&split.queue, split.setting.as_str()) {
                (Some(queue), "") => queue.clone(),
                (Some(queue), setting) => format!("{queue}, {setting}"),
                (None, "") => alone.to_owned(),
                (None, setting) => setting.to_owned(),
            })
            .collect();
        Self { names, splits }
    }
}

/// A name for a point: its swept values, or the scenario's name when nothing is swept.
#[must_use]
pub fn label(set: &[(String, serde_json::Value)]) -> String {
    if set.is_empty() {
        return "scenario".to_owned();
    }
    set.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect::<Vec<_>>().join(", ")
}

/// A value as a person writes it.
#[must_use]
pub fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether this is the key of a queue, or of one of its parameters.
fn is_queue(key: &str) -> bool {
    key.ends_with(".queue") || key.contains(".queue.") || is_up(key)
}

/// Whether this is such a key of a return direction.
fn is_up(key: &str) -> bool {
    key.ends_with(".queue_up") || key.contains(".queue_up.")
}

fn split(set: &Set, sets: &[&Set]) -> Split {
    let named = |(key, value): &(String, Value)| {
        let name = match [".queue", ".queue_up", ".of"].iter().any(|end| key.ends_with(end)) {
            true => queue_name(key, value, sets),
            false => format!("{}={}", short_key(key, set), text_of(value)),
        };
        (key.clone(), name)
    };
    let choices: Vec<(String, String)> = set.iter().filter(|(key, _)| is_queue(key)).map(named).collect();
    let ways = |up: bool| {
        let way = choices.iter().filter(|(key, _)| is_up(key) == up).map(|(_, name)| name.as_str());
        way.collect::<Vec<_>>().join(" ")
    };
    let queue = match (ways(false), ways(true)) {
        (down, up) if down.is_empty() && up.is_empty() => None,
        (down, up) if up.is_empty() => Some(down),
        (down, up) if down.is_empty() => Some(format!("{up} up")),
        (down, up) if down == up && is_paired(sets) => Some(down),
        (down, up) => Some(format!("{down} down + {up} up")),
    };
    let others = set.iter().filter(|(key, _)| !is_queue(key));
    let setting = others
        .map(|(key, value)| format!("{}={}", short_key(key, set), short_value(key, value, sets)))
        .collect::<Vec<_>>()
        .join(", ");
    Split { queue, choices, setting }
}

/// Whether every point has the same queue in both directions.
fn is_paired(sets: &[&Set]) -> bool {
    let of = |set: &Set, up: bool| {
        set.iter().filter(|(key, _)| is_queue(key) && is_up(key) == up).map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    sets.iter().all(|set| of(set, false) == of(set, true))
}

/// The last part of a key, or the complete key where two swept keys share the last part.
fn short_key<'a>(key: &'a str, set: &Set) -> &'a str {
    let last = |key: &'a str| key.rsplit('.').next().unwrap_or(key);
    let same = set.iter().filter(|(other, _)| other.rsplit('.').next() == Some(last(key))).count();
    if same > 1 { key } else { last(key) }
}

/// A table or a list of tables by its names, unless another swept value has the same ones; anything
/// else in full.
fn short_value(key: &str, value: &Value, sets: &[&Set]) -> String {
    let short = outline(value);
    let mut others = sets.iter().flat_map(|set| set.iter()).filter(|(other, _)| other == key).map(|(_, value)| value);
    if others.any(|other| other != value && outline(other) == short) { text_of(value) } else { short }
}

fn outline(value: &Value) -> String {
    match value {
        Value::Object(fields) => ["name", "kind"].iter().find_map(|name| fields.get(*name)).map_or_else(|| text_of(value), shown),
        Value::Array(items) => items.iter().map(outline).collect::<Vec<_>>().join("+"),
        _ => shown(value),
    }
}

/// `codel` or `fair:codel`, with the parameters that differ from other swept queues of its kind, as
/// the command line takes them: `fair:flows=64:codel:target=5ms`.
fn queue_name(key: &str, value: &Value, sets: &[&Set]) -> String {
    let kind = kind_of(value);
    let others = sets.iter().flat_map(|set| set.iter()).filter(|(other, value)| other == key && kind_of(value) == kind);
    let others: Vec<Vec<(usize, &str, &Value)>> = others.map(|(_, value)| params_of(value, 0)).collect();
    in_words(value, 0, &|param| others.iter().any(|other| !other.contains(&param)))
}

/// The kind, followed by a colon and the algorithm it contains.
fn kind_of(value: &Value) -> String {
    in_words(value, 0, &|_| false)
}

/// A value as the command line takes it: `fq-codel:hash=set-associative`, `5ms`.
fn text_of(value: &Value) -> String {
    in_words(value, 0, &|_| true)
}

/// Writes a value as the command line takes it, with only the parameters that `is_wanted` selects;
/// it gets each parameter's depth of nesting, name and value.
fn in_words(value: &Value, depth: usize, is_wanted: &dyn Fn((usize, &str, &Value)) -> bool) -> String {
    match value {
        Value::Object(fields) => {
            let kind = fields.get("kind").map(shown);
            let params = params_here(value).filter(|(name, value)| is_wanted((depth, name, value)));
            let params = params.map(|(name, value)| format!("{name}={}", text_of(value)));
            let inner = fields.get("of").map(|of| in_words(of, depth + 1, is_wanted));
            kind.into_iter().chain(params).chain(inner).collect::<Vec<_>>().join(":")
        }
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("+"),
        Value::String(text) => match text.split_once(' ') {
            // A number and its unit are one word.
            Some((number, unit)) if number.parse::<f64>().is_ok() => format!("{number}{unit}"),
            _ => text.clone(),
        },
        _ => shown(value),
    }
}

/// The parameters of a queue, and those of the algorithm it contains.
fn params_of(value: &Value, depth: usize) -> Vec<(usize, &str, &Value)> {
    let here = params_here(value).map(|(name, value)| (depth, name, value));
    here.chain(value.get("of").into_iter().flat_map(|of| params_of(of, depth + 1))).collect()
}

fn params_here(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    fields.filter(|(name, _)| !["kind", "of"].contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(sets: &[Vec<(&str, Value)>]) -> Vec<String> {
        let sets: Vec<Vec<(String, Value)>> =
            sets.iter().map(|set| set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()).collect();
        let sets: Vec<&Set> = sets.iter().map(Vec::as_slice).collect();
        Labels::new(&sets, "home").names
    }

    #[test]
    fn queues_are_called_by_their_kind_and_by_what_differs() {
        let queue = |value| vec![("link.bottleneck.queue", value)];
        let sets = [
            queue(json!("tail-drop")),
            queue(json!({"kind": "codel", "ecn": true, "target": "5 ms"})),
            queue(json!({"kind": "codel", "ecn": true, "target": "20 ms"})),
            queue(json!({"kind": "pie", "ecn": true})),
        ];
        assert_eq!(names(&sets), ["tail-drop", "codel:target=5ms", "codel:target=20ms", "pie"]);
    }

    #[test]
    fn tables_are_called_by_their_names_while_those_differ() {
        let traffic = |value| vec![("traffic", value)];
        let bulk = |flows| json!([{"kind": "bulk", "flows": flows}]);
        let mixed = json!([{"kind": "bulk", "flows": 4}, {"name": "calls", "kind": "cbr"}]);
        assert_eq!(names(&[traffic(bulk(4)), traffic(mixed.clone())]), ["traffic=bulk", "traffic=bulk+calls"]);
        assert_eq!(names(&[traffic(bulk(4)), traffic(bulk(8)), traffic(mixed)])[0], "traffic=bulk:flows=4");
    }

    #[test]
    fn queues_over_another_algorithm_are_called_by_both() {
        let queue = |value| vec![("link.bottleneck.queue", value)];
        let sets = [
            queue(json!({"kind": "fair", "of": "pie"})),
            queue(json!({"kind": "fair", "of": {"kind": "codel", "target": "5 ms"}, "flows": 64})),
            queue(json!({"kind": "fair", "of": {"kind": "codel", "target": "9 ms"}, "flows": 64})),
        ];
        assert_eq!(names(&sets), ["fair:pie", "fair:codel:target=5ms", "fair:codel:target=9ms"]);
    }

    #[test]
    fn no_label_contains_json() {
        let sets = [
            vec![("link.dsl.queue", json!({"kind": "shaped", "of": {"kind": "fq-codel", "hash": "set-associative"}}))],
            vec![("link.dsl.queue", json!({"kind": "shaped", "of": {"kind": "fq-codel", "hash": "direct"}}))],
            vec![("link.dsl.queue.of", json!({"kind": "fq-codel", "hash": "set-associative"}))],
            vec![("link.dsl.queue", json!({"kind": "shaped", "of": "pie", "classes": [{"weight": 1}, {"weight": 2}]}))],
            vec![("link.dsl.queue", json!({"kind": "shaped", "of": "pie"}))],
        ];
        let expected = [
            "shaped:fq-codel:hash=set-associative",
            "shaped:fq-codel:hash=direct",
            "fq-codel",
            "shaped:classes=weight=1+weight=2:pie",
            "shaped:pie",
        ];
        assert_eq!(names(&sets), expected);
    }

    #[test]
    fn other_keys_are_shortened_where_that_is_clear() {
        let sets = [vec![("link.a.queue", json!("pie")), ("traffic.0.flows", json!(4))]];
        assert_eq!(names(&sets), ["pie, flows=4"]);
        let sets = [vec![("traffic.0.flows", json!(4)), ("link.a.queue.target", json!("5 ms"))]];
        assert_eq!(names(&sets), ["target=5ms, flows=4"]);
        let sets = [vec![("traffic.0.flows", json!(4)), ("traffic.1.flows", json!(2))]];
        assert_eq!(names(&sets), ["traffic.0.flows=4, traffic.1.flows=2"]);
        assert_eq!(names(&[Vec::new()]), ["home"]);
    }

    #[test]
    fn queues_of_two_directions_are_called_by_both() {
        let sets = [
            vec![("link.dsl.queue", json!("pie")), ("link.dsl.queue_up", json!("cake"))],
            vec![("link.dsl.queue", json!("pie")), ("link.dsl.queue_up", json!({"kind": "codel", "target": "5 ms"}))],
            vec![("link.dsl.queue", json!("pie")), ("link.dsl.queue_up", json!({"kind": "codel", "target": "9 ms"}))],
        ];
        assert_eq!(names(&sets), ["pie down + cake up", "pie down + codel:target=5ms up", "pie down + codel:target=9ms up"]);
        let same = |kind| vec![("link.dsl.queue", json!(kind)), ("link.dsl.queue_up", json!(kind))];
        assert_eq!(names(&[same("pie"), same("cake")]), ["pie", "cake"]);
        assert_eq!(names(&[vec![("link.dsl.queue_up", json!("cake")), ("traffic.0.flows", json!(4))]]), ["cake up, flows=4"]);
    }
}
