//! Functions on arrays and on series, which are arrays of `[time_s, value]`.

use super::Value;
use super::functions::numbers;

type Outcome = Result<Value, String>;

pub(super) fn call(name: &str, arguments: &[Value]) -> Option<Outcome> {
    Some(match (name, arguments) {
        ("count" | "len", [Value::Array(items)]) => {
            // Of booleans, those that are true.
            let truths = items.iter().filter(|item| matches!(item, Value::Bool(true))).count();
            let booleans = name == "count" && !items.is_empty() && items.iter().all(|item| matches!(item, Value::Bool(_)));
            Ok(Value::Number(if booleans { truths } else { items.len() } as f64))
        }
        ("first", [Value::Array(items)]) => items.first().cloned().ok_or_else(|| "of no values".to_owned()),
        ("last", [Value::Array(items)]) => items.last().cloned().ok_or_else(|| "of no values".to_owned()),
        ("sort", [list]) => sorted(list),
        ("range", [Value::Number(count)]) => range(*count),
        ("concat", lists) => concat(lists),
        ("zip", [Value::Array(left), Value::Array(right)]) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).map(|(left, right)| Value::Array(vec![left.clone(), right.clone()]));
            Ok(Value::Array(pairs.collect()))
        }
        ("between", [series, Value::Number(from), Value::Number(to)]) => between(series, *from, *to),
        ("values", [series]) => split(series).map(|(_, values)| Value::numbers(values)),
        ("times", [series]) => split(series).map(|(times, _)| Value::numbers(times)),
        ("count" | "len" | "first" | "last" | "sort" | "range" | "zip" | "between" | "values" | "times", _) => {
            Err("does not take these values".to_owned())
        }
        _ => return None,
    })
}

fn sorted(list: &Value) -> Outcome {
    let mut values = numbers(list)?;
    values.sort_by(f64::total_cmp);
    Ok(Value::numbers(values))
}

const LONGEST_RANGE: f64 = 100_000.0;

fn range(count: f64) -> Outcome {
    if count.fract() != 0.0 || !(0.0..=LONGEST_RANGE).contains(&count) {
        return Err(format!("{count} is out of range: allowed whole numbers up to {LONGEST_RANGE}"));
    }
    Ok(Value::numbers((0..count as u32).map(f64::from)))
}

fn concat(lists: &[Value]) -> Outcome {
    let mut all = Vec::new();
    for list in lists {
        match list {
            Value::Array(items) => all.extend(items.iter().cloned()),
            other => all.push(other.clone()),
        }
    }
    Ok(Value::Array(all))
}

/// The samples from `from` up to `to`, the latter excluded.
pub(super) fn between(series: &Value, from: f64, to: f64) -> Outcome {
    let Value::Array(samples) = series else { return Err(format!("is {}: expected a series", series.kind())) };
    let mut kept = Vec::new();
    for sample in samples {
        let (time, _) = pair(sample)?;
        if time >= from && time < to {
            kept.push(sample.clone());
        }
    }
    Ok(Value::Array(kept))
}

/// Times and values of a series.
pub(super) fn split(series: &Value) -> Result<(Vec<f64>, Vec<f64>), String> {
    let Value::Array(samples) = series else { return Err(format!("is {}: expected a series", series.kind())) };
    Ok(samples.iter().map(pair).collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
}

fn pair(sample: &Value) -> Result<(f64, f64), String> {
    match sample {
        Value::Array(pair) => match pair.as_slice() {
            [Value::Number(time), Value::Number(value)] => Ok((*time, *value)),
            _ => Err("holds what is no sample: expected [time, value]".to_owned()),
        },
        other => Err(format!("holds {}: expected [time, value]", other.kind())),
    }
}
