//! Functions on lists and on series, which are lists of `[time_s, value]`.

use super::signatures::unfit;
use super::{Fault, Value};

type Outcome = Result<Value, Fault>;

pub(super) fn call(name: &str, arguments: &[Value]) -> Option<Outcome> {
    Some(match (name, arguments) {
        ("count", [Value::Array(items)]) => {
            // Of truth values, those that are true.
            let truths = items.iter().filter(|item| matches!(item, Value::Bool(true))).count();
            let all_truths = !items.is_empty() && items.iter().all(|item| matches!(item, Value::Bool(_)));
            Ok(Value::Number(if all_truths { truths } else { items.len() } as f64))
        }
        ("first", [Value::Array(items)]) => items.first().cloned().ok_or_else(of_no_values),
        ("last", [Value::Array(items)]) => items.last().cloned().ok_or_else(of_no_values),
        ("range", [Value::Number(count)]) => range(*count),
        ("concat", lists) => concat(lists),
        ("zip", [Value::Array(left), Value::Array(right)]) => {
            if left.len() != right.len() {
                let message = format!("of {} and {} values: expected equally many", left.len(), right.len());
                return Some(Err(Fault::NoValue(message)));
            }
            let pairs = left.iter().zip(right.iter()).map(|(left, right)| Value::array([left.clone(), right.clone()]));
            Ok(Value::array(pairs))
        }
        ("between", [series, Value::Number(from), Value::Number(to)]) => between(series, *from, *to),
        ("values", [series]) => split(series).map(|(_, values)| Value::numbers(values)),
        ("times", [series]) => split(series).map(|(times, _)| Value::numbers(times)),
        ("count" | "first" | "last" | "range" | "zip" | "between" | "values" | "times", _) => Err(unfit(name, arguments)),
        _ => return None,
    })
}

pub(super) fn of_no_values() -> Fault {
    Fault::NoValue("of no values".to_owned())
}

const MAX_RANGE: f64 = 100_000.0;

fn range(count: f64) -> Outcome {
    if count.fract() != 0.0 || !(0.0..=MAX_RANGE).contains(&count) {
        let message = format!("{count} is out of range: allowed whole numbers up to {MAX_RANGE}");
        return Err(Fault::Type(message));
    }
    Ok(Value::numbers((0..count as u32).map(f64::from)))
}

fn concat(lists: &[Value]) -> Outcome {
    let mut all = Vec::new();
    for list in lists {
        match list {
            Value::Array(items) => all.extend(items.iter().cloned()),
            other => return Err(Fault::Type(format!("is {}: expected a list", other.kind()))),
        }
    }
    Ok(Value::array(all))
}

/// The samples from `from` up to `to`, the latter excluded.
pub(super) fn between(series: &Value, from: f64, to: f64) -> Outcome {
    let mut kept = Vec::new();
    for sample in samples(series)? {
        let (time, _) = pair(sample)?;
        if time >= from && time < to {
            kept.push(sample.clone());
        }
    }
    Ok(Value::array(kept))
}

/// Times and values of a series.
pub(super) fn split(series: &Value) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    Ok(samples(series)?.iter().map(pair).collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
}

fn samples(series: &Value) -> Result<&[Value], Fault> {
    match series {
        Value::Array(samples) => Ok(samples),
        other => Err(Fault::Type(format!("is {}: expected a series", other.kind()))),
    }
}

fn pair(sample: &Value) -> Result<(f64, f64), Fault> {
    match sample {
        Value::Array(pair) => match pair[..] {
            [Value::Number(time), Value::Number(value)] => Ok((time, value)),
            _ => Err(Fault::Type("holds what is no sample: expected [time, value]".to_owned())),
        },
        other => Err(Fault::Type(format!("holds {}: expected [time, value]", other.kind()))),
    }
}
