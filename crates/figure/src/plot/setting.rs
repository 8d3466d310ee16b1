//! Swept settings that are no queues, with their values as numbers where they are some.

use crate::plot::{Source, distinct};
use goodqueue_lab::quantity;
use goodqueue_lab::results::metrics::{Quantity, unit_that_suits};
use goodqueue_lab::results::statistics::Figure;
use serde_json::Value;

/// A swept setting and its value at each point of the result.
pub(crate) struct Setting {
    /// The key of the setting in the scenario.
    pub(crate) key: String,
    /// The title of the setting at an axis.
    pub(crate) label: String,
    pub(crate) unit: String,
    /// In the unit; places in `names` where the values are no numbers.
    pub(crate) values: Vec<f64>,
    pub(crate) names: Option<Vec<String>>,
}

/// A number with what it measures, in SI units.
#[derive(Clone, PartialEq)]
struct Magnitude {
    value: f64,
    quantity: Quantity,
    /// The unit of a value that is no quantity of ours, such as a product of bandwidth and delay.
    unit: String,
}

impl Setting {
    /// The first setting with at least two values, one of numbers if there is one.
    pub(crate) fn swept(source: &dyn Source) -> Option<Self> {
        let points = source.points();
        let all = points.iter().flat_map(|point| &point.set).map(|(key, _)| key.as_str());
        let keys = distinct(all.filter(|key| !is_queue(key)));
        let mut settings: Vec<Self> = keys.into_iter().filter_map(|key| Self::of(source, key)).collect();
        let place = settings.iter().position(|setting| setting.names.is_none()).unwrap_or(0);
        (!settings.is_empty()).then(|| settings.swap_remove(place))
    }

    fn of(source: &dyn Source, key: &str) -> Option<Self> {
        let values: Option<Vec<&Value>> = source.points().iter().map(|point| value_of(&point.set, key)).collect();
        let values = values?;
        let distinct = distinct(values.iter().copied());
        if distinct.len() < 2 {
            return None;
        }
        let words = last(key).replace('_', " ");
        // Three letters are an abbreviation: RTT, ECN, CC.
        let (first, rest) = words.split_at_checked(if words.len() <= 3 { words.len() } else { 1 }).unwrap_or(("", &words));
        let label = first.to_uppercase() + rest;
        let setting = Self { key: key.to_owned(), label, unit: String::new(), values: Vec::new(), names: None };
        let numbers: Option<Vec<Magnitude>> = values.iter().map(|value| magnitude(value)).collect();
        let is_one = |all: &Vec<Magnitude>| all.iter().all(|one| (one.quantity, &one.unit) == (all[0].quantity, &all[0].unit));
        if let Some(numbers) = numbers.filter(is_one) {
            let figures = numbers.iter().map(|one| Figure { mean: Some(one.value), ci95: None, n: 1 }).collect::<Vec<_>>();
            let (unit, factor) = unit_that_suits(numbers[0].quantity, &figures);
            let unit = if unit == "1" { numbers[0].unit.clone() } else { unit.to_owned() };
            return Some(Self { unit, values: numbers.iter().map(|one| one.value * factor).collect(), ..setting });
        }
        let place = |value: &&Value| distinct.iter().position(|other| other == value).unwrap_or(0) as f64;
        let values: Vec<f64> = values.iter().map(place).collect();
        let name = |at: usize| {
            let point = values.iter().position(|value| *value == at as f64)?;
            let split = &source.labels().splits[point];
            let parts = split.setting.split(", ").chain(split.choices.iter().map(|(_, name)| name.as_str()));
            parts
                .filter_map(|part| part.split_once('='))
                .find(|(name, _)| *name == key || *name == last(key))
                .map(|(_, value)| value)
        };
        let names = (0..distinct.len()).map(|at| name(at).map_or_else(|| distinct[at].to_string(), str::to_owned)).collect();
        Some(Self { names: Some(names), values, ..setting })
    }
}

/// Whether a key sets a queue, and not a parameter of it.
pub(crate) fn is_queue(key: &str) -> bool {
    key.ends_with(".queue") || key.ends_with(".queue_up")
}

/// The last part of a key.
pub(crate) fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn value_of<'a>(set: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    set.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// A number, or one with its unit as scenarios have them.
fn magnitude(value: &Value) -> Option<Magnitude> {
    let of = |value: f64, quantity| Some(Magnitude { value, quantity, unit: String::new() });
    let text = match value {
        Value::Number(number) => return of(number.as_f64()?, Quantity::Number),
        Value::String(text) => text,
        _ => return None,
    };
    if let Ok(time) = quantity::duration(text) {
        return of(time.as_secs_f64(), Quantity::Time);
    }
    if let Ok(rate) = quantity::rate(text) {
        return of(rate.as_bit_s() as f64, Quantity::Rate);
    }
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some(Magnitude { value: number.parse().ok()?, quantity: Quantity::Number, unit: unit.trim().to_owned() })
}
