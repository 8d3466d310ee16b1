//! Functions of measures: their names, and those that need nothing but their arguments.

use super::signatures::unfit;
use super::{Array, Fault, Value, lists, statistics};
use rhai::EvalAltResult;

type Outcome = Result<Value, Fault>;

/// The value of a function without a closure; `None` when it is not one of these.
pub(super) fn call(name: &str, arguments: &[Value]) -> Option<Outcome> {
    Some(match name {
        "min" | "max" | "mean" | "median" | "sum" | "stddev" => reduced(name, arguments),
        "abs" => each(arguments, f64::abs),
        "ln" => each(arguments, libm::log),
        "round" => each(arguments, f64::round),
        "quantile" => match arguments {
            [list, Value::Number(number)] => numbers(list).and_then(|list| finite(statistics::quantile(&list, *number)?)),
            _ => Err(unfit(name, arguments)),
        },
        "spearman" | "slope" => paired(name, arguments),
        "inversions" => inversions(arguments),
        "autocorrelation_peak" => autocorrelation(arguments),
        "all" => match arguments {
            [Value::Array(items)] => every(items),
            _ => Err(unfit(name, arguments)),
        },
        "map" | "filter" | "each_run" => Err(unfit(name, arguments)),
        _ => return lists::call(name, arguments),
    })
}

/// Whether a function gives one number, whatever it is given.
pub(super) fn gives_number(name: &str) -> bool {
    matches!(name, "min" | "max" | "mean" | "median" | "sum" | "stddev" | "count" | "inversions")
        || matches!(name, "quantile" | "spearman" | "slope" | "autocorrelation_peak")
}

fn finite(value: f64) -> Outcome {
    if value.is_finite() { Ok(Value::Number(value)) } else { Err(Fault::NoValue("gives no finite number".to_owned())) }
}

/// The numbers of a list.
pub(super) fn numbers(value: &Value) -> Result<Vec<f64>, Fault> {
    match value {
        Value::Number(value) => Ok(vec![*value]),
        Value::Array(items) => {
            let number = |item: &Value| match item {
                Value::Number(value) => Ok(*value),
                other => Err(Fault::Type(format!("the list holds {}: expected numbers", other.kind()))),
            };
            items.iter().map(number).collect()
        }
        other => Err(Fault::Type(format!("is {}: expected a list of numbers", other.kind()))),
    }
}

/// A number's function applied to a number or to each of a list.
fn each(arguments: &[Value], function: fn(f64) -> f64) -> Outcome {
    match arguments {
        [Value::Number(value)] => finite(function(*value)),
        [Value::Array(items)] => {
            let item = |item: &Value| each(std::slice::from_ref(item), function);
            Ok(Value::Array(items.iter().map(item).collect::<Result<_, _>>()?))
        }
        [other] => Err(Fault::Type(format!("is {}: expected numbers", other.kind()))),
        _ => Err(Fault::Type(format!("takes 1 value, not {}", arguments.len()))),
    }
}

/// A statistic of one list, or of numbers written one by one.
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
        return Err(lists::of_no_values());
    }
    finite(match name {
        "min" => values.iter().copied().fold(f64::INFINITY, f64::min),
        "max" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "mean" => statistics::mean(&values),
        "stddev" => statistics::deviation(&values)?,
        _ => statistics::quantile(&values, 0.5)?,
    })
}

fn paired(name: &str, arguments: &[Value]) -> Outcome {
    let [x, y] = arguments else { return Err(Fault::Type(format!("takes 2 values, not {}", arguments.len()))) };
    let (x, y) = (numbers(x)?, numbers(y)?);
    if x.len() != y.len() || x.len() < 2 {
        let message = format!("of {} and {} values: expected two or more, equally many", x.len(), y.len());
        return Err(Fault::NoValue(message));
    }
    finite(if name == "spearman" { statistics::spearman(&x, &y)? } else { statistics::slope(&x, &y)? })
}

/// Number of neighbors that go the wrong way by more than a slack.
fn inversions(arguments: &[Value]) -> Outcome {
    let [list, Value::Number(slack), Value::Text(direction)] = arguments else {
        return Err(unfit("inversions", arguments));
    };
    let sign = match direction.as_str() {
        "up" => 1.0,
        "down" => -1.0,
        other => return Err(Fault::Type(format!("`{other}` is no direction: allowed `up`, `down`"))),
    };
    let values = numbers(list)?;
    let wrong = values.windows(2).filter(|pair| (pair[0] - pair[1]) * sign > *slack).count();
    Ok(Value::Number(wrong as f64))
}

fn autocorrelation(arguments: &[Value]) -> Outcome {
    let [series, Value::Number(from), Value::Number(to), Value::Number(most)] = arguments else {
        return Err(unfit("autocorrelation_peak", arguments));
    };
    let (times, values) = lists::split(&lists::between(series, *from, *to)?)?;
    finite(statistics::autocorrelation_peak(&times, &values, *most)?)
}

/// The value of a closure for its arguments.
type Apply<'a> = &'a mut dyn FnMut(Vec<Value>) -> Result<Value, Box<EvalAltResult>>;

/// The value of `map`, `filter` or `all` with a closure. A dry run keeps all that it filters, since
/// what is measured decides.
pub(super) fn higher(name: &str, lists: &[Value], is_dry: bool, apply: Apply<'_>) -> Result<Value, Box<EvalAltResult>> {
    let named = |fault: Fault| fault.within(name);
    let lists = equally_long(name, lists).map_err(named)?;
    let mut results = Vec::with_capacity(lists[0].len());
    for at in 0..lists[0].len() {
        results.push(apply(lists.iter().map(|list| list[at].clone()).collect())?);
    }
    if name == "map" {
        return Ok(Value::array(results));
    }
    if name == "all" {
        return Ok(every(&results).map_err(named)?);
    }
    let kept: Vec<bool> = results.iter().map(truth).collect::<Result<_, _>>().map_err(named)?;
    let kept = lists[0].iter().zip(kept).filter(|(_, keep)| *keep || is_dry);
    Ok(Value::array(kept.map(|(item, _)| item.clone())))
}

/// The lists whose elements a closure takes; at least one.
fn equally_long<'a>(name: &str, given: &'a [Value]) -> Result<Vec<&'a Array>, Fault> {
    if !["map", "filter", "all"].contains(&name) {
        return Err(Fault::Type("takes no closure".to_owned()));
    }
    let list = |value: &'a Value| if let Value::Array(items) = value { Some(items) } else { None };
    let lists: Vec<&Array> = given.iter().map(list).collect::<Option<_>>().ok_or_else(|| unfit(name, given))?;
    if lists.is_empty() || (name == "filter" && lists.len() > 1) {
        return Err(unfit(name, given));
    }
    if lists.iter().any(|list| list.len() != lists[0].len()) {
        return Err(Fault::NoValue("the lists are not equally long".to_owned()));
    }
    Ok(lists)
}

/// Whether all are true. Of nothing that is no answer: a filter that fits no point would make a row
/// hold that says nothing.
fn every(values: &[Value]) -> Outcome {
    if values.is_empty() {
        return Err(lists::of_no_values());
    }
    let truths: Vec<bool> = values.iter().map(truth).collect::<Result<_, _>>()?;
    Ok(Value::Bool(truths.into_iter().all(|truth| truth)))
}

/// True or false; a list is true when all in it is.
fn truth(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Array(inner) if !inner.is_empty() => {
            let inner: Vec<bool> = inner.iter().map(truth).collect::<Result<_, _>>()?;
            Ok(inner.into_iter().all(|truth| truth))
        }
        other => Err(Fault::Type(format!("{} where true or false is needed", other.kind()))),
    }
}
