//! Probes: open-loop programs and arithmetic for rows that need no network, as `probe('name',
//! arguments…)` in a measure.
//!
//! A probe drives an algorithm through its own queue under arrivals that no host would send, or
//! reads a property of a scenario before it runs. Neither is among the figures of a run, so neither
//! can be picked from the results.

mod codel;
mod cp_aqm;
mod nfq_codel;
mod ns3;
mod probe;
mod steering;
mod survey;

use crate::gallery::expr::{Fault, Value};
pub use probe::Probe;
use probe::Run;

/// The probes of a paper.
fn of(paper: &str) -> &'static [Probe] {
    match paper {
        "codel" => codel::PROBES,
        "cp-aqm" => cp_aqm::PROBES,
        "nfq-codel" => nfq_codel::PROBES,
        "ns3" => ns3::PROBES,
        "steering" => steering::PROBES,
        "survey" => survey::PROBES,
        _ => &[],
    }
}

/// A paper's probe, and the numbers that it is given.
///
/// # Errors
/// When there is none of this name, or it takes other values.
pub fn checked(paper: &str, name: &str, given: &[Value]) -> Result<(&'static Probe, Vec<f64>), Fault> {
    let known = of(paper);
    let probe = known.iter().find(|probe| probe.name == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|probe| probe.name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Fault::Unknown(format!("{paper} has no probe `{name}`: allowed {names}"))
    })?;
    let number = |value: &Value| match value {
        Value::Number(number) => Ok(*number),
        other => Err(Fault::Type(format!("is given {}: expected numbers", other.kind()))),
    };
    let numbers: Vec<f64> = given.iter().map(number).collect::<Result<_, _>>()?;
    if numbers.len() != probe.arguments {
        return Err(Fault::Type(format!("`{name}` takes {} numbers, not {}", probe.arguments, numbers.len())));
    }
    Ok((probe, numbers))
}

/// The value of a paper's probe.
///
/// # Errors
/// When there is no such probe, its arguments are wrong, or it shows nothing.
pub fn call(paper: &str, name: &str, given: &[Value]) -> Result<Value, Fault> {
    let (probe, numbers) = checked(paper, name, given)?;
    Ok(match probe.run {
        Run::Number(run) => Value::Number(run(&numbers)),
        Run::Truth(run) => Value::Bool(run()),
        Run::Trial(run) => Value::Number(run(&numbers)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_arguments_are_checked() {
        let said = |paper, name, arguments: &[Value]| call(paper, name, arguments).unwrap_err().to_string();
        assert_eq!(said("steering", "other", &[]), "steering has no probe `other`: allowed wrong_raises, unfounded_raises");
        assert_eq!(said("extensions", "other", &[]), "extensions has no probe `other`: allowed none");
        assert_eq!(said("codel", "gap_error", &[]), "`gap_error` takes 1 numbers, not 0");
        let text = Value::Text("x".to_owned());
        assert_eq!(said("codel", "gap_error", &[text]), "is given a text: expected numbers");
    }
}
