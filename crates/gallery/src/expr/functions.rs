//! The functions of the language itself.

use super::eval::{Closure, Machine};
use super::{Value, lists, statistics};
use std::rc::Rc;

type Outcome = Result<Value, String>;

/// The value of a function of the language; `None` when it has none of this name.
pub(super) fn call(name: &str, arguments: &[Value], machine: &mut Machine<'_>) -> Option<Outcome> {
    Some(match name {
        "map" | "filter" | "all" | "any" => higher(name, arguments, machine),
        "each_run" => match arguments {
            [Value::Closure(closure)] => machine.each_run(closure),
            _ => Err("expected a closure, such as |run| max(values(series('e-1', 'bottleneck.queue_packets')))".to_owned()),
        },
        "min" | "max" | "mean" | "median" | "sum" | "stddev" => reduced(name, arguments),
        "abs" | "sqrt" | "ln" | "exp" | "floor" | "round" => each(arguments, unary(name)?),
        "abs_all" => each(arguments, f64::abs),
        "not" => match arguments {
            [value] => super::arithmetic::unary("!", value.clone()),
            _ => Err(takes(1, arguments)),
        },
        "pow" => match arguments {
            [Value::Number(base), Value::Number(exponent)] => finite(libm::pow(*base, *exponent)),
            _ => Err("expected two numbers".to_owned()),
        },
        "diff" | "ratio" => match arguments {
            [left, right] => super::arithmetic::binary(if name == "diff" { "-" } else { "/" }, left, right),
            _ => Err(takes(2, arguments)),
        },
        "quantile" => two(arguments, statistics::quantile),
        "spearman" | "slope" | "correlation" => paired(name, arguments),
        "inversions" => inversions(arguments),
        "autocorrelation_peak" => autocorrelation(arguments),
        _ => return lists::call(name, arguments),
    })
}

fn takes(count: usize, arguments: &[Value]) -> String {
    format!("takes {count} values, not {}", arguments.len())
}

fn finite(value: f64) -> Outcome {
    if value.is_finite() { Ok(Value::Number(value)) } else { Err("gives no finite number".to_owned()) }
}

/// The numbers of an array.
pub(super) fn numbers(value: &Value) -> Result<Vec<f64>, String> {
    match value {
        Value::Number(value) => Ok(vec![*value]),
        Value::Array(items) => {
            let number = |item: &Value| match item {
                Value::Number(value) => Ok(*value),
                other => Err(format!("the array holds {}: expected numbers", other.kind())),
            };
            items.iter().map(number).collect()
        }
        other => Err(format!("is {}: expected an array of numbers", other.kind())),
    }
}

fn unary(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "abs" => f64::abs,
        "sqrt" => f64::sqrt,
        "ln" => libm::log,
        "exp" => libm::exp,
        "floor" => f64::floor,
        "round" => f64::round,
        _ => return None,
    })
}

/// A number's function applied to a number or to each of an array.
fn each(arguments: &[Value], function: fn(f64) -> f64) -> Outcome {
    match arguments {
        [Value::Number(value)] => finite(function(*value)),
        [Value::Array(items)] => {
            let item = |item: &Value| each(std::slice::from_ref(item), function);
            Ok(Value::Array(items.iter().map(item).collect::<Result<_, _>>()?))
        }
        [other] => Err(format!("is {}: expected numbers", other.kind())),
        _ => Err(takes(1, arguments)),
    }
}

/// Of one array, or of numbers written one by one.
fn reduced(name: &str, arguments: &[Value]) -> Outcome {
    let values = match arguments {
        [only] => numbers(only)?,
        several => {
            let lists: Vec<Vec<f64>> = several.iter().map(numbers).collect::<Result<_, _>>()?;
            lists.concat()
        }
    };
    if name == "sum" {
        return finite(values.iter().sum());
    }
    if values.is_empty() {
        return Err("of no values".to_owned());
    }
    finite(match name {
        "min" => values.iter().copied().fold(f64::INFINITY, f64::min),
        "max" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "mean" => statistics::mean(&values),
        "stddev" => statistics::deviation(&values)?,
        _ => statistics::quantile(&values, 0.5)?,
    })
}

fn two(arguments: &[Value], function: fn(&[f64], f64) -> Result<f64, String>) -> Outcome {
    match arguments {
        [list, Value::Number(number)] => finite(function(&numbers(list)?, *number)?),
        _ => Err("expected an array and a number".to_owned()),
    }
}

fn paired(name: &str, arguments: &[Value]) -> Outcome {
    let [x, y] = arguments else { return Err(takes(2, arguments)) };
    let (x, y) = (numbers(x)?, numbers(y)?);
    if x.len() != y.len() || x.len() < 2 {
        return Err(format!("of {} and {} values: expected two or more, equally many", x.len(), y.len()));
    }
    finite(match name {
        "spearman" => statistics::spearman(&x, &y)?,
        "slope" => statistics::slope(&x, &y)?,
        _ => statistics::correlation(&x, &y)?,
    })
}

/// How many neighbours go the wrong way by more than `slack`.
fn inversions(arguments: &[Value]) -> Outcome {
    let [list, Value::Number(slack), Value::Text(direction)] = arguments else {
        return Err("expected an array, a slack and 'up' or 'down'".to_owned());
    };
    let sign = match direction.as_str() {
        "up" => 1.0,
        "down" => -1.0,
        other => return Err(format!("`{other}` is no direction: allowed 'up', 'down'")),
    };
    let values = numbers(list)?;
    let wrong = values.windows(2).filter(|pair| (pair[0] - pair[1]) * sign > *slack).count();
    Ok(Value::Number(wrong as f64))
}

fn autocorrelation(arguments: &[Value]) -> Outcome {
    let [series, Value::Number(from), Value::Number(to), Value::Number(most)] = arguments else {
        return Err("expected a series, two times and the longest lag".to_owned());
    };
    let (times, values) = lists::split(&lists::between(series, *from, *to)?)?;
    finite(statistics::autocorrelation_peak(&times, &values, *most)?)
}

fn higher(name: &str, arguments: &[Value], machine: &mut Machine<'_>) -> Outcome {
    let (lists, closure): (&[Value], Option<&Rc<Closure>>) = match arguments {
        [lists @ .., Value::Closure(closure)] => (lists, Some(closure)),
        lists => (lists, None),
    };
    let items: Vec<&Vec<Value>> = lists
        .iter()
        .map(|list| match list {
            Value::Array(items) => Ok(items),
            other => Err(format!("is {}: expected an array", other.kind())),
        })
        .collect::<Result<_, _>>()?;
    let Some(first) = items.first() else { return Err("expected an array".to_owned()) };
    if items.iter().any(|list| list.len() != first.len()) {
        return Err("the arrays are not equally long".to_owned());
    }
    let mut results = Vec::with_capacity(first.len());
    for at in 0..first.len() {
        let row: Vec<Value> = items.iter().map(|list| list[at].clone()).collect();
        results.push(match (closure, name) {
            (Some(closure), _) => machine.apply(closure, row)?,
            (None, "all" | "any") => first[at].clone(),
            (None, _) => return Err("expected a closure last, such as |x| x * 2".to_owned()),
        });
    }
    match name {
        "map" => Ok(Value::Array(results)),
        "filter" => {
            let kept = truths(&results)?;
            Ok(Value::Array(first.iter().zip(kept).filter(|(_, keep)| *keep).map(|(item, _)| item.clone()).collect()))
        }
        // Of nothing, all is true: a filter that fits no point would make a row hold that says nothing.
        _ if results.is_empty() => Err("of no values".to_owned()),
        "all" => Ok(Value::Bool(truths(&results)?.into_iter().all(|truth| truth))),
        _ => Ok(Value::Bool(truths(&results)?.into_iter().any(|truth| truth))),
    }
}

/// True or false of each, where an element that is an array stands for all of its own.
fn truths(values: &[Value]) -> Result<Vec<bool>, String> {
    let truth = |value: &Value| match value {
        Value::Bool(value) => Ok(*value),
        Value::Array(inner) if !inner.is_empty() => Ok(truths(inner)?.into_iter().all(|truth| truth)),
        other => Err(format!("{} where true or false is needed", other.kind())),
    };
    values.iter().map(truth).collect()
}
