//! Short names for the points of a sweep.

use crate::runner::shown;
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
            false => format!("{}={}", short_key(key, set), in_full(value)),
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
    if others.any(|other| other != value && outline(other) == short) { in_full(value) } else { short }
}

fn outline(value: &Value) -> String {
    match value {
        Value::Object(fields) => ["name", "kind"].iter().find_map(|name| fields.get(*name)).map_or_else(|| in_full(value), shown),
        Value::Array(items) => items.iter().map(outline).collect::<Vec<_>>().join("+"),
        _ => shown(value),
    }
}

/// All of a value, as a person would write it: a table is its kind and its settings.
fn in_full(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let settings =
                fields.iter().filter(|(name, _)| *name != "kind").map(|(name, value)| format!("{name}={}", in_full(value)));
            fields.get("kind").map(shown).into_iter().chain(settings).collect::<Vec<_>>().join(" ")
        }
        Value::Array(items) => items.iter().map(in_full).collect::<Vec<_>>().join("+"),
        _ => shown(value),
    }
}

/// `codel` or `fair:codel`, with the parameters that differ from other swept queues of its kind.
fn queue_name(key: &str, value: &Value, sets: &[&Set]) -> String {
    let kind = kind_of(value);
    let others: Vec<Vec<(&str, &Value)>> = sets
        .iter()
        .flat_map(|set| set.iter())
        .filter(|(other, value)| other == key && kind_of(value) == kind)
        .map(|(_, value)| params_of(value))
        .collect();
    let params: Vec<String> = params_of(value)
        .into_iter()
        .filter(|param| others.iter().any(|other| !other.contains(param)))
        .map(|(name, value)| format!("{name}={}", in_full(value)))
        .collect();
    if params.is_empty() { kind } else { format!("{kind} {}", params.join(" ")) }
}

/// The kind, followed by a colon and the algorithm it contains.
fn kind_of(value: &Value) -> String {
    let Value::Object(fields) = value else { return shown(value) };
    let kind = fields.get("kind").map_or_else(String::new, shown);
    fields.get("of").map_or_else(|| kind.clone(), |of| format!("{kind}:{}", kind_of(of)))
}

/// Its own parameters, and those of the algorithm it contains.
fn params_of(value: &Value) -> Vec<(&str, &Value)> {
    let Value::Object(fields) = value else { return Vec::new() };
    let own =
        fields.iter().filter(|(name, _)| !["kind", "of"].contains(&name.as_str())).map(|(name, value)| (name.as_str(), value));
    own.chain(fields.get("of").into_iter().flat_map(params_of)).collect()
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
        assert_eq!(names(&sets), ["tail-drop", "codel target=5 ms", "codel target=20 ms", "pie"]);
    }

    #[test]
    fn tables_are_called_by_their_names_while_those_differ() {
        let traffic = |value| vec![("traffic", value)];
        let bulk = |flows| json!([{"kind": "bulk", "flows": flows}]);
        let mixed = json!([{"kind": "bulk", "flows": 4}, {"name": "calls", "kind": "cbr"}]);
        assert_eq!(names(&[traffic(bulk(4)), traffic(mixed.clone())]), ["traffic=bulk", "traffic=bulk+calls"]);
        assert_eq!(names(&[traffic(bulk(4)), traffic(bulk(8)), traffic(mixed)])[0], "traffic=bulk flows=4");
        let rate = |value| vec![("link.a.rate", value)];
        let stepped = json!({"steps": [["0 s", "9 Mbit/s"], ["5 s", "1 Mbit/s"]]});
        assert_eq!(
            names(&[rate(json!({"trace": "a"})), rate(stepped)]),
            ["rate=trace=a", "rate=steps=0 s+9 Mbit/s+5 s+1 Mbit/s"]
        );
    }

    #[test]
    fn queues_over_another_algorithm_are_called_by_both() {
        let queue = |value| vec![("link.bottleneck.queue", value)];
        let sets = [
            queue(json!({"kind": "fair", "of": "pie"})),
            queue(json!({"kind": "fair", "of": {"kind": "codel", "target": "5 ms"}, "flows": 64})),
            queue(json!({"kind": "fair", "of": {"kind": "codel", "target": "9 ms"}, "flows": 64})),
        ];
        assert_eq!(names(&sets), ["fair:pie", "fair:codel target=5 ms", "fair:codel target=9 ms"]);
        let inner = |value| vec![("link.router.queue.of", value)];
        let hashed = json!({"kind": "fq-codel", "hash": "set-associative"});
        assert_eq!(
            names(&[inner(json!("cake")), inner(json!({"kind": "fq-codel"})), inner(hashed)]),
            ["cake", "fq-codel", "fq-codel hash=set-associative"]
        );
    }

    #[test]
    fn other_keys_are_shortened_where_that_is_clear() {
        let sets = [vec![("link.a.queue", json!("pie")), ("traffic.0.flows", json!(4))]];
        assert_eq!(names(&sets), ["pie, flows=4"]);
        let sets = [vec![("traffic.0.flows", json!(4)), ("link.a.queue.target", json!("5 ms"))]];
        assert_eq!(names(&sets), ["target=5 ms, flows=4"]);
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
        assert_eq!(names(&sets), ["pie down + cake up", "pie down + codel target=5 ms up", "pie down + codel target=9 ms up"]);
        let same = |kind| vec![("link.dsl.queue", json!(kind)), ("link.dsl.queue_up", json!(kind))];
        assert_eq!(names(&[same("pie"), same("cake")]), ["pie", "cake"]);
        assert_eq!(names(&[vec![("link.dsl.queue_up", json!("cake")), ("traffic.0.flows", json!(4))]]), ["cake up, flows=4"]);
    }
}
