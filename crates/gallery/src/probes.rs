//! Open-loop programs and arithmetic for rows that need no network: `probe("name", arguments…)` in a measure. One module a paper.

mod codel;
mod cp_aqm;
mod nfq_codel;
mod steering;
mod survey;

use crate::expr::Value;

type Outcome = Result<Value, String>;

/// The value of a paper's probe.
///
/// # Errors
/// When there is no such probe, or its arguments are wrong.
pub fn call(paper: &str, name: &str, arguments: &[Value]) -> Outcome {
    let found = match paper {
        "codel" => codel::call(name, arguments),
        "cp-aqm" => cp_aqm::call(name, arguments),
        "nfq-codel" => nfq_codel::call(name, arguments),
        "steering" => steering::call(name, arguments),
        "survey" => survey::call(name, arguments),
        _ => None,
    };
    found.unwrap_or_else(|| Err(format!("{paper} has no probe `{name}`")))
}

/// The arguments of a probe as so many numbers.
fn numbers<const N: usize>(arguments: &[Value]) -> Result<[f64; N], String> {
    let number = |value: &Value| match value {
        Value::Number(number) => Ok(*number),
        other => Err(format!("is given {}: expected numbers", other.kind())),
    };
    let values: Vec<f64> = arguments.iter().map(number).collect::<Result<_, String>>()?;
    values.try_into().map_err(|values: Vec<f64>| format!("takes {N} numbers, not {}", values.len()))
}
